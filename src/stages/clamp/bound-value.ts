import { counted, grouped } from "../../values.ts";
import { mediaBytes } from "../measure/media-bytes.ts";
import { NUMBERS } from "../policy/defaults.ts";
import {
  type Copied,
  copyWhole,
  inside,
  isDropped,
  type Json,
  jsonTextBytes,
  openOnWalk,
  RecordNames,
  setField,
  shortenJsonText,
  startWalk,
  type Walk,
} from "./bound-copy.ts";
import { type Opened, readField, UNREADABLE } from "./bound-open.ts";

/** A value made safe and small: `bytes` is what its JSON takes in UTF-8. */
export interface BoundedValue {
  value: unknown;
  bytes: number;
  /** Something that could be read was left out. */
  cut: boolean;
}

const encoder = new TextEncoder();

/**
 * A JSON-safe copy of any value whose JSON takes at most `maxBytes` bytes of UTF-8. Never throws, never changes the
 * value, and reads no more of it than the limit asks for.
 *
 * As JSON has it: undefined, functions and symbols are dropped from objects and null in lists (by themselves they give
 * undefined, 0 bytes); NaN and Infinity are null; a Date is its ISO text. Ours: a BigInt is its decimal text; bytes
 * (buffers, typed arrays, Blobs) are `{"type":"bytes","bytes":N}`; a Map is an object, a Set a list, a URL its text, an
 * Error its name, message and own fields without the stack; "[circular]", "[too deep]" (over 64 levels) and
 * "[unreadable]" (it threw) stand for what they say. A class that has a `toJSON` is what
 * that gives; it is called once, and where it throws the class is read by its own fields.
 *
 * Over the limit every part gets a fair share. Texts keep both ends around a note, lists their first and last elements
 * (a Set its first) around a note, objects all their keys while these have room and then `"[omitted]": "37 more keys"`.
 * The outermost object also gets `"[cut]": "shortened to 8,192 bytes"`. A key that is taken gets a number: `[cut] (2)`.
 * Where even a note has no room the value is "...", then "", and below 2 bytes undefined (0 bytes).
 *
 * A limit over 64 MiB counts as 64 MiB; one that is not a number, or negative, as 0.
 */
export function boundValue(value: unknown, maxBytes: number): BoundedValue {
  const limit = maxBytes > 0 ? Math.floor(Math.min(maxBytes, NUMBERS.detailsBytes.ceiling)) : 0;
  if (isDropped(value)) return { value: undefined, bytes: 0, cut: false };
  try {
    const walk = startWalk(limit);
    const whole = copyWhole(value, limit, walk);
    if (whole !== null) return bounded(whole, walk.tooDeep);
    if (limit < 2) return { value: undefined, bytes: 0, cut: true };
    return bounded(shareValue(value, limit, walk, true), true);
  } catch {
    // Only an engine's own limit (its stack, its memory) comes here.
    const json = limit < 2 ? undefined : shortenJsonText(UNREADABLE, limit);
    return { value: json, bytes: json === undefined ? 0 : encoder.encode(json).length + 2, cut: true };
  }
}

function bounded({ json, bytes }: Copied, cut: boolean): BoundedValue {
  return { value: json, bytes, cut };
}

// A value that is over its budget: every part gets its fair share, so that a large one does not starve the others.

/** A part of a container; `copy` once it is known to be whole within its share. */
interface Slot {
  value: unknown;
  copy: Copied | null;
  /** Takes its place if it is not shown whole, because half an image cannot be read. */
  note?: string;
}

/** The least a value in a record is shown with: three dots in quotes. */
const DOTS_BYTES = 5;
/** An element of a list counts for at most this share of the room when it is decided how many are shown. */
const ELEMENT_SHARE = 1 / 8;
const LEAST_ELEMENT_BYTES = 16;
const MAX_KEY_BYTES = 256;
const LEAST_KEY_BYTES = 16;
/** Each round copies at most the room's bytes again; what is still undecided then is shared out as it stands. */
const MAX_ROUNDS = 16;

/** A record's mark that it was cut; stands on the outermost one only. */
export const CUT_KEY = "[cut]";
/** Under this key a record says how many of its keys are not shown. */
export const OMITTED_KEY = "[omitted]";

/** The value in at most `maxBytes` bytes of JSON, which must be 2 or more. */
function shareValue(value: unknown, maxBytes: number, walk: Walk, outermost = false): Copied {
  const whole = copyWhole(value, maxBytes, walk);
  if (whole !== null) return whole;
  if (walk.visits < 0 && typeof value === "object") return textWithin("...", maxBytes);
  const opened = openOnWalk(value, walk);
  switch (opened.kind) {
    case "text":
      return textWithin(opened.text, maxBytes);
    case "list":
      return inside(value, walk, () => shareList(opened, maxBytes, walk));
    case "record":
      return inside(value, walk, () => shareRecord(value as object, opened, maxBytes, walk, outermost));
    default:
      return textWithin("...", maxBytes);
  }
}

function textWithin(text: string, maxBytes: number): Copied {
  const json = shortenJsonText(text, maxBytes);
  return { json, bytes: jsonTextBytes(json, maxBytes) };
}

/** What stands for a container of which no part has room. */
function noteWithin(note: string, maxBytes: number): Copied {
  return textWithin(note.length + 2 <= maxBytes ? note : "...", maxBytes);
}

