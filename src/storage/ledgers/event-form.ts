import type { EventKind, RecordedEvent, SpillwayEvent } from "../../contract/event.ts";
import type { Totals } from "../../contract/ledger.ts";
import type { Receipt } from "../../contract/receipt.ts";
import { NUMBERS } from "../../stages/policy/defaults.ts";
import { jsonOf } from "../../values.ts";
import { storedName } from "../stored-name.ts";

/** The form in which every ledger keeps an event. It is bounded, and it is read from the caller's object only once. */
export interface EventForm {
  kind: string;
  atMs: number;
  session: string | null;
  tool: string | null;
  call: string | null;
  artifact: string | null;
  /** The receipt and `more` are JSON. */
  receipt: string | null;
  more: string | null;
  sums: Totals;
  /** False for what a person read: it does not show that the agent is at work. */
  usesSession: boolean;
}

const LISTED = 100;
const FAULT_CHARS = 400;
const encoder = new TextEncoder();

/** Returns the form in which an event is kept. Leaves out values that JSON cannot hold (circles, bigints). */
export function eventForm(event: SpillwayEvent): EventForm {
  const { receipt } = event;
  return {
    kind: storedName(event.kind) ?? "unknown",
    atMs: Number.isSafeInteger(event.atMs) ? event.atMs : Math.trunc(Date.now()),
    session: storedName(event.session ?? receipt?.session),
    tool: storedName(event.tool ?? receipt?.tool),
    call: storedName(event.call ?? receipt?.call),
    artifact: storedName(event.artifact ?? receipt?.artifact),
    receipt: receipt === null ? null : receiptJson(receipt),
    more: event.more === null ? null : moreJson(event.more),
    sums: eventSums(event),
    usesSession: !isPersonsRead(event),
  };
}

/** Turns a kept event back into the form that callers get. */
export function readEventForm(id: number, form: Omit<EventForm, "sums" | "usesSession">): RecordedEvent {
  const { kind, atMs, session, tool, call, artifact } = form;
  const receipt = form.receipt === null ? null : (JSON.parse(form.receipt) as Receipt);
  const more = form.more === null ? null : (JSON.parse(form.more) as Record<string, unknown>);
  return { id, kind: kind as EventKind, atMs, session, tool, call, artifact, receipt, more };
}

/** Returns the event as one line of JSON, without a line break. */
export function eventLine(event: SpillwayEvent): string {
  const { sums: _sums, usesSession: _uses, receipt, more, ...about } = eventForm(event);
  const start = JSON.stringify(about).slice(0, -1);
  return `${start},"receipt":${receipt ?? "null"},"more":${more ?? "null"}}`;
}

function receiptJson(receipt: Receipt): string | null {
  const { tool, session, call } = receipt;
  const named = { ...receipt, tool: storedName(tool) ?? "", session: storedName(session), call: storedName(call) };
  const json = jsonOf(named);
  if (json === null || fits(json, NUMBERS.eventReceiptBytes.default)) return json;
  const { cuts, artifacts, faults } = receipt;
  const shortened = jsonOf({
    ...named,
    cuts: cuts.slice(0, LISTED),
    moreCuts: receipt.moreCuts + Math.max(0, cuts.length - LISTED),
    ...(artifacts && { artifacts: artifacts.slice(0, LISTED) }),
    ...(faults && { faults: faults.slice(0, LISTED).map((fault) => fault.slice(0, FAULT_CHARS).toWellFormed()) }),
  });
  return shortened !== null && fits(shortened, NUMBERS.eventReceiptBytes.default) ? shortened : null;
}

/** Keeps entries while they fit into the limit, and counts those that do not. */
function moreJson(more: Record<string, unknown>): string {
  const maxBytes = NUMBERS.eventMoreBytes.default;
  const whole = jsonOf(more);
  if (whole !== null && fits(whole, maxBytes)) return whole;
  const kept: string[] = [];
  const countRoom = encoder.encode('"omittedEntries":9999999999,{}').length;
  let bytes = countRoom;
  let omitted = 0;
  for (const [name, value] of Object.entries(more)) {
    const json = jsonOf(value);
    const entry = json === null ? null : `${JSON.stringify(name)}:${json}`;
    const entryBytes = entry === null ? Infinity : encoder.encode(entry).length + 1;
    if (entry === null || bytes + entryBytes > maxBytes) {
      omitted += 1;
    } else {
      bytes += entryBytes;
      kept.push(entry);
    }
  }
  return `{${[...kept, `"omittedEntries":${omitted}`].join()}}`;
}

function fits(json: string, maxBytes: number): boolean {
  return json.length <= maxBytes && (json.length * 3 <= maxBytes || encoder.encode(json).length <= maxBytes);
}

