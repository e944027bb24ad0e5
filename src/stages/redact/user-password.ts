import { BLANK, type ByteSet, byteSet, bytesOf, DIGIT, outside, startsWith, union, WORD } from "./byte-set.ts";
import { notPlaceholder, startOf } from "./likely-secret.ts";
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

/** How far behind the command its user is looked for. */
const LOOKED_AT = 256;
const QUOTES: ByteSet = byteSet("\"'");
const USER: ByteSet = outside(union(BLANK, byteSet("\"'`:\0-\x1f")));
const PASSWORD: ByteSet = outside(union(BLANK, byteSet("\"'`\0-\x1f")));
const FLAGS = [" -u", " --user"].map(bytesOf);
const EQUALS = 61;
const BREAK = 10;

/** Finds the password in `curl -u user:password`; `start` is after "curl". */
export function findCommandUser({ bytes, end, final }: Window, _at: number, start: number): Look {
  const limit = Math.min(end, start + LOOKED_AT);
  const found = bytes.subarray(start, limit).indexOf(BREAK);
  const to = found < 0 ? limit : start + found;
  if (found < 0 && limit === end && !final && limit < start + LOOKED_AT) return "more";
  for (let at = start; at < to; at++) {
    const flag = FLAGS.find((word) => startsWith(bytes, at, word));
    if (flag === undefined) continue;
    let from = at + flag.length;
    while (from < to && (BLANK[bytes[from] as number] === 1 || bytes[from] === EQUALS)) from++;
    if (QUOTES[bytes[from] as number] === 1) from++;
    while (from < to && USER[bytes[from] as number] === 1) from++;
    if (bytes[from] !== COLON || from >= to) continue;
    let stop = from + 1;
    while (stop < to && PASSWORD[bytes[stop] as number] === 1) stop++;
    if (stop > from + 1 && notPlaceholder(bytes, from + 1, stop)) return { from: from + 1, to: stop };
  }
  return "none";
}
