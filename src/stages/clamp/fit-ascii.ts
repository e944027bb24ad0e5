import type { Unit } from "../../contract/limits.ts";
import { newScan, scanBytes } from "../measure/scan.ts";
import type { Budget } from "./budget.ts";

// Most output is ASCII: there a byte is a character, and only lines have to be looked for.

/** Where a fit stops, and the limit that stopped it (null: all of it fitted). */
export interface Fit {
  at: number;
  stoppedBy: Unit | null;
}

/** True if no byte is above 127. */
export function isAscii(bytes: Uint8Array, from: number, to: number): boolean {
  const scan = newScan();
  scanBytes(scan, bytes.subarray(from, to));
  return scan.high === 0;
}

/** The longest start of ASCII bytes that fits, tokens left out. */
export function fitAsciiStart(bytes: Uint8Array, from: number, to: number, budget: Budget): Fit {
  const most = Math.min(budget.bytes, budget.chars, to - from);
  const end = isInsideBreak(bytes, from, from + most, to) ? from + most - 1 : from + most;
  const linesEnd = skipLines(bytes, from, end, to, budget.lines);
  const at = Math.min(end, linesEnd);
  if (at === to) return { at, stoppedBy: null };
  if (at === linesEnd) return { at, stoppedBy: "lines" };
  const next = isInsideBreak(bytes, from, at + 1, to) ? 2 : 1;
  return { at, stoppedBy: at - from + next > budget.bytes ? "bytes" : "chars" };
}

/** The longest end of ASCII bytes that fits, tokens left out. */
export function fitAsciiEnd(bytes: Uint8Array, from: number, to: number, budget: Budget): Fit {
  const most = Math.min(budget.bytes, budget.chars, to - from);
  const start = isInsideBreak(bytes, from, to - most, to) ? to - most + 1 : to - most;
  const linesStart = skipLinesBack(bytes, from, start, to, budget.lines);
  const at = Math.max(start, linesStart);
  if (at === from) return { at, stoppedBy: null };
  if (at === linesStart) return { at, stoppedBy: "lines" };
  const before = isInsideBreak(bytes, from, at - 1, to) ? 2 : 1;
  return { at, stoppedBy: to - at + before > budget.bytes ? "bytes" : "chars" };
}

/** True between \r and \n. */
function isInsideBreak(bytes: Uint8Array, from: number, at: number, to: number): boolean {
  return at > from && at < to && bytes[at] === 10 && bytes[at - 1] === 13;
}

function breaksIn(bytes: Uint8Array, from: number, to: number): number {
  const scan = newScan();
  scanBytes(scan, bytes.subarray(from, to));
  return scan.breaks;
}

/** Where line `lines` + 1 begins; `to` if that is not before `end`. */
function skipLines(bytes: Uint8Array, from: number, end: number, to: number, lines: number): number {
  if (breaksIn(bytes, from, end) < lines) return to;
  let at = from;
  for (let left = lines; left > 0; left--) at = bytes.indexOf(10, at) + 1;
  return at;
}

/** Where the last `lines` lines begin; `from` if that is not after `start`. */
function skipLinesBack(bytes: Uint8Array, from: number, start: number, to: number, lines: number): number {
  const breaks = lines - (to > from && bytes[to - 1] !== 10 ? 1 : 0);
  if (breaks < 0) return to;
  if (breaksIn(bytes, start, to) <= breaks) {
    // The break before `start` counts too, should the cut stand exactly there.
    return start > from && bytes[start - 1] === 10 && breaksIn(bytes, start, to) === breaks ? start : from;
  }
  let at = to;
  for (let left = breaks; left >= 0; left--) at = bytes.lastIndexOf(10, at - 1);
  return at + 1;
}
