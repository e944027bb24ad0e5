import type { SourceLine } from "./line-splitter.ts";

/** A line that may be shown. */
export interface HeldLine extends SourceLine {
  bytes: Uint8Array;
}

/** What one line costs to hold, beyond its bytes. */
const LINE_BYTES = 64;
/** Of what a rank holds, its first lines. */
const FIRST_SHARE = 0.6;

/** Lines of one rank: the first and the last of them, up to about `mostBytes`. */
export class RankedLines {
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

  /** Copies the line's bytes. */
  add(line: HeldLine): void {
    const cost = line.bytes.length + LINE_BYTES;
    const held = { ...line, bytes: line.bytes.slice() };
    if (this.#last.length === 0 && this.#firstBytes + cost <= this.#mostFirst) {
      this.#first.push(held);
      this.#firstBytes += cost;
      return;
    }
    this.#last.push(held);
    this.#lastBytes += cost;
    while (this.#lastBytes > this.#mostLast && this.#gone < this.#last.length - 1) {
      this.#lastBytes -= (this.#last[this.#gone++] as HeldLine).bytes.length + LINE_BYTES;
    }
    if (this.#gone > 1024) {
      this.#last = this.#last.slice(this.#gone);
      this.#gone = 0;
    }
  }

  /** In source order. */
  lines(): HeldLine[] {
    return [...this.#first, ...this.#last.slice(this.#gone)];
  }
}
