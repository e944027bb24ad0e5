import { UNJUDGED } from "./judge-shape.ts";

/** One line as it would be shown, with where it comes from. Its bytes may lie in a chunk until `hold` copies them. */
export class HeldLine {
  bytes: Uint8Array = EMPTY;
  start = 0;
  /** With the line break. */
  end = 0;
  from = 0;
  to = 0;
  number = 0;
  /** The bytes are not exactly the source's. */
  rewritten = false;
  /** UTF-16 units in the source range; -1: not counted yet. */
  chars = -1;
  /** Identical to the line before it. */
  repeats = false;
  /** What may happen to lines of its shape, if known. */
  verdict: number = UNJUDGED;
  private own: Uint8Array = EMPTY;

  set(bytes: Uint8Array, start: number, end: number, from: number, to: number, number: number): void {
    this.bytes = bytes;
    this.start = start;
    this.end = end;
    this.from = from;
    this.to = to;
    this.number = number;
    this.rewritten = false;
    this.chars = -1;
    this.repeats = false;
    this.verdict = UNJUDGED;
  }

  get size(): number {
    return this.end - this.start;
  }

  get hasBreak(): boolean {
    return this.end > this.start && this.bytes[this.end - 1] === 0x0a;
  }

  /** The end without the line feed. */
  get textEnd(): number {
    return this.hasBreak ? this.end - 1 : this.end;
  }

  /** The bytes without the line feed. */
  get text(): Uint8Array {
    return this.bytes.subarray(this.start, this.textEnd);
  }

  /** A buffer of its own with room for `size` bytes. */
  room(size: number): Uint8Array {
    if (this.own.length < size || this.own.length > 4 * KEPT_BUFFER_BYTES + size) {
      this.own = new Uint8Array(Math.max(size, KEPT_BUFFER_BYTES));
    }
    return this.own;
  }

  /** Makes the bytes its own: the buffer they lie in will be used for something else. */
  hold(): void {
    if (this.bytes === this.own) return;
    const { bytes, start, size } = this;
    const own = this.room(size);
    // A loop is faster than a view and a call for lines of ordinary length.
    if (size > 256) own.set(bytes.subarray(start, this.end));
    else for (let at = 0; at < size; at++) own[at] = bytes[start + at]!;
    this.bytes = own;
    this.start = 0;
    this.end = size;
  }
}

const EMPTY = new Uint8Array(0);
const KEPT_BUFFER_BYTES = 256;
