import type { Span } from "../../../contract/span.ts";
import { GrowingBytes } from "../../measure/held-bytes.ts";
import { ENDS_INSIDE, SOURCE, STARTS_INSIDE } from "./unit-store.ts";

/** Longer lines come in parts: none of them is held whole. */
export const MAX_UNIT_BYTES = 8192;

/** A line with its break, or a part of a long one: bytes[start, end). */
export interface Line {
  bytes: Uint8Array;
  start: number;
  end: number;
  /** SOURCE, REWRITTEN or one of the notes. */
  kind: number;
  /** Its source range in bytes, the source line it begins in, and the source's line breaks in it. */
  from: number;
  to: number;
  line: number;
  breaks: number;
  /** Its source characters; -1 if they are not counted yet. */
  chars: number;
  /** STARTS_INSIDE and ENDS_INSIDE, where these are true of it. */
  inside: number;
}

/** Takes a line. Its bytes are only valid during the call. */
export type TakeLine = (line: Line) => void;

/** Takes as many whole lines of a span as it likes, from `start` on, which is in line `line`. Returns where they end, and how many. */
export type TakeRun = (span: Span, start: number, line: number) => { end: number; breaks: number };

/** Makes lines out of source bytes that come in any pieces. */
export class LineReader {
  readonly #take: TakeLine;
  readonly #takeRun: TakeRun;
  /** Offer runs of lines to `takeRun` first. */
  skims = false;
  readonly #carry = new GrowingBytes();
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
      if (this.skims && this.#carry.length === 0 && !this.#startsInside) {
        const run = this.#takeRun(span, at, number);
        at = run.end;
        number += run.breaks;
        if (at === bytes.length) return;
      }
      const next = bytes.indexOf(10, at);
      const end = next === -1 ? bytes.length : next + 1;
      if (next !== -1 && this.#carry.length === 0 && end - at <= MAX_UNIT_BYTES) {
        // Nearly every line: whole, in one piece.
        this.#give(bytes, at, end, from + at, number++);
        this.#startsInside = false;
        at = end;
        continue;
      }
      at = this.#piece(bytes, at, end, from + at, number);
      if (next !== -1) number++;
    }
  }

  /** Hands on what has no break behind it. */
  flush(): void {
    const { bytes, length } = this.#carry;
    if (length === 0) return;
    this.#carry.clear();
    this.#give(bytes, 0, length, this.#from, this.#line);
    this.#startsInside = true;
  }

  /** A break came in another way: the next byte begins a line. */
  begin(): void {
    this.#startsInside = false;
  }

  #give(bytes: Uint8Array, start: number, end: number, from: number, line: number): void {
    const breaks = bytes[end - 1] === 10 ? 1 : 0;
    const inside = (this.#startsInside ? STARTS_INSIDE : 0) | (breaks === 1 ? 0 : ENDS_INSIDE);
    const to = from + end - start;
    this.#take({ bytes, start, end, kind: SOURCE, from, to, line, breaks, chars: -1, inside });
  }

  /** Hands on bytes[start, end), the start or the whole of a line, in parts that are short enough; holds what has no break. */
  #piece(bytes: Uint8Array, start: number, end: number, from: number, line: number): number {
    const isEnded = bytes[end - 1] === 10;
    let at = start;
    while (at < end) {
      if (this.#carry.length > 0) {
        const to = Math.min(end, at + MAX_UNIT_BYTES - this.#carry.length);
        this.#carry.add(bytes.subarray(at, to));
        at = to;
        if (at < end || isEnded) this.#cutCarry(at === end);
        continue;
      }
      const isLast = end - at <= MAX_UNIT_BYTES;
      if (isLast && !isEnded) {
        this.#from = from + at - start;
        this.#line = line;
        this.#carry.add(bytes.subarray(at, end));
        return end;
      }
      const to = isLast ? end : beforeCharacter(bytes, at + MAX_UNIT_BYTES);
      this.#give(bytes, at, to, from + at - start, line);
      this.#startsInside = !isLast;
      at = to;
    }
    return end;
  }

  /** Hands on what was carried; a character that is cut in two stays. */
  #cutCarry(isWhole: boolean): void {
    const { bytes, length } = this.#carry;
    const to = isWhole ? length : beforeCharacter(bytes, length);
    this.#give(bytes, 0, to, this.#from, this.#line);
    this.#startsInside = !isWhole;
    this.#carry.drop(to);
    this.#from += to;
  }
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

