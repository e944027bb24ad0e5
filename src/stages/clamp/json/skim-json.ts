import { LastBytes } from "../../measure/held-bytes.ts";

/** Is told of the entries of a group that are passed over. Positions are in source bytes. */
export interface SkimListener {
  /** How many entries have ended so far. */
  count: number;
  /** A border that is nearer than this to the last one is counted but not told. */
  readonly leastApart: number;
  /** Takes the bytes that are passed over. */
  skimmed(bytes: Uint8Array): void;
  /** Says that an entry ended. `at` is where its comma is; if there are no commas, it is after the entry. */
  border(at: number, line: number, count: number): void;
}

const QUOTE = 34;
const BACKSLASH = 92;
const NONE = 0;
const BREAK = 1;
const COMMA = 2;
const OPEN = 3;
const CLOSE = 4;
const STRING = 5;

const MEANS = new Uint8Array(256);
MEANS[10] = BREAK;
MEANS[0x2c] = COMMA;
MEANS[0x7b] = OPEN;
MEANS[0x5b] = OPEN;
MEANS[0x7d] = CLOSE;
MEANS[0x5d] = CLOSE;
MEANS[QUOTE] = STRING;

/** Passes over the entries of one group and tells only where each ends. It does not check what they are. */
export class JsonSkimmer {
  line: number;
  /** True once the group's closing bracket was found. The bracket itself is not passed over. */
  isDone = false;
  readonly #listener: SkimListener;
  readonly #isLines: boolean;
  #nest = 0;
  #isString = false;
  #isEscaped = false;
  #last: number;

  /** `isLines`: the entries stand one after another, outside any group. The first begins at `from`. */
  constructor(listener: SkimListener, from: number, line: number, isLines: boolean) {
    this.#listener = listener;
    this.#last = from;
    this.line = line;
    this.#isLines = isLines;
  }

  /** True between two entries. */
  get isBetween(): boolean {
    return this.#nest === 0 && !this.#isString;
  }

  /** Passes over bytes from `from` on, the first of which stands at `at` + `from`; gives where it stopped. */
  add(bytes: Uint8Array, from: number, at: number): number {
    const isLines = this.#isLines;
    const borderMeans = isLines ? CLOSE : COMMA;
    const end = bytes.length;
    // These are local, because the loop sees every byte that is passed over.
    let nest = this.#nest;
    let line = this.line;
    let next = this.#isString ? this.#string(bytes, from) : from;
    while (next < end) {
      const means = MEANS[bytes[next] as number] as number;
      next++;
      if (means === NONE) continue;
      if (means === STRING) {
        next = this.#string(bytes, next);
        continue;
      }
      if (means === BREAK) line++;
      else if (means === OPEN) nest++;
      else if (means === CLOSE && --nest < 0) {
        nest = 0;
        next--;
        this.isDone = true;
        break;
      }
      if (nest === 0 && means === borderMeans) this.#border(at + (isLines ? next : next - 1), line);
    }
    this.#nest = nest;
    this.line = line;
    this.#listener.skimmed(bytes.subarray(from, next));
    return next;
  }

  #border(at: number, line: number): void {
    const listener = this.#listener;
    listener.count++;
    if (at - this.#last < listener.leastApart) return;
    this.#last = at;
    listener.border(at, line, listener.count);
  }

  /** Returns where the string around `from` ends. It may go on in the next bytes. */
  #string(bytes: Uint8Array, from: number): number {
    const end = bytes.length;
    let at = this.#isEscaped ? from + 1 : from;
    this.#isEscaped = false;
    for (; at < end; at++) {
      const byte = bytes[at] as number;
      if (byte === QUOTE) {
        this.#isString = false;
        return at + 1;
      }
      if (byte === BACKSLASH) at++;
    }
    this.#isString = true;
    this.#isEscaped = at > end;
    return end;
  }
}

interface Border {
  at: number;
  line: number;
  /** Entries passed over up to here. */
  count: number;
}

/** How many borders are remembered in the held bytes. Entries before the first of them are dropped. */
const BORDERS = 64;

/** Holds the last bytes that were passed over, from the start of an entry on. */
export class SkimmedEntries implements SkimListener {
  count = 0;
  readonly from: number;
  readonly line: number;
  readonly leastApart: number;
  readonly #most: number;
  readonly #held: LastBytes;
  #borders: Border[];

  constructor(most: number, from: number, line: number) {
    this.from = from;
    this.line = line;
    this.#most = most;
    this.#held = new LastBytes(most);
    this.leastApart = Math.ceil(most / BORDERS);
    this.#borders = [{ at: from, line, count: 0 }];
  }

  skimmed(bytes: Uint8Array): void {
    this.#held.add(bytes);
  }

  border(at: number, line: number, count: number): void {
    this.#borders.push({ at, line, count });
    if (this.#borders.length > BORDERS * 4)
      this.#borders = this.#borders.filter((border) => border.at >= at - this.#most * 2);
  }

  /** Returns the entries after the first border that is held, or null if none is. */
  held(): (Border & { bytes: Uint8Array }) | null {
    const least = this.from + this.#held.at;
    const border = this.#borders.find(({ at }) => at >= least);
    return border === undefined ? null : { ...border, bytes: this.#held.bytes.subarray(border.at - least) };
  }
}
