import { CharCounter } from "./char-counter.ts";

/** Nobody has asked yet what may happen to lines of a shape. */
export const UNJUDGED = 0;

/** One line as it would be shown, with where it comes from. */
export class Line {
  bytes: Uint8Array = NO_BYTES;
  start = 0;
  /** The end of the text: the line feed, if there is one, stands here. */
  end = 0;
  /** 1 if the line ends in a line feed, 0 if it is the source's last. */
  breaks = 0;
  /** The source range, and the number of the line there. */
  from = 0;
  to = 0;
  number = 0;
  /** UTF-16 units in the source range, if the bytes are not exactly the source's; else -1. */
  rewrittenChars = -1;
  /** True if the line is identical to the one before it. */
  repeats = false;
  /** What may happen to lines of its shape, if known. */
  verdict: number = UNJUDGED;

  /** The text and its line feed. */
  get shown(): Uint8Array {
    return this.bytes.subarray(this.start, this.end + this.breaks);
  }

  get size(): number {
    return this.end + this.breaks - this.start;
  }

  get chars(): number {
    if (this.rewrittenChars >= 0) return this.rewrittenChars;
    counter.add(this.shown);
    return counter.end();
  }

  get text(): string {
    return decoder.decode(this.bytes.subarray(this.start, this.end));
  }

  /** Makes the bytes its own if they lie in `chunk`, which will be used for something else. */
  leave(chunk: Uint8Array): void {
    if (this.bytes !== chunk) return;
    this.bytes = new Uint8Array(this.shown);
    this.end -= this.start;
    this.start = 0;
  }
}

const NO_BYTES = new Uint8Array(0);
const counter = new CharCounter();
const decoder = new TextDecoder();
