/** A line, or a part of one, that is held; or a run of whole source lines. */
interface Segment {
  at: number;
  length: number;
  /** A run's lines are told apart when they are asked for. */
  isRun: boolean;
  about: About;
}

/** What goes with a line: its kind, source range, line, breaks, characters, and whether it is cut inside. */
export interface About {
  kind: number;
  from: number;
  to: number;
  line: number;
  breaks: number;
  chars: number;
  inside: number;
}

/** A line that was skipped. */
export interface SkippedLine extends About {
  bytes: Uint8Array;
  start: number;
  end: number;
}

/** The newest lines that were not judged: needed as surroundings of the next that is, and at the end. */
export class SkippedLines {
  readonly #mostBytes: number;
  #bytes = new Uint8Array(0);
  #length = 0;
  #segments: Segment[] = [];

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** Holds a line, letting go of the oldest; before one that is too long by itself nothing is held. */
  add(bytes: Uint8Array, start: number, end: number, about: About): void {
    if (end - start > this.#mostBytes) this.clear();
    else this.#hold(bytes, start, end, false, about);
  }

  /** Holds the last of a run of whole source lines, of which the next would be line `line`. */
  addRun(bytes: Uint8Array, start: number, end: number, kind: number, to: number, line: number): void {
    let first = start;
    if (end - start > this.#mostBytes) first = bytes.indexOf(10, end - this.#mostBytes - 1) + 1;
    if (first === end) return this.clear();
    const about = { kind, from: to - (end - first), to, line, breaks: 1, chars: -1, inside: 0 };
    this.#hold(bytes, first, end, true, about);
  }

  /** The newest lines, oldest first: at most so many, and no more bytes than are held for sure. */
  newest(most: number): SkippedLine[] {
    const lines: SkippedLine[] = [];
    let left = this.#mostBytes;
    for (let index = this.#segments.length - 1; index >= 0; index--) {
      const { at, length, isRun, about } = this.#segments[index] as Segment;
      let { to, line } = about;
      for (let end = at + length; end > at; ) {
        const start = isRun && end - at > 1 ? Math.max(at, this.#bytes.lastIndexOf(10, end - 2) + 1) : at;
        left -= end - start;
        if (left < 0 || lines.length === most) return lines.reverse();
        if (isRun) line--;
        const { kind, breaks, chars, inside } = about;
        const from = isRun ? to - (end - start) : about.from;
        lines.push({ bytes: this.#bytes, start, end, kind, from, to, line, breaks, chars, inside });
        to -= end - start;
        end = start;
      }
    }
    return lines.reverse();
  }

  clear(): void {
    this.#segments = [];
    this.#length = 0;
  }

  #hold(bytes: Uint8Array, start: number, end: number, isRun: boolean, about: About): void {
    const length = end - start;
    if (this.#bytes.length === 0) this.#bytes = new Uint8Array(3 * this.#mostBytes);
    if (this.#length + length > this.#bytes.length) this.#tidy(length);
    this.#bytes.set(bytes.subarray(start, end), this.#length);
    this.#segments.push({ at: this.#length, length, isRun, about });
    this.#length += length;
  }

  /** Makes room for `length` bytes: lets go of what is too old, the rest moves to the front. */
  #tidy(length: number): void {
    let first = this.#segments.length;
    for (let held = length; first > 0 && held < this.#mostBytes; ) held += (this.#segments[--first] as Segment).length;
    const from = first < this.#segments.length ? (this.#segments[first] as Segment).at : this.#length;
    this.#bytes.copyWithin(0, from, this.#length);
    this.#length -= from;
    this.#segments = this.#segments.slice(first);
    for (const segment of this.#segments) segment.at -= from;
  }
}
