import { readSync } from "node:fs";
import { NUMBERS } from "../../../stages/policy/defaults.ts";

const READ_BYTES = 1024 * 1024;
const BREAK = 10;

/** A line of a file: its bytes without the break. */
export interface Line {
  from: number;
  /** Behind the break, if it has one. */
  to: number;
  /** Null for a line that is too long to be read; valid until the next line is asked for. */
  bytes: Uint8Array | null;
  hasBreak: boolean;
}

/** The lines of a file from one byte to another, one at a time: no more than one is ever held. */
export function* readLines(
  descriptor: number,
  from: number,
  to: number,
  maxLineBytes: number = NUMBERS.transcriptLineBytes.default,
): Generator<Line> {
  const buffer = Buffer.allocUnsafe(READ_BYTES);
  let held: Buffer[] = [];
  let heldBytes = 0;
  let lineFrom = from;
  const line = (end: number, hasBreak: boolean): Line => {
    const isWhole = heldBytes <= maxLineBytes;
    const bytes = isWhole ? (held.length === 1 ? (held[0] as Buffer) : Buffer.concat(held, heldBytes)) : null;
    const made = { from: lineFrom, to: end, bytes, hasBreak };
    held = [];
    heldBytes = 0;
    lineFrom = end;
    return made;
  };
  for (let at = from; at < to; ) {
    const length = readSync(descriptor, buffer, 0, Math.min(READ_BYTES, to - at), at);
    if (length === 0) break;
    for (let start = 0; start < length; ) {
      const found = buffer.subarray(0, length).indexOf(BREAK, start);
      const end = found < 0 ? length : found;
      heldBytes += end - start;
      if (heldBytes > maxLineBytes) held = [];
      // A line that goes on is copied: the buffer is filled anew.
      else held.push(found < 0 ? Buffer.from(buffer.subarray(start, end)) : buffer.subarray(start, end));
      if (found >= 0) yield line(at + found + 1, true);
      start = end + 1;
    }
    at += length;
  }
  if (heldBytes > 0) yield line(lineFrom + heldBytes, false);
}

/** What a line says as JSON; undefined if it is none. Invalid UTF-8 is none: written again it would not be the same. */
export function parseLine({ bytes }: Line): unknown {
  if (bytes === null) return undefined;
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

/** What ends a line: one that is written anew ends as it did. */
export function breakOf({ bytes, hasBreak }: Line): string {
  if (!hasBreak) return "";
  return bytes?.at(-1) === 13 ? "\r\n" : "\n";
}

/** True for a line with nothing but white space. */
export function isBlank({ bytes }: Line): boolean {
  return bytes !== null && bytes.every((byte) => byte === 32 || byte === 9 || byte === 13);
}
