import { type ByteSet, byteSet, bytesOf, DIGIT, outside, startsWith, WORD } from "./byte-set.ts";
import { startOf } from "./likely-secret.ts";
import type { Look } from "./redaction-rule.ts";
import { MAX_SECRET_BYTES, type Window } from "./window.ts";

/** What may stand between "://" and the first slash. */
const AUTHORITY: ByteSet = outside(byteSet(" \t\"'`<>\\/?#"));
const COLON = 58;
const DASH = 45;
const LEAST_TOKEN_BYTES = 20;
const MAX_TOKEN_BYTES = 1024;
const AT_SIGN = 64;
const MARK = bytesOf("[redacted");
const REFERENCE = /^(?:\$|\{|%[A-Za-z({]|\[redacted:|\*+$|x+$|<)/i;

/** Finds the password in `scheme://user:password@host`, or a token in its user's place; `start` is after "://". */
export function findUrlPassword(window: Window, _at: number, start: number): Look {
  const { bytes } = window;
  const stop = Math.min(window.runEnd(AUTHORITY, start), start + MAX_SECRET_BYTES);
  if (stop === window.end && stop - start < MAX_SECRET_BYTES && !window.final) return "more";
  let to = stop - 1;
  while (to > start && bytes[to] !== AT_SIGN) to--;
  if (to > start && isToken(bytes, start, to)) return { from: start, to };
  let from = start;
  while (from < to && (bytes[from] !== COLON || endsMark(bytes, from))) from++;
  from++;
  if (to - from < 1) return "none";
  return REFERENCE.test(startOf(bytes, from, to)) ? "none" : { from, to };
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
  return startsWith(bytes, at - MARK.length, MARK);
}
