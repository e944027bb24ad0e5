/** The end of what came so far that is not decided yet; grows by appending, so that small chunks cost little. */
export class Tail {
  private buffer = new Uint8Array(0);
  private from = 0;
  private to = 0;

  /** What was kept, with the next bytes after it. The bytes themselves, not a copy, if nothing was kept. */
  join(bytes: Uint8Array): Uint8Array {
    const kept = this.to - this.from;
    if (kept === 0) return bytes;
    if (this.to + bytes.length > this.buffer.length) {
      const needed = kept + bytes.length;
      const target = needed * 2 > this.buffer.length ? new Uint8Array(needed * 2) : this.buffer;
      target.set(this.buffer.subarray(this.from, this.to));
      this.buffer = target;
      this.from = 0;
      this.to = kept;
    }
    this.buffer.set(bytes, this.to);
    this.to += bytes.length;
    return this.buffer.subarray(this.from, this.to);
  }

  /** Keeps what follows the first `decided` bytes of what `join` gave last. */
  keep(joined: Uint8Array, decided: number): void {
    if (joined.buffer === this.buffer.buffer && this.to > this.from) {
      this.from += decided;
      if (this.from === this.to) this.from = this.to = 0;
      return;
    }
    const rest = joined.length - decided;
    if (rest === 0) return;
    if (rest > this.buffer.length) this.buffer = new Uint8Array(rest * 2);
    this.buffer.set(joined.subarray(decided));
    this.from = 0;
    this.to = rest;
  }
}
