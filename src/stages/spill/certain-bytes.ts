/** What redaction let go of one chunk, in one piece. The same memory serves chunk after chunk. */
export class CertainBytes {
  #buffer = new Uint8Array(0);
  #length = 0;
  #chunk: Uint8Array | null = null;
  #isWhole = false;

  /** The chunk that is looked at next: it needs no copy where all of it is let go as it is. */
  begin(chunk: Uint8Array): void {
    this.#chunk = chunk;
  }

  /** The bytes are only valid during the call, unless they are the chunk itself. */
  add(bytes: Uint8Array): void {
    if (bytes === this.#chunk && this.#length === 0) this.#isWhole = true;
    else this.#append(bytes);
  }

  #append(bytes: Uint8Array): void {
    if (this.#isWhole && this.#chunk !== null) {
      this.#isWhole = false;
      this.#append(this.#chunk);
    }
    const length = this.#length + bytes.length;
    if (length > this.#buffer.length) {
      const grown = new Uint8Array(length * 2);
      grown.set(this.#buffer.subarray(0, this.#length));
      this.#buffer = grown;
    }
    this.#buffer.set(bytes, this.#length);
    this.#length = length;
  }

  /** All that was let go; valid until the next chunk begins. */
  take(): Uint8Array {
    const taken = this.#isWhole && this.#chunk !== null ? this.#chunk : this.#buffer.subarray(0, this.#length);
    this.#length = 0;
    this.#chunk = null;
    this.#isWhole = false;
    return taken;
  }
}
