import { counted } from "../../values.ts";
import { splitsPair } from "../measure/scan.ts";
import { type Asked, nothingAsked, type Opened, openValue } from "./bound-open.ts";

// Strings as JSON: what they cost in UTF-8 bytes, and how they are shortened. Never scans further than its limit.

/** From this much room on, a shortened text keeps its end as well as its start. */
const BOTH_ENDS_BYTES = 256;
/** A note that left less room than this for the text itself would not be worth its place. */
const LEAST_TEXT_BYTES = 8;

/** Bytes of the text as a JSON string, quotes included; Infinity as soon as it is over `maxBytes`. */
export function jsonTextBytes(text: string, maxBytes: number): number {
  if (text.length + 2 > maxBytes) return Infinity;
  let bytes = 2;
  for (let at = 0; at < text.length; ) {
    const step = stepAt(text, at);
    bytes += step.bytes;
    if (bytes > maxBytes) return Infinity;
    at += step.chars;
  }
  return bytes;
}

/**
 * The text in at most `maxBytes` bytes of JSON: whole, or its ends with a note of how many characters (UTF-16 units)
 * are missing, or with three dots where the note has no room. Cut between code points; lone surrogates become U+FFFD.
 */
export function shortenJsonText(text: string, maxBytes: number): string {
  if (jsonTextBytes(text, maxBytes) <= maxBytes) return text.toWellFormed();
  const room = maxBytes - 2;
  const bothEnds = room >= BOTH_ENDS_BYTES;
  // Reserved for the largest count there can be: the true one is never longer.
  const noteRoom = omittedNote(text.length, bothEnds).length;
  if (room < noteRoom + LEAST_TEXT_BYTES) return room < 3 ? "" : `${startOf(text, room - 3)}...`;
  const textRoom = room - noteRoom;
  const start = startOf(text, bothEnds ? Math.ceil(textRoom / 2) : textRoom);
  const end = bothEnds ? endOf(text, Math.floor(textRoom / 2)) : "";
  return start + omittedNote(text.length - start.length - end.length, bothEnds) + end;
}

function omittedNote(chars: number, bothEnds: boolean): string {
  return `... [${counted(chars, "character")} omitted]${bothEnds ? " ..." : ""}`;
}

function startOf(text: string, maxBytes: number): string {
  let at = 0;
  for (let bytes = 0; at < text.length; ) {
    const step = stepAt(text, at);
    bytes += step.bytes;
    if (bytes > maxBytes) break;
    at += step.chars;
  }
  return text.slice(0, at).toWellFormed();
}

function endOf(text: string, maxBytes: number): string {
  let at = text.length;
  for (let bytes = 0; at > 0; ) {
    const pair = splitsPair(text, at - 1);
    bytes += stepAt(text, pair ? at - 2 : at - 1).bytes;
    if (bytes > maxBytes) break;
    at -= pair ? 2 : 1;
  }
  return text.slice(at).toWellFormed();
}

interface Step {
  bytes: number;
  chars: number;
}

const ESCAPED: Step = { bytes: 2, chars: 1 };
const CONTROL: Step = { bytes: 6, chars: 1 };
const STEPS: readonly Step[] = [1, 2, 3].map((bytes) => ({ bytes, chars: 1 }));
const PAIR: Step = { bytes: 4, chars: 2 };

function stepAt(text: string, at: number): Step {
  const unit = text.charCodeAt(at);
  if (unit < 0x20) return unit >= 8 && unit <= 13 && unit !== 11 ? ESCAPED : CONTROL;
  if (unit === 0x22 || unit === 0x5c) return ESCAPED;
  if (splitsPair(text, at + 1)) return PAIR;
  // A lone surrogate is shown as U+FFFD, which takes three bytes as well.
  return STEPS[unit < 0x80 ? 0 : unit < 0x800 ? 1 : 2] as Step;
}

/** What JSON can hold. */
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** A JSON-safe copy and the bytes of its JSON. */
export interface Copied {
  json: Json;
  bytes: number;
}

/** One call's way through a value. */
export interface Walk {
  /** Values that may still be looked at: bounds the work, whatever the value is. */
  visits: number;
  /** Something was nested too deeply to be kept. */
  tooDeep: boolean;
  asked: Asked;
  maxKeys: number;
  /** The containers around the value at hand, outermost first. */
  path: object[];
  /** Bytes stay as they are, not described. */
  keepsBytes?: true;
}

/** Containers that are nested more deeply are not read. */
export const MAX_DEPTH = 64;

/** Begins a walk that gives at most `maxBytes` of JSON. */
export function startWalk(maxBytes: number): Walk {
  // Values cost a byte or more, except those that JSON drops; a walk reads most values a few times.
  return {
    visits: 64 * maxBytes + 65_536,
    tooDeep: false,
    asked: nothingAsked(),
    maxKeys: visitsFor(maxBytes),
    path: [],
  };
}

/** How many values a copy of this size may look at, those that JSON drops included. */
function visitsFor(maxBytes: number): number {
  return 8 * maxBytes + 1024;
}

