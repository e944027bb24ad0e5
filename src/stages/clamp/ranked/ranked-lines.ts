import type { SourceLine } from "./line-splitter.ts";

/** A line that may be shown. */
export interface HeldLine extends SourceLine {
  bytes: Uint8Array;
  /** The record it is part of has begun before it, or goes on after it. */
  continues?: boolean;
  goesOn?: boolean;
  /** A call is after it. */
  isWanted?: boolean;
}

/** Holds lines of one rank in bounded memory. */
export interface LineHolder {
  /** The line's bytes are only valid during the call: what is held is a `copyOf` it. */
  add(line: HeldLine): void;
  /** In source order. */
  lines(): HeldLine[];
}

/** What one line costs to hold, beyond its bytes. */
const LINE_BYTES = 64;

/** What a line costs to hold. */
export function lineCost(line: HeldLine): number {
  return line.bytes.length + LINE_BYTES;
}

/** A line that outlives the chunk it came in. */
export function copyOf(line: HeldLine): HeldLine {
  return { ...line, bytes: new Uint8Array(line.bytes) };
}

/** Of what a rank holds, its first lines. */
const FIRST_SHARE = 0.6;

/** Lines of one rank: the first and the last of them, up to about `mostBytes`. */
export class RankedLines implements LineHolder {
  readonly #mostFirst: number;
  readonly #mostLast: number;
  readonly #first: HeldLine[] = [];
  #last: HeldLine[] = [];
  #gone = 0;
  #firstBytes = 0;
  #lastBytes = 0;

  constructor(mostBytes: number) {
    this.#mostFirst = mostBytes * FIRST_SHARE;
    this.#mostLast = mostBytes - this.#mostFirst;
  }

  add(line: HeldLine): void {
    const cost = lineCost(line);
    const held = copyOf(line);
    if (this.#last.length === 0 && this.#firstBytes + cost <= this.#mostFirst) {
      this.#first.push(held);
      this.#firstBytes += cost;
      return;
    }
    this.#last.push(held);
    this.#lastBytes += cost;
    while (this.#lastBytes > this.#mostLast && this.#gone < this.#last.length - 1) {
      this.#lastBytes -= lineCost(this.#last[this.#gone++] as HeldLine);
    }
    if (this.#gone > 1024) {
      this.#last = this.#last.slice(this.#gone);
      this.#gone = 0;
    }
  }

  lines(): HeldLine[] {
    return [...this.#first, ...this.#last.slice(this.#gone)];
  }
}
