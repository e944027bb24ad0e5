import type { Span } from "../../../contract/span.ts";

/** Longer lines come in parts: none of them is held whole. */
export const MAX_UNIT_BYTES = 8192;

/** Takes bytes[start, end): a line with its break, or a part of a long one. `line` is the source line it begins in. */
export type TakeLine = (
  bytes: Uint8Array,
  start: number,
  end: number,
  from: number,
  line: number,
  startsInside: boolean,
) => void;

/** Takes as many whole lines of a span from `start` on, which is in line `line`, as it likes: where they end, and how many. */
export type TakeRun = (span: Span, start: number, line: number) => { end: number; breaks: number };

/** Makes lines out of source bytes that come in any pieces. */
export class LineReader {
  readonly #take: TakeLine;
  readonly #takeRun: TakeRun;
  /** Runs of lines are offered first. */
  skims = false;
  #carry = new Uint8Array(256);
  #length = 0;
  #from = 0;
  #line = 1;
  #startsInside = false;

  constructor(take: TakeLine, takeRun: TakeRun) {
    this.#take = take;
    this.#takeRun = takeRun;
  }

  add(span: Span): void {
    const { bytes: source, from, line } = span;
    // A Buffer's own methods are slower, and these are called for every line.
    const bytes =
      source.constructor === Uint8Array ? source : new Uint8Array(source.buffer, source.byteOffset, source.length);
    let at = 0;
    let number = line;
    while (at < bytes.length) {
      if (this.skims && this.#length === 0 && !this.#startsInside) {
        const run = this.#takeRun(span, at, number);
        at = run.end;
        number += run.breaks;
        if (at === bytes.length) return;
      }
      const next = nextBreak(bytes, at);
      const end = next === -1 ? bytes.length : next + 1;
      if (next !== -1 && this.#length === 0 && end - at <= MAX_UNIT_BYTES) {
        // Nearly every line: whole, in one piece.
        this.#take(bytes, at, end, from + at, number++, this.#startsInside);
        this.#startsInside = false;
        at = end;
        continue;
      }
      at = this.#piece(bytes, at, end, next !== -1, from + at, number);
      if (next !== -1) number++;
    }
  }

  /** Hands on what has no break behind it. */
  flush(): void {
    if (this.#length === 0) return;
    const length = this.#length;
    this.#length = 0;
    this.#take(this.#carry, 0, length, this.#from, this.#line, this.#startsInside);
    this.#startsInside = true;
  }

  /** A break came in another way: the next byte begins a line. */
  begin(): void {
    this.#startsInside = false;
  }

  #piece(bytes: Uint8Array, start: number, end: number, isEnded: boolean, from: number, line: number): number {
    let at = start;
    while (at < end) {
      if (this.#length > 0) {
        at += this.#hold(bytes.subarray(at, Math.min(end, at + MAX_UNIT_BYTES - this.#length)));
        if (at < end || isEnded) this.#cutCarry(at === end);
        continue;
      }
      const isLast = end - at <= MAX_UNIT_BYTES;
      if (isLast && !isEnded) {
        this.#from = from + at - start;
        this.#line = line;
        at += this.#hold(bytes.subarray(at, end));
        continue;
      }
      const to = isLast ? end : beforeCharacter(bytes, at + MAX_UNIT_BYTES);
      this.#take(bytes, at, to, from + at - start, line, this.#startsInside);
      this.#startsInside = !isLast;
      at = to;
    }
    return end;
  }

  /** Hands on what was carried; a character that is cut in two stays. */
  #cutCarry(isWhole: boolean): void {
    const length = this.#length;
    const to = isWhole ? length : beforeCharacter(this.#carry, length);
    this.#take(this.#carry, 0, to, this.#from, this.#line, this.#startsInside);
    this.#startsInside = !isWhole;
    this.#carry.copyWithin(0, to, length);
    this.#length = length - to;
    this.#from += to;
  }

  #hold(bytes: Uint8Array): number {
    const needed = this.#length + bytes.length;
    if (needed > this.#carry.length) {
      const larger = new Uint8Array(Math.max(needed, Math.min(MAX_UNIT_BYTES, this.#carry.length * 2)));
      larger.set(this.#carry.subarray(0, this.#length));
      this.#carry = larger;
    }
    this.#carry.set(bytes, this.#length);
    this.#length = needed;
    return bytes.length;
  }
}

/** Where the next line break is, or -1. Most lines are so short that a loop is faster than a call. */
function nextBreak(bytes: Uint8Array, from: number): number {
  const near = Math.min(bytes.length, from + 128);
  for (let at = from; at < near; at++) if (bytes[at] === 10) return at;
  return bytes.indexOf(10, near);
}

/** The last place up to `to` that is neither inside a character nor between \r and \n, told from what stands before it. */
function beforeCharacter(bytes: Uint8Array, to: number): number {
  for (let back = 1; back < 4; back++) {
    const byte = bytes[to - back] as number;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte < 0xc0 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    return back < length || byte === 13 ? to - back : to;
  }
  return to;
}
