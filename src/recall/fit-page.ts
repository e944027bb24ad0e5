import { readStep, type Step } from "../stages/clamp/boundary.ts";

/** What a page may hold. */
export interface PageRoom {
  maxChars: number;
  maxLines: number;
}

/** A stretch that fits, on characters' borders; where it had to be cut, on lines' borders if there is one. */
export interface Fitted {
  from: number;
  to: number;
  /** Lines of which something is in it. */
  lines: number;
}

/** No character takes more bytes for a UTF-16 unit; some more, so that the last one read is whole. */
export function bytesFor(room: PageRoom): number {
  return 3 * room.maxChars + 8;
}

/** The longest start of `bytes` from `from` to `to` that fits. `from` begins a character. */
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

/** The longest end of `bytes` from `from` to `to` that fits. `from` begins a character, `to` ends one. */
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
  // Inside a line: give the rest of it up if a later line begins.
  for (let next = at; next < to; next += step.length) {
    readStep(bytes, next, to, step);
    if (step.isBreak && next + step.length < to) return { from: next + step.length, to, lines: cut.lines - 1 };
  }
  return cut;
}

/**
 * The first border of a character at or after `at`. Local, so the same wherever a text is read from: only bytes of the form
 * 10xxxxxx continue a character, and of those at most three.
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

function newStep(): Step {
  return { length: 0, bytes: 0, chars: 0, isBreak: false };
}