function shareList(list: Extract<Opened, { kind: "list" }>, maxBytes: number, walk: Walk): Copied {
  const note = (left: number) => `... [${counted(left, "element")} omitted]`;
  const noteBytes = note(list.length).length + 2;
  const eachBytes = Math.max(LEAST_ELEMENT_BYTES, Math.floor(maxBytes * ELEMENT_SHARE));
  const first: Slot[] = [];
  const last: Slot[] = [];
  let room = maxBytes - 2 - noteBytes;
  while (first.length + last.length < list.length) {
    const fromEnd = list.bothEnds && last.length < first.length;
    const value = list.at(fromEnd ? list.length - 1 - last.length : first.length);
    const copy = copyWhole(value, eachBytes, walk);
    room -= 1 + (copy?.bytes ?? eachBytes);
    if (room < 0) break;
    (fromEnd ? last : first).push({ value, copy });
  }
  const shown = [...first, ...last.toReversed()];
  if (shown.length === 0) return noteWithin(`[${counted(list.length, "element")}]`, maxBytes);
  const left = list.length - shown.length;
  fillSlots(shown, maxBytes - 2 - shown.length - (left > 0 ? noteBytes : 0), walk);
  const elements = shown.map((slot) => slot.copy as Copied);
  if (left > 0) elements.splice(first.length, 0, textWithin(note(left), noteBytes));
  const bytes = elements.reduce((sum, element) => sum + element.bytes + 1, 1);
  return { json: elements.map((element) => element.json), bytes };
}

function shareRecord(
  holder: object,
  record: Extract<Opened, { kind: "record" }>,
  maxBytes: number,
  walk: Walk,
  outermost: boolean,
): Copied {
  const more = (left: number) => counted(left, "more key");
  const mark = `shortened to ${grouped(maxBytes)} bytes`;
  const markBytes = outermost ? noteBytes(CUT_KEY, mark) : 0;
  const moreBytes = noteBytes(OMITTED_KEY, more(record.count));
  const keyBytes = Math.min(MAX_KEY_BYTES, Math.max(LEAST_KEY_BYTES, maxBytes >> 2));
  const names = new RecordNames();
  const shown: (Slot & { name: string })[] = [];
  let fixed = 2 + markBytes;
  let values = 0;
  let seen = 0;
  // How far one may go and still have room to say how many keys follow.
  let safe = { shown: 0, fixed, seen };
  for (const entry of record.entries()) {
    if (--walk.visits < 0) break;
    if (entry !== null && !isDropped(entry[1])) {
      const name = names.take(shortenJsonText(entry[0], keyBytes));
      const copy = copyWhole(entry[1], DOTS_BYTES, walk);
      fixed += jsonTextBytes(name, Infinity) + 2;
      values += copy?.bytes ?? DOTS_BYTES;
      if (fixed + values > maxBytes) break;
      shown.push({ name, value: entry[1], copy, ...mediaNote(entry[0], entry[1], holder) });
    }
    seen++;
    if (fixed + values + moreBytes <= maxBytes) safe = { shown: shown.length, fixed, seen };
  }
  if (seen < record.count) {
    shown.length = safe.shown;
    fixed = safe.fixed + moreBytes;
    seen = safe.seen;
  }
  const left = record.count - seen;
  if (shown.length === 0 && (!outermost || fixed > maxBytes)) {
    return noteWithin(`[${counted(record.count, "key")}]`, maxBytes);
  }
  fillSlots(shown, maxBytes - fixed, walk);
  return writeRecord(shown, names, { [OMITTED_KEY]: left > 0 ? more(left) : "", [CUT_KEY]: outermost ? mark : "" });
}

/** What is said of an image, a sound or a file in a field, where it has no room. */
function mediaNote(name: string, value: unknown, holder: object): { note: string } | null {
  if (typeof value !== "string") return null;
  const text = (beside: string) => {
    const held = readField(holder, beside);
    return typeof held === "string" ? held : undefined;
  };
  const bytes = mediaBytes(name, value, { field: null, text });
  return bytes === null ? null : { note: `[${counted(bytes, "byte")} of media omitted]` };
}

/** For ` (1234567)` behind a name. */
const NUMBER_BYTES = 10;

function noteBytes(name: string, note: string): number {
  return name.length + NUMBER_BYTES + note.length + 6;
}

function writeRecord(
  shown: readonly (Slot & { name: string })[],
  names: RecordNames,
  notes: Record<string, string>,
): Copied {
  const fields: { [name: string]: Json } = {};
  let bytes = 1;
  const write = (name: string, copy: Copied) => {
    setField(fields, name, copy.json);
    bytes += jsonTextBytes(name, Infinity) + 1 + copy.bytes + 1;
  };
  for (const { name, copy } of shown) write(name, copy as Copied);
  for (const [key, note] of Object.entries(notes)) {
    if (note !== "") write(names.take(key), textWithin(note, Infinity));
  }
  return { json: fields, bytes: Math.max(2, bytes) };
}

/** Fills every slot within `room` bytes in all: those under the fair share stay whole, the others share what is left. */
function fillSlots(slots: readonly Slot[], room: number, walk: Walk): void {
  let left = room - slots.reduce((sum, slot) => sum + (slot.copy?.bytes ?? 0), 0);
  let open = slots.filter((slot) => slot.copy === null);
  for (let round = 0; round < MAX_ROUNDS && open.length > 0; round++) {
    const share = Math.floor(left / open.length);
    for (const slot of open) {
      slot.copy = copyWhole(slot.value, share, walk);
      left -= slot.copy?.bytes ?? 0;
    }
    const over = open.filter((slot) => slot.copy === null);
    if (over.length === open.length) break;
    open = over;
  }
  for (const [index, slot] of open.entries()) {
    const share = Math.floor(left / (open.length - index));
    slot.copy =
      slot.note === undefined
        ? shareValue(slot.value, share, walk)
        : (copyWhole(slot.value, share, walk) ?? noteWithin(slot.note, share));
    left -= slot.copy.bytes;
  }
}
