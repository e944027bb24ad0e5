/** Collects in one piece what redaction released of one chunk. The same memory is used for every chunk. */
export class CertainBytes {
  #buffer = new Uint8Array(0);
  #length = 0;
  #chunk: Uint8Array | null = null;
  #isWhole = false;

  /** Sets the chunk that is read next. If all of it is released unchanged, it is not copied. */
  begin(chunk: Uint8Array): void {
    this.#chunk = chunk;
  }

  /** Adds bytes that are valid only during the call, unless they are the chunk itself. */
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

  /** Returns everything that was released. It is valid until the next chunk begins. */
  take(): Uint8Array {
    const taken = this.#isWhole && this.#chunk !== null ? this.#chunk : this.#buffer.subarray(0, this.#length);
    this.#length = 0;
    this.#chunk = null;
    this.#isWhole = false;
    return taken;
  }
}
