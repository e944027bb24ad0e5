import type { SpillwayEvent } from "../../contract/event.ts";

/** What no well-known secret fits into: names of most tools, answers of one word. */
const PLAIN_WORD = /^[\w.]{0,19}$/;
const MAX_DEPTH = 16;

/** True if a text could hold a secret. With rules of one's own (`anyText`) every text could. */
export function mayHoldSecret(text: string, anyText: boolean): boolean {
  return text !== "" && (anyText || !PLAIN_WORD.test(text));
}

/** True if an event has a text that could hold a secret. Sessions, calls and ids are keys and stay as they are. */
export function eventMayHoldSecret({ tool, receipt, more }: SpillwayEvent, anyText: boolean): boolean {
  let may = false;
  const look = (text: string) => {
    may ||= mayHoldSecret(text, anyText);
    return text;
  };
  look(tool ?? "");
  look(receipt?.tool ?? "");
  receipt?.faults?.forEach(look);
  if (more !== null) withTexts(more, look, 0);
  return may;
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
