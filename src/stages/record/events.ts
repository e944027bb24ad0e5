import type { SpillwayEvent } from "../../contract/event.ts";
import type { Limits } from "../../contract/limits.ts";
import type { Receipt } from "../../contract/receipt.ts";

/** What no well-known secret fits into: names of most tools, answers of one word. */
const PLAIN_WORD = /^[\w.]{0,19}$/;
const MAX_DEPTH = 16;

/** Returns true if a text could hold a secret. With rules of one's own (`anyText`) every text could. */
export function mayHoldSecret(text: string, anyText: boolean): boolean {
  return text !== "" && (anyText || !PLAIN_WORD.test(text));
}

/** Returns true if an event has a text that could hold a secret. Sessions, calls and ids are keys and stay as they are. */
export function eventMayHoldSecret(event: SpillwayEvent, may: (text: string) => boolean): boolean {
  const { tool, receipt, more } = event;
  return may(tool ?? "") || may(receipt?.tool ?? "") || someText([receipt?.faults, more], may, 0);
}

function someText(value: unknown, may: (text: string) => boolean, depth: number): boolean {
  if (typeof value === "string") return may(value);
  if (typeof value !== "object" || value === null) return false;
  if (depth > MAX_DEPTH) return true;
  if (Array.isArray(value)) return value.some((item) => someText(item, may, depth + 1));
  return Object.entries(value).some(([key, item]) => may(key) || someText(item, may, depth + 1));
}

/** The event with its tool's name, its faults and its own words redacted. */
export function redactEvent(event: SpillwayEvent, redact: (text: string) => string): SpillwayEvent {
  const { tool, receipt, more } = event;
  return {
    ...event,
    tool: tool === null ? null : redact(tool),
    receipt: receipt && {
      ...receipt,
      tool: redact(receipt.tool),
      ...(receipt.faults && { faults: receipt.faults.map(redact) }),
    },
    more: more && (withTexts(more, redact, 0) as Record<string, unknown>),
  };
}

/** A copy with every text passed through `change`; what lies deeper than anything of ours is left out. */
function withTexts(value: unknown, change: (text: string) => string, depth: number): unknown {
  if (typeof value === "string") return change(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth >= MAX_DEPTH) return null;
  if (Array.isArray(value)) return value.map((item) => withTexts(item, change, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [change(key), withTexts(item, change, depth + 1)]),
  );
}

/** Returns true if part of the output is not shown. */
export function isCut({ omitted, folded }: Receipt): boolean {
  return omitted.bytes > 0 || folded.bytes > 0;
}

/** What a receipt has to say to a ledger: that an output passed or was clamped, was kept, or could not be. */
export function receiptEvents(receipt: Receipt, atMs: number, more: SpillwayEvent["more"] = null): SpillwayEvent[] {
  const { session, tool, call, artifact, saved, savedBytes, faults } = receipt;
  const about = { atMs, session, tool, call, artifact, receipt: null, more: null };
  const kind = isCut(receipt) ? "output-clamped" : "output-passed";
  const events: SpillwayEvent[] = [{ ...about, kind, receipt, more }];
  if (artifact !== null) events.push({ ...about, kind: "artifact-spilled", more: { saved, savedBytes } });
  const failed = faults?.filter((fault) => fault.startsWith("spill failed")) ?? [];
  if (failed.length > 0) events.push({ ...about, kind: "spill-failed", more: { faults: failed } });
  return events;
}

const USUAL_BYTES_PER_TOKEN = 4;

/**
 * How many tokens of an output the host would have shown if it had cut it to limits of its own. It is estimated by the tokens
 * per byte of what was shown.
 */
export function hostTokens({ total, shown }: Receipt, totalChars: number, host: Limits): number {
  const { maxBytes, maxChars, maxLines, maxTokens } = host;
  const part = (limit: number | undefined, whole: number) => (limit === undefined || whole === 0 ? 1 : limit / whole);
  const share = Math.min(1, part(maxBytes, total.bytes), part(maxChars, totalChars), part(maxLines, total.lines));
  const perByte = shown.bytes === 0 ? 1 / USUAL_BYTES_PER_TOKEN : shown.tokens / shown.bytes;
  return Math.min(Math.round(total.bytes * perByte * share), maxTokens ?? Number.POSITIVE_INFINITY);
}

/** Told in a program's own log what was cut, and what went wrong that an agent was spared. What it throws is ignored. */
export interface Logger {
  info(message: string, fields: CutFields): unknown;
  warn(message: string, fields: CutFields | FaultFields): unknown;
}

/** What went wrong. */
export interface FaultFields {
  fault: string;
}

/** How much was cut of a tool's output; chars are UTF-16 units. */
export interface CutFields {
  tool: string;
  beforeChars: number;
  afterChars: number;
  /** To one decimal. */
  reducedPercent: number;
}

/** Logs a cut: "info" where a tool's output comes in, "warn" where a message had to be shortened afterwards. */
export function logCut(
  logger: Logger | undefined,
  level: "info" | "warn",
  { tool, beforeChars, afterChars }: Omit<CutFields, "reducedPercent">,
): void {
  if (logger === undefined || afterChars >= beforeChars) return;
  const reducedPercent = Math.round((1 - afterChars / beforeChars) * 1000) / 10;
  const message = `${tool} output cut: ${beforeChars} -> ${afterChars} chars (${reducedPercent.toFixed(1)} % less)`;
  void (async () => logger[level](message, { tool, beforeChars, afterChars, reducedPercent }))().catch(() => {});
}

/** Logs a fault that nobody else is told of. */
export function logFault(logger: Logger | undefined, fault: string): void {
  void (async () => logger?.warn(fault, { fault }))().catch(() => {});
}
