import { BYTE_CLASS, PLAIN } from "./byte-class.ts";

/** How much is looked through at once: the places found must stay few. Little at first, since often only the next one is asked for. */
const FIRST_BLOCK_BYTES = 256;
const BLOCK_BYTES = 16_384;

/** Finds the bytes of a chunk that are not plain text: a block at a time, four bytes at a time where there are none. */
export class StopFinder {
  private bytes: Uint8Array = new Uint8Array(0);
  private words: Int32Array = NO_WORDS;
  /** Where in `bytes` the first word begins: words lie at multiples of four in the buffer. */
  private wordStart = 0;
  private readonly stops = new Int32Array(BLOCK_BYTES);
  private count = 0;
  private index = 0;
  private searched = 0;
  private blockBytes = FIRST_BLOCK_BYTES;

  begin(bytes: Uint8Array): void {
    this.bytes = bytes;
    this.wordStart = -bytes.byteOffset & 3;
    const count = Math.max(0, bytes.length - this.wordStart) >> 2;
    this.words = count > 0 ? new Int32Array(bytes.buffer, bytes.byteOffset + this.wordStart, count) : NO_WORDS;
    this.count = 0;
    this.index = 0;
    this.searched = 0;
    this.blockBytes = FIRST_BLOCK_BYTES;
  }

  /** The place of the first byte from `start` on that is not PLAIN; the chunk's length if there is none. Never goes back. */
  next(start: number): number {
    for (;;) {
      while (this.index < this.count) {
        const stop = this.stops[this.index]!;
        if (stop >= start) return stop;
        this.index++;
      }
      if (this.searched < start) {
        this.searched = start;
        this.blockBytes = FIRST_BLOCK_BYTES;
      }
      if (this.searched >= this.bytes.length) return this.bytes.length;
      this.search();
    }
  }

  private search(): void {
    const { bytes, words, stops, wordStart } = this;
    const isStop = IS_STOP;
    const end = Math.min(bytes.length, this.searched + this.blockBytes);
    this.blockBytes = Math.min(BLOCK_BYTES, this.blockBytes * 2);
    let at = this.searched;
    let count = 0;
    // Each place is written, and kept by counting on: a branch that guesses wrong costs more than the writing.
    for (; at < end && ((at - wordStart) & 3) !== 0; at++) {
      stops[count] = at;
      count += isStop[bytes[at]!]!;
    }
    const wordEnd = (end - wordStart) >> 2;
    for (let word = (at - wordStart) >> 2; word < wordEnd; word++) {
      const four = words[word]!;
      // Zero if no byte of the four is under 0x20: the subtraction would borrow from its high bit.
      if (((four - 0x20202020) & ~four & 0x80808080) === 0) continue;
      at = wordStart + 4 * word;
      stops[count] = at;
      count += isStop[bytes[at]!]!;
      stops[count] = at + 1;
      count += isStop[bytes[at + 1]!]!;
      stops[count] = at + 2;
      count += isStop[bytes[at + 2]!]!;
      stops[count] = at + 3;
      count += isStop[bytes[at + 3]!]!;
    }
    for (at = Math.max(at, wordStart + 4 * wordEnd); at < end; at++) {
      stops[count] = at;
      count += isStop[bytes[at]!]!;
    }
    this.index = 0;
    this.count = count;
    this.searched = end;
  }
}

const IS_STOP: Uint8Array = BYTE_CLASS.map((each) => (each === PLAIN ? 0 : 1));
const NO_WORDS = new Int32Array(0);
