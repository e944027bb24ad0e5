/** Numbers kept of each line: its place in the buffer, its length, and what goes with it. */
const FIELDS = 9;

/** Takes a line that was skipped; the numbers are those it was added with. */
export type TakeSkipped = (bytes: Uint8Array, start: number, end: number, about: Float64Array) => void;

/** The newest lines that were not judged: needed as surroundings of the next that is, and at the end. */
export class SkippedLines {
  readonly #mostBytes: number;
  #bytes: Uint8Array;
  #length = 0;
  #about = new Float64Array(64 * FIELDS);
  #first = 0;
  #count = 0;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
    this.#bytes = new Uint8Array(2 * mostBytes);
  }

  /** Holds a line, letting go of the oldest; one that is too long by itself is not held. */
  add(
    bytes: Uint8Array,
    start: number,
    end: number,
    kind: number,
    from: number,
    to: number,
    line: number,
    breaks: number,
    chars: number,
    inside: number,
  ): void {
    const length = end - start;
    if (length > this.#mostBytes) {
      this.clear();
      return;
    }
    if (this.#length + length > this.#bytes.length || (this.#count + 1) * FIELDS > this.#about.length)
      this.#tidy(length);
    const held = this.#bytes;
    for (let at = start, next = this.#length; at < end; ) held[next++] = bytes[at++] as number;
    const about = this.#about;
    const at = this.#count++ * FIELDS;
    about[at] = this.#length;
    about[at + 1] = length;
    about[at + 2] = kind;
    about[at + 3] = from;
    about[at + 4] = to;
    about[at + 5] = line;
    about[at + 6] = breaks;
    about[at + 7] = chars;
    about[at + 8] = inside;
    this.#length += length;
  }

  /** Hands on the newest `most` lines, oldest first, and forgets all. */
  drain(most: number, take: TakeSkipped): void {
    const { length } = this;
    for (let line = Math.max(this.#first, this.#count - most); line < this.#count; line++) {
      const about = this.#about.subarray(line * FIELDS, (line + 1) * FIELDS);
      const at = about[0] as number;
      take(this.#bytes, at, at + (about[1] as number), about.subarray(2));
    }
    if (length > 0) this.clear();
  }

  get length(): number {
    return this.#count - this.#first;
  }

  clear(): void {
    this.#first = this.#count = this.#length = 0;
  }

  /** Makes room for `length` bytes: the newest lines move to the front. */
  #tidy(length: number): void {
    let first = this.#count;
    let bytes = length;
    while (first > this.#first && bytes + (this.#about[(first - 1) * FIELDS + 1] as number) <= this.#mostBytes) {
      bytes += this.#about[--first * FIELDS + 1] as number;
    }
    const from = first < this.#count ? (this.#about[first * FIELDS] as number) : this.#length;
    this.#bytes.copyWithin(0, from, this.#length);
    this.#length -= from;
    this.#about.copyWithin(0, first * FIELDS, this.#count * FIELDS);
    this.#count -= first;
    this.#first = 0;
    for (let line = 0; line < this.#count; line++) {
      this.#about[line * FIELDS] = (this.#about[line * FIELDS] as number) - from;
    }
    if (this.#count * FIELDS * 2 > this.#about.length) {
      const larger = new Float64Array(this.#about.length * 2);
      larger.set(this.#about);
      this.#about = larger;
    }
  }
}
