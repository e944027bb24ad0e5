import type { SkimListener } from "./skim-json.ts";

/** Where an entry that was passed over ends. */
interface Border {
  at: number;
  line: number;
  /** Entries passed over up to here. */
  count: number;
}

/** Borders remembered in what is held: entries before the first of them are given up. */
const BORDERS = 64;

/** Holds the end of what was passed over, from where an entry begins. */
export class SkimmedEntries implements SkimListener {
  /** Borders so far. */
  count = 0;
  readonly from: number;
  readonly line: number;
  readonly leastApart: number;
  readonly #most: number;
  #bytes: Uint8Array<ArrayBuffer>;
  #length = 0;
  /** Where the held bytes begin in the source. */
  #at: number;
  #borders: Border[];

  constructor(most: number, from: number, line: number) {
    this.from = from;
    this.line = line;
    this.#at = from;
    this.#most = most;
    this.leastApart = Math.ceil(most / BORDERS);
    this.#bytes = new Uint8Array(most * 2);
    this.#borders = [{ at: from, line, count: 0 }];
  }

  skimmed(bytes: Uint8Array): void {
    const kept = bytes.length > this.#most ? bytes.subarray(bytes.length - this.#most) : bytes;
    this.#at += bytes.length - kept.length;
    if (kept.length < bytes.length) {
      this.#at += this.#length;
      this.#length = 0;
    } else if (this.#length + kept.length > this.#most * 2) {
      const gone = this.#length - this.#most;
      this.#bytes.copyWithin(0, gone, this.#length);
      this.#at += gone;
      this.#length = this.#most;
    }
    this.#bytes.set(kept, this.#length);
    this.#length += kept.length;
  }

  border(at: number, line: number, count: number): void {
    this.#borders.push({ at, line, count });
    if (this.#borders.length > BORDERS * 4)
      this.#borders = this.#borders.filter((border) => border.at >= at - this.#most * 2);
  }

  /** From the first border on that is held: the entries after it. Null if none is. */
  held(): (Border & { bytes: Uint8Array }) | null {
    // Whole pieces of `most` bytes come and go with chunks; only the last of them is the same for all.
    const least = this.#at + Math.max(0, this.#length - this.#most);
    const border = this.#borders.find(({ at }) => at >= least);
    return border === undefined ? null : { ...border, bytes: this.#bytes.subarray(border.at - this.#at, this.#length) };
  }
}
