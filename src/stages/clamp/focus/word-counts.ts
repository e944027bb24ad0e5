import type { Focus } from "../../../contract/strategy.ts";
import { LINE_FEED } from "../../fold/line.ts";
import { MOST_WORDS } from "./find-words.ts";

/** A word of an intent that stands in more than about one line of seven tells no line from another. */
const LEAST_RARITY = 2;
/** A name, or any word among the entries of a list or an object, may stand in about half of them. */
const LEAST_NAME_RARITY = 0.6;
const MOST_RARITY = 8;
/** What the rarest words add to the score of a line: those of a focus, and at most those of an intent. */
const FOCUS_GAIN = 6;
const INTENT_GAIN = 3;
/** What a word of a focus that stands in every line is still worth: all words together are worth more than some. */
const LEAST_WEIGHT = 0.01;

/** Counts in how many lines (or values) of an output each word of a focus stands, and weighs the words by how rare they are. */
export class WordCounts {
  /** So many lines were looked at. */
  lines = 0;
  readonly #counts: Int32Array;
  readonly #isSoft: boolean;
  readonly #all: number;
  readonly #names: number;
  readonly #drops: number;

  /** `isEntries` if entries of one group are counted, not lines of an output. */
  constructor({ words, isSoft = false, names = 0, drops = 0 }: Focus, isEntries = false) {
    this.#drops = drops;
    this.#names = isEntries ? -1 : names;
    this.#counts = new Int32Array(words);
    this.#isSoft = isSoft;
    this.#all = 2 ** words - 1;
  }

  /** Counts one more line, in which the words `found` stand. */
  add(found: number): void {
    this.lines++;
    for (let rest = found; rest !== 0; rest &= rest - 1) {
      const word = 31 - Math.clz32(rest & -rest);
      this.#counts[word] = (this.#counts[word] as number) + 1;
    }
  }

  /** Returns what a line in which the words `found` stand is worth: the sum of how rare each is in what was counted so far. */
  weight(found: number): number {
    let weight = 0;
    for (let rest = found; rest !== 0; rest &= rest - 1) weight += this.#weightOf(31 - Math.clz32(rest & -rest));
    return weight;
  }

  /** Returns true if a word stands in some line, is rare, and is not among those that were seen. */
  isMissing(word: number, seen: number): boolean {
    return (this.#counts[word] ?? 0) > 0 && (seen & (1 << word)) === 0 && this.#weightOf(word) > LEAST_RARITY;
  }

  /** The words that tell one line from another: all of a focus, those of an intent that are rare so far. */
  get telling(): number {
    let words = this.#all;
    if (this.#isSoft) for (let bit = 1; bit <= this.#all; bit *= 2) if (this.weight(bit) === 0) words &= ~bit;
    return words;
  }

  /** Returns what the words add to the score of a line that is also judged by what it says. */
  gain(found: number): number {
    if (found === 0) return 0;
    const weight = this.weight(found);
    if (this.#isSoft) return INTENT_GAIN * Math.min(1, weight / MOST_RARITY);
    return FOCUS_GAIN * (weight / this.weight(this.#all));
  }

  #weightOf(word: number): number {
    if ((this.#drops & (1 << word)) !== 0) return 0;
    const rarity = Math.log(Math.max(1, this.lines) / Math.max(1, this.#counts[word] as number));
    const isName = (this.#names & (1 << word)) !== 0;
    if (this.#isSoft && rarity < (isName ? LEAST_NAME_RARITY : LEAST_RARITY)) return 0;
    return Math.min(MOST_RARITY, rarity) + LEAST_WEIGHT;
  }
}

/** So many lines with a name stay if most others do not have it; beyond that only while they are a small share. */
const FEW_NAMED = 32;
const NAMED_SHARE = 8;
const MOST_SHARE = 2;

/**
 * Tells lines with a name that a call seems to be about from the others of their shape, as long as they are few. What stands
 * in most lines of the output's `sample` names none of them.
 */
export function namedLines(focus: Focus | undefined, sample: Uint8Array): ((line: Uint8Array) => boolean) | undefined {
  if (focus === undefined || !focus.isSoft || !focus.names) return undefined;
  const { names } = focus;
  const counts = new Int32Array(MOST_WORDS);
  let lines = 0;
  const isNamed = (line: Uint8Array): boolean => {
    lines++;
    let isRare = false;
    for (let rest = focus.find(line) & names; rest !== 0; rest &= rest - 1) {
      const word = 31 - Math.clz32(rest & -rest);
      const count = (counts[word] as number) + 1;
      counts[word] = count;
      if (count * (count > FEW_NAMED ? NAMED_SHARE : MOST_SHARE) <= lines) isRare = true;
    }
    return isRare;
  };
  for (let at = 0; at < sample.length; ) {
    const end = sample.indexOf(LINE_FEED, at);
    isNamed(sample.subarray(at, end < 0 ? sample.length : end));
    at = end < 0 ? sample.length : end + 1;
  }
  return isNamed;
}
