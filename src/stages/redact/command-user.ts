import { BLANK, type ByteSet, byteSet, bytesOf, outside, startsWith, union } from "./byte-set.ts";
import { notPlaceholder } from "./likely-secret.ts";
import type { Look } from "./redaction-rule.ts";
import type { Window } from "./window.ts";

/** How far behind the command its user is looked for. */
const LOOKED_AT = 256;
const QUOTES: ByteSet = byteSet("\"'");
const USER: ByteSet = outside(union(BLANK, byteSet("\"'`:\0-\x1f")));
const PASSWORD: ByteSet = outside(union(BLANK, byteSet("\"'`\0-\x1f")));
const FLAGS = [" -u", " --user"].map(bytesOf);
const COLON = 58;
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
