import { BYTE_CLASS, PLAIN } from "./byte-class.ts";

/** Finds the next byte of a chunk that is not plain text, four bytes at a time: this is where most of the time goes. */
export class ByteFinder {
  private bytes: Uint8Array = new Uint8Array(0);
  private words: Uint32Array = new Uint32Array(0);
  /** Where in `bytes` the first word begins: words lie at multiples of four in the buffer. */
  private wordStart = 0;
  private wordEnd = 0;

  begin(bytes: Uint8Array): void {
    this.bytes = bytes;
    this.wordStart = -bytes.byteOffset & 3;
    const count = Math.max(0, bytes.length - this.wordStart) >> 2;
    this.words = count > 0 ? new Uint32Array(bytes.buffer, bytes.byteOffset + this.wordStart, count) : NO_WORDS;
    this.wordEnd = this.wordStart + 4 * count;
  }

  /** The place of the first byte from `start` on that is not PLAIN; the chunk's length if there is none. */
  next(start: number): number {
    const { bytes, words, wordStart, wordEnd } = this;
    const end = bytes.length;
    let at = start;
    for (;;) {
      while (at < end && (at < wordStart || ((at - wordStart) & 3) !== 0 || at >= wordEnd)) {
        if (BYTE_CLASS[bytes[at]!] !== PLAIN) return at;
        at++;
      }
      if (at === end) return end;
      let word = (at - wordStart) >> 2;
      const last = words.length;
      // Not zero if one of the four bytes is under 0x20: the subtraction borrows from its high bit.
      while (word < last && ((words[word]! - 0x20202020) & ~words[word]! & 0x80808080) === 0) word++;
      at = wordStart + 4 * word;
      if (word === last) continue;
      if (BYTE_CLASS[bytes[at]!] !== PLAIN) return at;
      if (BYTE_CLASS[bytes[at + 1]!] !== PLAIN) return at + 1;
      if (BYTE_CLASS[bytes[at + 2]!] !== PLAIN) return at + 2;
      if (BYTE_CLASS[bytes[at + 3]!] !== PLAIN) return at + 3;
      at += 4;
    }
  }
}

const NO_WORDS = new Uint32Array(0);
