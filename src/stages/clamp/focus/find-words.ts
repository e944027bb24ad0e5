import type { Focus } from "../../../contract/strategy.ts";

/** So many of a word's first bytes are told. */
const START_BYTES = 4;

/** Lower case for the letters of ASCII; other bytes as they are. */
const LOWER = Uint8Array.from({ length: 256 }, (_, byte) => (byte >= 65 && byte <= 90 ? byte | 32 : byte));

/** A word to find. */
export interface SoughtWord {
  text: string;
  /** Where a word or a part of a name begins; if it is short, it must end there too. Else it may stand anywhere. */
  isWord: boolean;
}

/** A way to write a word, in bytes: the letters of ASCII count in either case. */
interface Written {
  bytes: Uint8Array;
  bit: number;
  isWord: boolean;
  mustEnd: boolean;
}

/** Each word is a bit of a number that must stay positive. */
export const MOST_WORDS = 31;

/** A word of fewer letters is found only as a whole: `db` is not in `dbus`. */
const LEAST_START = 4;

const encoder = new TextEncoder();

/**
 * Returns a function that says which words stand in a line: one bit for each, in their order, 31 words at most. It reads
 * the line's bytes once. Returns with it the first bytes of each word, in every way to write it.
 */
export function wordFinder(words: readonly SoughtWord[]): Required<Pick<Focus, "find" | "starts">> {
  const wordStarts: string[][] = words.map(() => []);
  const byStart = new Map<number, Written[]>();
  // True for two bytes with which one of the words begins.
  const starts = new Uint8Array(65_536);
  const add = (start: number, written: Written): void => {
    starts[start] = 1;
    byStart.set(start, [...(byStart.get(start) ?? []), written]);
  };
  for (const [index, { text, isWord }] of words.entries()) {
    for (const form of new Set([text.toLowerCase(), text.toUpperCase()].map((each) => lowered(encoder.encode(each))))) {
      const bytes = encoder.encode(form);
      wordStarts[index]?.push(String.fromCharCode(...bytes.subarray(0, START_BYTES)));
      const written = { bytes, bit: 1 << index, isWord, mustEnd: isWord && bytes.length < LEAST_START };
      const first = bytes[0] as number;
      if (bytes.length > 1) add((first << 8) | (bytes[1] as number), written);
      else
        for (let second = 0; second < 256; second++) if (LOWER[second] === second) add((first << 8) | second, written);
    }
  }
  const prefixes = wordStarts.flat();
  const quick = prefixes.every((prefix) => prefix.length === START_BYTES) ? new WordFinder(prefixes) : null;
  const all = words.length === 31 ? 0x7fffffff : (1 << words.length) - 1;
  const find = (line: Uint8Array): number => {
    let found = 0;
    if (quick !== null && quick.find(line, 0, line.length) === line.length) return found;
    let before = LOWER[line[0] as number] as number;
    for (let at = 1; at <= line.length && found !== all; at++) {
      // A blank stands behind the line.
      const byte = at < line.length ? (LOWER[line[at] as number] as number) : 32;
      const start = (before << 8) | byte;
      before = byte;
      if (starts[start] === 0) continue;
      for (const written of byStart.get(start) as Written[])
        if ((found & written.bit) === 0 && isAt(line, at - 1, written)) found |= written.bit;
    }
    return found;
  };
  return { find, starts: wordStarts };
}

/** Looks for words by four letters of each. */
export class WordFinder {
  /** The four letters of each word as one number. */
  readonly #words = new Set<number>();
  /** For each two bytes the places, of three, at which some of the words have them. */
  readonly #pairs = new Uint8Array(65_536);

  constructor(words: Iterable<string>) {
    for (const letters of words) {
      const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
      this.#words.add(fourAt(bytes, 0));
      for (let at = 0; at < 3; at++)
        for (const flips of [0, 32, 32 << 8, (32 << 8) | 32])
          this.#pairs[pairAt(bytes, at) ^ flips] = (this.#pairs[pairAt(bytes, at) ^ flips] as number) | (1 << at);
    }
  }

  /** Where one of the words may begin in bytes[start, end), or `end`. */
  find(bytes: Uint8Array, start: number, end: number): number {
    const pairs = this.#pairs;
    // Two bytes of each three tell: of a word's four letters they are some.
    for (let at = start; at + 1 < end; at += 3) {
      const places = pairs[((bytes[at] as number) << 8) | (bytes[at + 1] as number)] as number;
      if (places === 0) continue;
      for (let begin = Math.max(start, at - 2); begin <= at && begin + 4 <= end; begin++)
        if ((places & (1 << (at - begin))) !== 0 && this.#isAt(bytes, begin)) return begin;
    }
    return end;
  }

  /** Returns true if a word begins at `at`, of which at least four bytes are there. */
  #isAt(bytes: Uint8Array, at: number): boolean {
    const pairs = this.#pairs;
    const isLike =
      ((pairs[pairAt(bytes, at)] as number) & 1) !== 0 && ((pairs[pairAt(bytes, at + 2)] as number) & 4) !== 0;
    return isLike && this.#words.has(fourAt(bytes, at));
  }
}

function pairAt(bytes: Uint8Array, at: number): number {
  return ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
}

/** Four bytes as one number that is the same for letters in either case. */
function fourAt(bytes: Uint8Array, at: number): number {
  return (pairAt(bytes, at) << 16) | pairAt(bytes, at + 2) | 0x20202020;
}

function lowered(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes.map((byte) => LOWER[byte] as number));
}

function isAt(line: Uint8Array, at: number, { bytes, isWord, mustEnd }: Written): boolean {
  if (at + bytes.length > line.length) return false;
  for (let step = 0; step < bytes.length; step++) if (LOWER[line[at + step] as number] !== bytes[step]) return false;
  if (!isWord) return true;
  if (at > 0 && isAlphanumeric(line[at - 1] as number) && !isHump(line, at)) return false;
  const end = at + bytes.length;
  return !mustEnd || end === line.length || !isAlphanumeric(line[end] as number) || isHump(line, end);
}

function isAlphanumeric(byte: number): boolean {
  return (byte >= 48 && byte <= 57) || ((byte | 32) >= 97 && (byte | 32) <= 122) || byte >= 128;
}

/** Returns true where a part of a name begins with a capital. */
function isHump(line: Uint8Array, at: number): boolean {
  const isUpper = (byte: number) => byte >= 65 && byte <= 90;
  return isUpper(line[at] as number) && !isUpper(line[at - 1] as number);
}