/** Opens a value; a container inside itself, or too deep, is named instead. */
export function openOnWalk(value: unknown, walk: Walk): Opened {
  const opened = openValue(value, walk.asked, walk.maxKeys);
  if (opened.kind !== "list" && opened.kind !== "record") return opened;
  if (walk.path.includes(value as object)) return { kind: "text", text: "[circular]" };
  if (walk.path.length < MAX_DEPTH) return opened;
  walk.tooDeep = true;
  return { kind: "text", text: "[too deep]" };
}

/** Does something with a container's parts, the container being on the path. */
export function inside<Result>(container: unknown, walk: Walk, act: () => Result): Result {
  walk.path.push(container as object);
  try {
    return act();
  } finally {
    walk.path.pop();
  }
}

/** Returns true for what JSON leaves out of an object. */
export function isDropped(value: unknown): boolean {
  return value === undefined || typeof value === "function" || typeof value === "symbol";
}

/** All of a value as JSON, but for its bytes, which stay as they are. Undefined if it is over `maxBytes`. */
export function copyPlain(value: unknown, maxBytes: number): unknown {
  return copyWhole(value, maxBytes, { ...startWalk(maxBytes), keepsBytes: true })?.json;
}

/** A copy of the whole value, or null as soon as it is over `maxBytes`. What JSON drops counts as null. */
export function copyWhole(value: unknown, maxBytes: number, walk: Walk): Copied | null {
  const budget = { left: maxBytes, visits: visitsFor(maxBytes) };
  const json = copy(value, budget, walk);
  return json === undefined ? null : { json, bytes: maxBytes - budget.left };
}

interface Budget {
  left: number;
  visits: number;
}

/** Undefined when the budget is spent. */
function copy(value: unknown, budget: Budget, walk: Walk): Json | undefined {
  if (--budget.visits < 0 || --walk.visits < 0) return undefined;
  if (walk.keepsBytes && ArrayBuffer.isView(value)) return value as unknown as Json;
  const opened = openOnWalk(value, walk);
  switch (opened.kind) {
    case "nothing":
      return spend(budget, 4) ? null : undefined;
    case "plain":
      return spend(budget, String(opened.json).length) ? opened.json : undefined;
    case "text":
      return spend(budget, jsonTextBytes(opened.text, budget.left)) ? opened.text.toWellFormed() : undefined;
    case "list":
      return inside(value, walk, () => copyList(opened, budget, walk));
    case "record":
      return inside(value, walk, () => copyRecord(opened, budget, walk));
  }
}

function spend(budget: Budget, bytes: number): boolean {
  if (bytes > budget.left) return false;
  budget.left -= bytes;
  return true;
}

function copyList(list: Extract<Opened, { kind: "list" }>, budget: Budget, walk: Walk): Json[] | undefined {
  // An element and its comma take two bytes or more: a list that is surely too long is not begun.
  if (2 * list.length + 1 > budget.left || !spend(budget, 2 + Math.max(0, list.length - 1))) return undefined;
  const elements: Json[] = [];
  for (let index = 0; index < list.length; index++) {
    const element = copy(list.at(index), budget, walk);
    if (element === undefined) return undefined;
    elements.push(element);
  }
  return elements;
}

function copyRecord(record: Extract<Opened, { kind: "record" }>, budget: Budget, walk: Walk): Json | undefined {
  if (!spend(budget, 2)) return undefined;
  const names = new RecordNames();
  const fields: { [name: string]: Json } = {};
  let seen = 0;
  for (const entry of record.entries()) {
    seen++;
    if (entry === null || isDropped(entry[1])) {
      if (--budget.visits < 0 || --walk.visits < 0) return undefined;
      continue;
    }
    // A key over the budget is not even made well-formed.
    if (entry[0].length > budget.left) return undefined;
    const name = names.take(entry[0]);
    const bytes = jsonTextBytes(name, budget.left) + 1 + (names.count > 1 ? 1 : 0);
    if (!spend(budget, bytes)) return undefined;
    const value = copy(entry[1], budget, walk);
    if (value === undefined) return undefined;
    setField(fields, name, value);
  }
  return seen < record.count ? undefined : fields;
}

/** Keeps a record's keys apart after they were made well-formed or shortened. */
export class RecordNames {
  readonly #taken = new Set<string>();
  readonly #repeats = new Map<string, number>();

  get count(): number {
    return this.#taken.size;
  }

  /** The name, made well-formed, with a number behind it if it is taken. */
  take(wanted: string): string {
    const name = wanted.toWellFormed();
    let free = name;
    for (let repeat = this.#repeats.get(name) ?? 2; this.#taken.has(free); repeat++) {
      free = `${name} (${repeat})`;
      this.#repeats.set(name, repeat + 1);
    }
    this.#taken.add(free);
    return free;
  }
}

/** Sets an own field, also one called `__proto__`. */
export function setField(fields: { [name: string]: Json }, name: string, value: Json): void {
  if (name !== "__proto__") fields[name] = value;
  else Object.defineProperty(fields, name, { value, enumerable: true, configurable: true, writable: true });
}
