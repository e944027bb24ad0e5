/** Bytes of a token that is being read: whole up to twice `most`, beyond that its two ends. */
export class JsonToken {
  from = 0;
  line = 1;
  length = 0;
  readonly #most: number;
  #head = new Uint8Array(64);
  #headLength = 0;
  #tail = new Uint8Array(0);
  #tailLength = 0;

  /** `most` is what is held of either end. */
  constructor(most: number) {
    this.#most = most;
  }

  start(from: number, line: number): void {
    this.from = from;
    this.line = line;
    this.length = 0;
    this.#headLength = 0;
    this.#tailLength = 0;
  }

  add(bytes: Uint8Array, from: number, to: number): void {
    this.length += to - from;
    const room = Math.min(to - from, this.#most - this.#headLength);
    if (room > 0) {
      this.#head = grown(this.#head, this.#headLength + room);
      for (let at = 0; at < room; at++) this.#head[this.#headLength + at] = bytes[from + at] as number;
      this.#headLength += room;
    }
    if (from + room < to) this.#addTail(bytes.subarray(from + Math.max(0, room), to));
  }

  /** All of it, or null if not all is held. */
  whole(): Uint8Array | null {
    if (this.length > this.#most * 2) return null;
    if (this.length <= this.#headLength) return this.#head.slice(0, this.length);
    const bytes = new Uint8Array(this.length);
    bytes.set(this.#head.subarray(0, this.#headLength));
    bytes.set(this.#tail.subarray(0, this.#tailLength), this.#headLength);
    return bytes;
  }

  /** Its first bytes, and its last that are not among them. */
  ends(): { head: Uint8Array; tail: Uint8Array } {
    const tail = this.#tail.subarray(Math.max(0, this.#tailLength - this.#most), this.#tailLength);
    return { head: this.#head.slice(0, this.#headLength), tail: tail.slice() };
  }

  #addTail(bytes: Uint8Array): void {
    const most = this.#most;
    const kept = bytes.length > most ? bytes.subarray(bytes.length - most) : bytes;
    if (this.#tailLength + kept.length > most * 2) {
      this.#tail.copyWithin(0, this.#tailLength - most, this.#tailLength);
      this.#tailLength = most;
    }
    this.#tail = grown(this.#tail, this.#tailLength + kept.length);
    this.#tail.set(kept, this.#tailLength);
    this.#tailLength += kept.length;
  }
}

function grown(bytes: Uint8Array<ArrayBuffer>, length: number): Uint8Array<ArrayBuffer> {
  if (length <= bytes.length) return bytes;
  const larger = new Uint8Array(Math.max(length, bytes.length * 2));
  larger.set(bytes);
  return larger;
}
