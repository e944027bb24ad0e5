import type { Focus } from "../../../contract/strategy.ts";
import { GrowingBytes } from "../../measure/held-bytes.ts";
import { newScan, scanBytes, scannedChars } from "../../measure/scan.ts";

import { WordCounts } from "../focus/word-counts.ts";

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

/** Gives whole lines, in whatever chunks their bytes come. A line that is longer than `mostBytes` is counted but not held. */
export class LineSplitter {
  #line = 1;
  #from = 0;
  #charsBefore = 0;
  #at = 0;
  #scan = newScan();
  readonly #part = new GrowingBytes();
  #isTooLong = false;
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
    for (let from = 0; from < bytes.length; ) {
      const end = bytes.indexOf(10, from);
      const to = end === -1 ? bytes.length : end + 1;
      const part = bytes.subarray(from, to);
      scanBytes(this.#scan, part);
      this.#at += part.length;
      if (end === -1) this.#hold(part);
      else if (this.#at - this.#from === part.length) this.#give(part);
      else {
        this.#hold(part);
        this.#giveHeld();
      }
      from = to;
    }
  }

  /** Call it at the source's end. Gives a last line that has no break. */
  end(): void {
    if (this.#at > this.#from) this.#giveHeld();
  }

  #hold(part: Uint8Array): void {
    this.#isTooLong ||= this.#part.length + part.length > this.#mostBytes;
    if (!this.#isTooLong) this.#part.add(part);
  }

  #giveHeld(): void {
    this.#give(this.#isTooLong ? null : this.#part.bytes);
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
    // No character goes on over a line break.
    this.#scan.chars = 0;
    this.#scan.state = 0;
    this.#part.clear();
    this.#isTooLong = false;
  }
}

/** A line that may be shown. */
export interface HeldLine extends SourceLine {
  bytes: Uint8Array;
  /** The record it is part of has begun before it, or goes on after it. */
  continues?: boolean;
  goesOn?: boolean;
  /** Which words of the focus it has. */
  words?: number;
  /** How much it matters to its strategy: the lower, the more. */
  rank?: number;
  /** Lines that are shown with it: the heads above it. */
  above?: readonly HeldLine[];
}

/** Holds lines of one rank in bounded memory. */
export interface LineHolder {
  /** The line's bytes are only valid during the call, so a `copyOf` the line is held. */
  add(line: HeldLine): void;
  /** In source order, or the most telling first where the rank says so. */
  lines(): HeldLine[];
}

/** The memory that a held line takes beside its bytes. */
const LINE_BYTES = 64;

/** Returns the memory that a held line takes. */
export function lineCost(line: HeldLine): number {
  return line.bytes.length + LINE_BYTES;
}

/** Returns a copy that stays valid after the call. */
export function copyOf(line: HeldLine): HeldLine {
  return { ...line, bytes: new Uint8Array(line.bytes) };
}

/** The share of the memory of a rank that its first lines get. */
const FIRST_SHARE = 0.6;

/** Holds the first and the last lines of one rank, up to about `mostBytes`. */
export class RankedLines implements LineHolder {
  readonly #mostFirst: number;
  readonly #mostLast: number;
  readonly #first: HeldLine[] = [];
  #last: HeldLine[] = [];
  #gone = 0;
  #firstBytes = 0;
  #lastBytes = 0;

  constructor(mostBytes: number) {
    this.#mostFirst = mostBytes * FIRST_SHARE;
    this.#mostLast = mostBytes - this.#mostFirst;
  }

  add(line: HeldLine): void {
    const cost = lineCost(line);
    const held = copyOf(line);
    if (this.#last.length === 0 && this.#firstBytes + cost <= this.#mostFirst) {
      this.#first.push(held);
      this.#firstBytes += cost;
      return;
    }
    this.#last.push(held);
    this.#lastBytes += cost;
    while (this.#lastBytes > this.#mostLast && this.#gone < this.#last.length - 1) {
      this.#lastBytes -= lineCost(this.#last[this.#gone++] as HeldLine);
    }
    if (this.#gone > 1024) {
      this.#last = this.#last.slice(this.#gone);
      this.#gone = 0;
    }
  }

  lines(): HeldLine[] {
    return [...this.#first, ...this.#last.slice(this.#gone)];
  }
}

/** Lines with the rarest words have tiers of their own, up to so many; the others share the last. */
const MOST_TIERS = 32;
/** More than any strategy has ranks. */
const RANKS = 64;

/** Holds the lines in which words of a focus stand, up to about `mostBytes`: those with the rarest words stay longest. */
export class WantedLines {
  readonly #mostBytes: number;
  readonly #counts: WordCounts;
  #lines: HeldLine[] = [];
  #bytes = 0;

  constructor(mostBytes: number, focus: Focus) {
    this.#mostBytes = mostBytes;
    this.#counts = new WordCounts(focus);
  }

  /** Every line is to be added: the words are counted in all of them. */
  add(line: HeldLine): void {
    const { words = 0 } = line;
    this.#counts.add(words);
    if (words === 0) return;
    this.#lines.push(copyOf(line));
    this.#bytes += lineCost(line);
    if (this.#bytes > this.#mostBytes && this.#lines.length > 1) this.#letGo();
  }

  #letGo(): void {
    const kept: HeldLine[] = [];
    let left = this.#mostBytes / 2;
    for (const line of this.#tiers().flat()) {
      left -= lineCost(line);
      if (left < 0) break;
      kept.push(line);
    }
    this.#lines = kept.sort((a, b) => a.line - b.line);
    this.#bytes = kept.reduce((sum, line) => sum + lineCost(line), 0);
  }

  #tiers(): HeldLine[][] {
    // If lines have the same words, those of a lower rank come first.
    const byWeight = new Map<number, HeldLine[]>();
    for (const line of this.#lines) {
      const weight = this.#counts.weight(line.words ?? 0);
      if (weight === 0) continue;
      const place = weight * RANKS - (line.rank ?? 0) / RANKS;
      const same = byWeight.get(place);
      if (same === undefined) byWeight.set(place, [line]);
      else same.push(line);
    }
    return [...byWeight].sort(([a], [b]) => b - a).map(([, lines]) => lines);
  }

  /** Its lines by what they are worth, each tier in source order. */
  tiers(): HeldLine[][] {
    const tiers = this.#tiers();
    const rest = tiers.slice(MOST_TIERS - 1).flat();
    const last = rest.length === 0 ? [] : [rest.sort((a, b) => a.line - b.line)];
    return [...tiers.slice(0, MOST_TIERS - 1), ...last];
  }
}

/** Holds lines of one rank from all over the output, up to about `mostBytes`: each one at first, then each second, each fourth ... */
export class SpreadLines implements LineHolder {
  readonly #mostBytes: number;
  #lines: HeldLine[] = [];
  #bytes = 0;
  #count = 0;
  #stride = 1;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  add(line: HeldLine): void {
    if (this.#count++ % this.#stride !== 0) return;
    this.#lines.push(copyOf(line));
    this.#bytes += lineCost(line);
    if (this.#bytes <= this.#mostBytes || this.#lines.length < 2) return;
    this.#lines = this.#lines.filter((_, index) => index % 2 === 0);
    this.#bytes = this.#lines.reduce((sum, held) => sum + lineCost(held), 0);
    this.#stride *= 2;
  }

  lines(): HeldLine[] {
    return this.#lines;
  }
}
