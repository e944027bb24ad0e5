import { CARRIAGE_RETURN, ESCAPE, LINE_FEED } from "./byte-class.ts";
import type { StopFinder } from "./stop-finder.ts";

/**
 * The end (after its line feed) of a line whose only codes are colours and which lies whole in the chunk; else -1. `stop`
 * is the first byte of it that is not plain.
 */
export function colouredLineEnd(bytes: Uint8Array, stop: number, stops: StopFinder): number {
  let at = stop;
  while (at < bytes.length) {
    const byte = bytes[at]!;
    if (byte === LINE_FEED) return at + 1;
    if (byte === ESCAPE) {
      const after = afterColour(bytes, at, bytes.length);
      if (after === at) return -1;
      at = after;
    } else if (byte === CARRIAGE_RETURN && bytes[at + 1] === LINE_FEED) {
      return at + 2;
    } else {
      return -1;
    }
    at = stops.next(at);
  }
  return -1;
}

/** Copies such a line without its colours to `out`. Returns how long it is then, as a negative number if it is not ASCII. */
export function stripColours(bytes: Uint8Array, start: number, end: number, out: Uint8Array): number {
  let length = 0;
  let high = 0;
  for (let at = start; at < end; ) {
    const byte = bytes[at]!;
    if (byte === ESCAPE) {
      at = afterColour(bytes, at, end);
    } else {
      high |= byte;
      out[length++] = byte;
      at++;
    }
  }
  return high < 0x80 ? length : -length;
}

/** The end of a colour sequence (`ESC [ 1 ; 31 m`) that stands here whole, else `start`: by far the most common code. */
export function afterColour(bytes: Uint8Array, start: number, end: number): number {
  if (bytes[start] !== ESCAPE || start + 2 >= end || bytes[start + 1] !== 0x5b) return start;
  const stop = Math.min(end, start + 64);
  let at = start + 2;
  while (at < stop && bytes[at]! >= 0x30 && bytes[at]! <= 0x3b) at++;
  return at < stop && bytes[at] === 0x6d ? at + 1 : start;
}