/** A line, or a part of one, that is held; or a run of whole source lines, which are told apart when they are asked for. */
interface Segment {
  at: number;
  length: number;
  isRun: boolean;
  /** The line without its bytes. Of a run it is the last one, and `line` is the line after it. */
  about: About;
}

type About = Omit<Line, "bytes" | "start" | "end">;

/** The newest lines that were not judged: needed as surroundings of the next that is, and at the end. */
export class SkippedLines {
  readonly #mostBytes: number;
  #bytes = new Uint8Array(0);
  #length = 0;
  #segments: Segment[] = [];

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** Holds a line and lets go of the oldest. If the line is too long by itself, nothing is held. */
  add({ bytes, start, end, kind, from, to, line, breaks, chars, inside }: Line): void {
    if (end - start > this.#mostBytes) this.clear();
    else this.#hold(bytes, start, end, false, { kind, from, to, line, breaks, chars, inside });
  }

  /** Holds the last of a run of whole lines: the span's bytes [start, end). Line `line` comes after it. */
  addRun({ bytes, from }: Span, start: number, end: number, line: number): void {
    const first = end - start > this.#mostBytes ? bytes.indexOf(10, end - this.#mostBytes - 1) + 1 : start;
    // Nothing older is held once a line is missing in between.
    if (first > start) this.clear();
    const about = { kind: SOURCE, from: from + first, to: from + end, line, breaks: 1, chars: -1, inside: 0 };
    this.#hold(bytes, first, end, true, about);
  }

  /** The newest lines, oldest first: at most `most` of them, and no more bytes than are held whatever came before. */
  newest(most: number): Line[] {
    const lines: Line[] = [];
    let left = this.#mostBytes;
    for (let index = this.#segments.length - 1; index >= 0; index--) {
      const { at, length, isRun, about } = this.#segments[index] as Segment;
      let { to, line } = about;
      for (let end = at + length; end > at; ) {
        const start = isRun && end - at > 1 ? Math.max(at, this.#bytes.lastIndexOf(10, end - 2) + 1) : at;
        left -= end - start;
        if (left < 0 || lines.length === most) return lines.reverse();
        if (isRun) line--;
        const { kind, breaks, chars, inside } = about;
        const from = isRun ? to - (end - start) : about.from;
        lines.push({ bytes: this.#bytes, start, end, kind, from, to, line, breaks, chars, inside });
        to -= end - start;
        end = start;
      }
    }
    return lines.reverse();
  }

  clear(): void {
    this.#segments = [];
    this.#length = 0;
  }

  #hold(bytes: Uint8Array, start: number, end: number, isRun: boolean, about: About): void {
    const length = end - start;
    if (this.#bytes.length === 0) this.#bytes = new Uint8Array(3 * this.#mostBytes);
    if (this.#length + length > this.#bytes.length) this.#tidy(length);
    this.#bytes.set(bytes.subarray(start, end), this.#length);
    this.#segments.push({ at: this.#length, length, isRun, about });
    this.#length += length;
  }

  /** Makes room for `length` bytes: lets go of what is too old, the rest moves to the front. */
  #tidy(length: number): void {
    let first = this.#segments.length;
    for (let held = length; first > 0 && held < this.#mostBytes; ) held += (this.#segments[--first] as Segment).length;
    const from = first < this.#segments.length ? (this.#segments[first] as Segment).at : this.#length;
    this.#bytes.copyWithin(0, from, this.#length);
    this.#length -= from;
    this.#segments = this.#segments.slice(first);
    for (const segment of this.#segments) segment.at -= from;
  }
}
