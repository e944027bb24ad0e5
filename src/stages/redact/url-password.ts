import { MAX_SECRET_BYTES } from "./bounds.ts";
import { type ByteSet, byteSet, outside } from "./byte-set.ts";
import type { Look } from "./redaction-rule.ts";
import { FINDER_SLOTS, type View } from "./view.ts";

/** What may stand between "://" and the first slash. */
const AUTHORITY: ByteSet = outside(byteSet(" \t\"'`<>\\/?#"));
const COLON = 58;
const AT_SIGN = 64;
const MARK = [..."[redacted"].map((char) => char.charCodeAt(0));
const REFERENCE = /^(?:\$|\{|%[A-Za-z({]|\[redacted:|\*+$|x+$|<)/i;

/** Finds the password in `scheme://user:password@host`; `start` is after "://". */
export function findUrlPassword(view: View, _at: number, start: number): Look {
  const { bytes } = view;
  const stop = Math.min(view.runEnd(FINDER_SLOTS.authority, AUTHORITY, start), start + MAX_SECRET_BYTES);
  if (stop === view.end && stop - start < MAX_SECRET_BYTES && !view.final) return "more";
  let to = stop - 1;
  while (to > start && bytes[to] !== AT_SIGN) to--;
  let from = start;
  while (from < to && (bytes[from] !== COLON || endsMark(bytes, from))) from++;
  from++;
  if (to - from < 1) return "none";
  let text = "";
  for (let at = from; at < Math.min(to, from + 64); at++) text += String.fromCharCode(bytes[at] as number);
  return REFERENCE.test(text) ? "none" : { from, to };
}

/** The colon of an earlier redaction's mark divides nothing. */
function endsMark(bytes: Uint8Array, at: number): boolean {
  return MARK.every((byte, index) => bytes[at - MARK.length + index] === byte);
}
