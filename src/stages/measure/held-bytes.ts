/** Bytes that are gathered piece by piece, in memory that grows by doubling. */
export class GrowingBytes {
  length = 0;
  #memory = new Uint8Array(0);

  /** All of them; valid until the next call that changes them. */
  get bytes(): Uint8Array {
    return this.#memory.subarray(0, this.length);
  }

  /** Copies bytes[from, to) to the end. */
  add(bytes: Uint8Array, from = 0, to: number = bytes.length): void {
    const length = this.length + to - from;
    if (length > this.#memory.length) {
      const larger = new Uint8Array(Math.max(length, this.#memory.length * 2));
      larger.set(this.bytes);
      this.#memory = larger;
    }
    // A view costs more than a short copy.
    this.#memory.set(to - from === bytes.length ? bytes : bytes.subarray(from, to), this.length);
    this.length = length;
  }

  /** Forgets the first `count` bytes. */
  drop(count: number): void {
    this.#memory.copyWithin(0, count, this.length);
    this.length -= count;
  }

  clear(): void {
    this.length = 0;
  }
}

/** Holds the last `most` of the bytes that came, in at most four times that memory. */
export class LastBytes {
  readonly #most: number;
  readonly #held = new GrowingBytes();
  /** How many came before those in memory. */
  #before = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** How many bytes came before the first that is held. */
  get at(): number {
    return this.#before + Math.max(0, this.#held.length - this.#most);
  }

  /** Those that are held; valid until the next call. */
  get bytes(): Uint8Array {
    return this.#held.bytes.subarray(Math.max(0, this.#held.length - this.#most));
  }

  add(bytes: Uint8Array): void {
    const skipped = Math.max(0, bytes.length - this.#most);
    if (skipped > 0 || this.#held.length + bytes.length > 2 * this.#most) {
      // Moves seldom: only once as many bytes again have come.
      const gone = skipped > 0 ? this.#held.length : Math.max(0, this.#held.length - this.#most);
      this.#held.drop(gone);
      this.#before += gone + skipped;
    }
    this.#held.add(skipped > 0 ? bytes.subarray(skipped) : bytes);
  }

  clear(): void {
    this.#held.clear();
    this.#before = 0;
  }
}
