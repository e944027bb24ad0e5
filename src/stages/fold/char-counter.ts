/** Counts the UTF-16 units that bytes decode to, an invalid sequence counting as one U+FFFD, as TextDecoder does. */
export class CharCounter {
  private chars = 0;
  /** Continuation bytes still missing, and the range the next one must be in. */
  private missing = 0;
  private low = 0x80;
  private high = 0xbf;
  private units = 1;

  add(bytes: Uint8Array, start: number, end: number): void {
    let at = start;
    while (at < end) {
      if (this.missing === 0) {
        const plainFrom = at;
        while (at + 4 <= end && (bytes[at]! | bytes[at + 1]! | bytes[at + 2]! | bytes[at + 3]!) < 0x80) at += 4;
        while (at < end && bytes[at]! < 0x80) at++;
        this.chars += at - plainFrom;
        if (at < end) this.lead(bytes[at++]!);
        continue;
      }
      const byte = bytes[at]!;
      if (byte < this.low || byte > this.high) {
        this.missing = 0;
        this.chars++;
        continue;
      }
      this.low = 0x80;
      this.high = 0xbf;
      if (--this.missing === 0) this.chars += this.units;
      at++;
    }
  }

  /** The count so far, with a sequence cut short at the end; begins anew. */
  end(): number {
    const chars = this.chars + (this.missing > 0 ? 1 : 0);
    this.chars = 0;
    this.missing = 0;
    return chars;
  }

  private lead(byte: number): void {
    this.units = 1;
    this.low = 0x80;
    this.high = 0xbf;
    if (byte >= 0xc2 && byte <= 0xdf) {
      this.missing = 1;
    } else if (byte >= 0xe0 && byte <= 0xef) {
      this.missing = 2;
      if (byte === 0xe0) this.low = 0xa0;
      if (byte === 0xed) this.high = 0x9f;
    } else if (byte >= 0xf0 && byte <= 0xf4) {
      this.missing = 3;
      this.units = 2;
      if (byte === 0xf0) this.low = 0x90;
      if (byte === 0xf4) this.high = 0x8f;
    } else {
      this.chars++;
    }
  }
}
