import { newScan, scanBytes, scannedChars } from "../../measure/scan.ts";

/** A line of the source with its break. */
export interface SourceLine {
  /** From 1. */
  line: number;
  from: number;
  to: number;
  /** UTF-16 units before it, and in it. */
  charsBefore: number;
  chars: number;
  /** Only valid while it is given. Null if the line is longer than what could ever be shown. */
  bytes: Uint8Array | null;
}

/** Gives whole lines, however their bytes come. What is longer than `mostBytes` is counted, not held. */
export class LineSplitter {
  #line = 1;
  #from = 0;
  #charsBefore = 0;
  #at = 0;
  #scan = newScan();
  #part = new Uint8Array(0);
  #length = 0;
  readonly #mostBytes: number;
  readonly #take: (line: SourceLine) => void;

  constructor(mostBytes: number, take: (line: SourceLine) => void) {
    this.#mostBytes = mostBytes;
    this.#take = take;
  }

  /** The line that is not complete yet. */
  get line(): number {
    return this.#line;
  }

  /** Where it begins. */
  get from(): number {
    return this.#from;
  }

  /** Where the next byte stands. */
  get at(): number {
    return this.#at;
  }

  add(bytes: Uint8Array): void {
    // Counted at once where each byte is a character; line by line that takes longer than everything else.
    const all = newScan();
    if (this.#scan.state === 0) scanBytes(all, bytes);
    const isPlain = this.#scan.state === 0 && all.high === 0;
    for (let from = 0; from < bytes.length; ) {
      const end = bytes.indexOf(10, from);
      const to = end === -1 ? bytes.length : end + 1;
      const part = bytes.subarray(from, to);
      if (isPlain) this.#scan.chars += part.length;
      else scanBytes(this.#scan, part);
      this.#at += part.length;
      if (end === -1) this.#hold(part);
      else if (this.#length === 0 && this.#at - this.#from === part.length) this.#give(part);
      else {
        this.#hold(part);
        this.#giveHeld();
      }
      from = to;
    }
  }

  /** The source's end, or the last of it that is split: a line without a break is one too. */
  end(): void {
    if (this.#at > this.#from) this.#giveHeld();
  }

  #hold(part: Uint8Array): void {
    if (this.#length + part.length > this.#mostBytes) {
      this.#length = Number.POSITIVE_INFINITY;
      return;
    }
    if (this.#length + part.length > this.#part.length) {
      const larger = new Uint8Array(Math.max(this.#length + part.length, this.#part.length * 2));
      larger.set(this.#part.subarray(0, this.#length));
      this.#part = larger;
    }
    this.#part.set(part, this.#length);
    this.#length += part.length;
  }

  #giveHeld(): void {
    this.#give(this.#length === Number.POSITIVE_INFINITY ? null : this.#part.subarray(0, this.#length));
  }

  #give(bytes: Uint8Array | null): void {
    const chars = scannedChars(this.#scan);
    const held = bytes !== null && bytes.length <= this.#mostBytes ? bytes : null;
    this.#take({
      line: this.#line,
      from: this.#from,
      to: this.#at,
      charsBefore: this.#charsBefore,
      chars,
      bytes: held,
    });
    this.#line++;
    this.#from = this.#at;
    this.#charsBefore += chars;
    // What a line ends in is no part of the next: a break is a character of its own.
    this.#scan.chars = 0;
    this.#scan.state = 0;
    this.#length = 0;
  }
}
