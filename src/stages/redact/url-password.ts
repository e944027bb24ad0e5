import { MAX_SECRET_BYTES } from "./bounds.ts";
import { type ByteSet, byteSet, DIGIT, outside, WORD } from "./byte-set.ts";
import type { Look } from "./redaction-rule.ts";
import { FINDER_SLOTS, type View } from "./view.ts";

/** What may stand between "://" and the first slash. */
const AUTHORITY: ByteSet = outside(byteSet(" \t\"'`<>\\/?#"));
const COLON = 58;
const DASH = 45;
const LEAST_TOKEN_BYTES = 20;
const MAX_TOKEN_BYTES = 1024;
const AT_SIGN = 64;
const MARK = [..."[redacted"].map((char) => char.charCodeAt(0));
const REFERENCE = /^(?:\$|\{|%[A-Za-z({]|\[redacted:|\*+$|x+$|<)/i;

/** Finds the password in `scheme://user:password@host`, or a token in its user's place; `start` is after "://". */
export function findUrlPassword(view: View, _at: number, start: number): Look {
  const { bytes } = view;
  const stop = Math.min(view.runEnd(FINDER_SLOTS.authority, AUTHORITY, start), start + MAX_SECRET_BYTES);
  if (stop === view.end && stop - start < MAX_SECRET_BYTES && !view.final) return "more";
  let to = stop - 1;
  while (to > start && bytes[to] !== AT_SIGN) to--;
  if (to > start && isToken(bytes, start, to)) return { from: start, to };
  let from = start;
  while (from < to && (bytes[from] !== COLON || endsMark(bytes, from))) from++;
  from++;
  if (to - from < 1) return "none";
  let text = "";
  for (let at = from; at < Math.min(to, from + 64); at++) text += String.fromCharCode(bytes[at] as number);
  return REFERENCE.test(text) ? "none" : { from, to };
}

/** No name of a user is so long, without a dot, and of letters and digits in turn. */
function isToken(bytes: Uint8Array, from: number, to: number): boolean {
  let at = from;
  let digits = 0;
  let letters = 0;
  for (; at < to && (WORD[bytes[at] as number] === 1 || bytes[at] === DASH); at++) {
    if (DIGIT[bytes[at] as number] === 1) digits++;
    else letters++;
    if (at - from >= MAX_TOKEN_BYTES) break;
  }
  return (at === to || bytes[at] === COLON) && at - from >= LEAST_TOKEN_BYTES && digits >= 2 && letters >= 2;
}

/** The colon of an earlier redaction's mark divides nothing. */
function endsMark(bytes: Uint8Array, at: number): boolean {
  return MARK.every((byte, index) => bytes[at - MARK.length + index] === byte);
}
