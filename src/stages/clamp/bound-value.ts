import { NUMBERS } from "../policy/defaults.ts";
import { type Copied, copyWhole, isDropped, startWalk } from "./bound-copy.ts";
import { UNREADABLE } from "./bound-open.ts";
import { shareValue } from "./bound-share.ts";
import { shortenJsonText } from "./bound-text.ts";

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