const HOUR_MS = 3_600_000;

/** Returns the start of the hour that contains the time. */
export function hourOf(atMs: number): number {
  return Math.floor(atMs / HOUR_MS) * HOUR_MS;
}

/** Returns how many rows a query may give: `max`, held between the floor and the ceiling. */
export function pageSize(max: number = NUMBERS.ledgerPage.default): number {
  const { default: usual, floor, ceiling } = NUMBERS.ledgerPage;
  return Number.isNaN(max) ? usual : Math.max(floor, Math.min(Math.trunc(max), ceiling));
}

/** The sums of no events: every field is 0. */
export const NO_TOTALS: Readonly<Totals> = {
  calls: 0,
  cutCalls: 0,
  bytesIn: 0,
  bytesShown: 0,
  tokensShown: 0,
  tokensIn: 0,
  recalls: 0,
  recalledBytes: 0,
  recalledTokens: 0,
  requests: 0,
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  refusals: 0,
  recoveries: 0,
};

const CALLS = new Set(["output-clamped", "output-passed"]);
// A search puts text into the model's context, as a recall does. What a person reads does not.
const RECALLS = new Set(["artifact-recalled", "artifact-searched"]);
const USUAL_BYTES_PER_TOKEN = 4;

function isPersonsRead({ kind, more }: SpillwayEvent): boolean {
  return RECALLS.has(kind) && more?.["reads"] === "person";
}

function eventSums(event: SpillwayEvent): Totals {
  const { kind, receipt, more } = event;
  // What recovery cut once more counts where it came in.
  if (CALLS.has(kind) && more?.["isRecut"] === true) return NO_TOTALS;
  if (CALLS.has(kind)) {
    return {
      ...NO_TOTALS,
      calls: 1,
      cutCalls: (receipt?.omitted.bytes ?? 0) > 0 ? 1 : 0,
      bytesIn: whole(receipt?.total.bytes),
      bytesShown: whole(receipt?.shown.bytes),
      tokensShown: whole(receipt?.shown.tokens),
      tokensIn: tokensWithoutUs(receipt, more),
    };
  }
  if (RECALLS.has(kind) && !isPersonsRead(event)) {
    return {
      ...NO_TOTALS,
      recalls: 1,
      recalledBytes: whole(receipt?.shown.bytes ?? more?.["bytes"]),
      recalledTokens: whole(receipt?.shown.tokens ?? more?.["tokens"]),
    };
  }
  if (kind === "request-answered") {
    return {
      ...NO_TOTALS,
      requests: 1,
      inputTokens: whole(more?.["inputTokens"]),
      outputTokens: whole(more?.["outputTokens"]),
      cacheReadTokens: whole(more?.["cacheReadTokens"]),
      cacheWriteTokens: whole(more?.["cacheWriteTokens"]),
    };
  }
  // A refusal in doubt is one whose answer was kept.
  if (kind === "overflow-detected" && more?.["isKept"] !== true) return { ...NO_TOTALS, refusals: 1 };
  if (kind === "overflow-recovered") return { ...NO_TOTALS, recoveries: 1 };
  return NO_TOTALS;
}

/** Adds two sums field by field. */
export function addTotals(sum: Readonly<Totals>, more: Readonly<Totals>): Totals {
  const added = { ...NO_TOTALS };
  for (const name of Object.keys(NO_TOTALS) as (keyof Totals)[]) added[name] = sum[name] + more[name];
  return added;
}

/**
 * Returns how many tokens the model would have got without Spillway: `more.tokensIn` if it was counted, otherwise an
 * estimate with the tokens per byte of what was shown. If `more.hostTokens` is set, the result is at most that, because
 * the host would have cut the output to it. If `more.isRerun` is set, it is 0: the tool ran again only because of our cut.
 */
function tokensWithoutUs(receipt: Receipt | null, more: SpillwayEvent["more"]): number {
  if (more?.["isRerun"] === true) return 0;
  const counted = more?.["tokensIn"];
  const host = more?.["hostTokens"];
  const tokens = typeof counted === "number" ? whole(counted) : scaledTokens(receipt);
  return typeof host === "number" ? Math.min(tokens, whole(host)) : tokens;
}

function scaledTokens(receipt: Receipt | null): number {
  if (receipt === null) return 0;
  const { total, shown } = receipt;
  if (shown.bytes === 0) return whole(total.bytes / USUAL_BYTES_PER_TOKEN);
  return whole((shown.tokens * total.bytes) / shown.bytes);
}

/** Returns a whole number of 0 or more, also if a hand-made event holds something else. */
function whole(value: unknown): number {
  return typeof value === "number" && value > 0 && value < Number.MAX_SAFE_INTEGER ? Math.round(value) : 0;
}
