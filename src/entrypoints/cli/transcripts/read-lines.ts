import { readSync } from "node:fs";
import { NUMBERS } from "../../../stages/policy/defaults.ts";

const READ_BYTES = 1024 * 1024;
const BREAK = 10;

/** A line of a file: its bytes without the break. */
export interface Line {
  from: number;
  /** The byte after the line break, or after the line if it has no break. */
  to: number;
  /** Null if the line is too long to be read. Valid until the next line is asked for. */
  bytes: Uint8Array | null;
  hasBreak: boolean;
}

/** Yields the lines of a file from one byte to another. Holds at most one line in memory. */
export function* readLines(
  descriptor: number,
  from: number,
  to: number,
  maxLineBytes: number = NUMBERS.transcriptLineBytes.default,
): Generator<Line> {
  const buffer = Buffer.allocUnsafe(Math.min(READ_BYTES, Math.max(0, to - from)));
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
    const length = readSync(descriptor, buffer, 0, Math.min(buffer.length, to - at), at);
    if (length === 0) break;
    for (let start = 0; start < length; ) {
      const found = buffer.subarray(0, length).indexOf(BREAK, start);
      const end = found < 0 ? length : found;
      heldBytes += end - start;
      if (heldBytes > maxLineBytes) held = [];
      // The line goes on in the next piece, and the buffer is filled again, so this part is copied.
      else held.push(found < 0 ? Buffer.from(buffer.subarray(start, end)) : buffer.subarray(start, end));
      if (found >= 0) yield line(at + found + 1, true);
      start = end + 1;
    }
    at += length;
  }
  if (heldBytes > 0) yield line(lineFrom + heldBytes, false);
}

const STRICT = new TextDecoder("utf-8", { fatal: true });
const LENIENT = new TextDecoder();

/** A line's JSON value; undefined if it has none, or is not valid UTF-8: such a line could not be written again as it was. */
export function parseLine(line: Line): unknown {
  return valueOf(line, STRICT);
}

/** A line's JSON value as programs read it that only read: bytes that are not UTF-8 are U+FFFD. */
export function lookAtLine(line: Line): unknown {
  return valueOf(line, LENIENT);
}

function valueOf({ bytes }: Line, decoder: TextDecoder): unknown {
  if (bytes === null) return undefined;
  try {
    return JSON.parse(decoder.decode(bytes));
  } catch {
    return undefined;
  }
}

/** The line break of a line, so that a changed line keeps its own. */
export function breakOf({ bytes, hasBreak }: Line): string {
  if (!hasBreak) return "";
  return bytes?.at(-1) === 13 ? "\r\n" : "\n";
}

/** Returns true for a line with nothing but white space. */
export function isBlank({ bytes }: Line): boolean {
  return bytes !== null && bytes.every((byte) => byte === 32 || byte === 9 || byte === 13);
}
