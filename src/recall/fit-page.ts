import { newStep, readStep } from "../stages/clamp/fit.ts";

/** The most that a page may hold. */
export interface PageRoom {
  maxChars: number;
  maxLines: number;
}

/**
 * A range of bytes that fits. It begins and ends between characters. If it had to be cut, it is cut between lines where
 * possible.
 */
export interface Fitted {
  from: number;
  to: number;
  /** The number of lines of which the range holds at least a part. */
  lines: number;
}

/**
 * Returns how many bytes to read to fill the room: a UTF-16 unit takes at most three bytes, and a few more make the
 * last character whole.
 */
export function bytesFor(room: PageRoom): number {
  return 3 * room.maxChars + 8;
}

/** Returns the longest start of the range that fits. `from` must be at the start of a character. */
export function fitStart(bytes: Uint8Array, from: number, to: number, room: PageRoom): Fitted {
  const step = newStep();
  let chars = 0;
  let breaks = 0;
  let lineStart = from;
  let at = from;
  for (; at < to && breaks < room.maxLines; at += step.length) {
    readStep(bytes, at, to, step);
    if (chars + step.chars > room.maxChars) break;
    chars += step.chars;
    if (!step.isBreak) continue;
    breaks++;
    lineStart = at + step.length;
  }
  if (at >= to) return { from, to: at, lines: breaks + (at > lineStart ? 1 : 0) };
  if (lineStart > from) return { from, to: lineStart, lines: breaks };
  return { from, to: at, lines: at > from ? 1 : 0 };
}

/**
 * Returns the longest end of the range that fits. `from` must be at the start of a character and `to` at the end of
 * one.
 */
export function fitEnd(bytes: Uint8Array, from: number, to: number, room: PageRoom): Fitted {
  const step = newStep();
  let chars = 0;
  let breaks = 0;
  for (let at = from; at < to; at += step.length) {
    readStep(bytes, at, to, step);
    chars += step.chars;
    if (step.isBreak) breaks++;
  }
  const openLine = to > from && bytes[to - 1] !== 10 ? 1 : 0;
  let at = from;
  let isLineStart = true;
  for (; at < to && (chars > room.maxChars || breaks + openLine > room.maxLines); at += step.length) {
    readStep(bytes, at, to, step);
    chars -= step.chars;
    if (step.isBreak) breaks--;
    isLineStart = step.isBreak;
  }
  const cut = { from: at, to, lines: breaks + openLine };
  if (isLineStart || at >= to) return cut;
  // The cut is inside a line. If a later line begins, the rest of this line is given up.
  for (let next = at; next < to; next += step.length) {
    readStep(bytes, next, to, step);
    if (step.isBreak && next + step.length < to) return { from: next + step.length, to, lines: cut.lines - 1 };
  }
  return cut;
}

/**
 * Returns the first border between characters at or after `at`. Looks at a few bytes only, so the result is the same
 * wherever the reading began: only bytes of the form 10xxxxxx continue a character, and at most three of them.
 */
export function characterBorder(bytes: Uint8Array, at: number): number {
  if (at <= 0 || at >= bytes.length || !continues(bytes[at])) return at;
  let lead = at - 1;
  while (lead > 0 && lead > at - 3 && continues(bytes[lead])) lead--;
  const step = newStep();
  readStep(bytes, lead, bytes.length, step);
  return Math.max(at, lead + step.length);
}

function continues(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
