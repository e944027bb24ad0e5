/** Counts the UTF-16 units that bytes decode to, cut anywhere, an invalid sequence counting as one U+FFFD. */
export class CharCounter {
  private chars = 0;
  private readonly decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  /** The decoder may hold the start of a character. */
  private decoding = false;

  add(bytes: Uint8Array): void {
    if (!this.decoding && isAscii(bytes)) {
      this.chars += bytes.length;
    } else {
      this.chars += this.decoder.decode(bytes, { stream: true }).length;
      this.decoding = true;
    }
  }

  /** Returns the count so far, with a sequence that was cut short at the end, and begins anew. */
  end(): number {
    const chars = this.chars + (this.decoding ? this.decoder.decode().length : 0);
    this.chars = 0;
    this.decoding = false;
    return chars;
  }
}

function isAscii(bytes: Uint8Array): boolean {
  let all = 0;
  for (let at = 0; at < bytes.length; at++) all |= bytes[at]!;
  return all < 0x80;
}
