import type { Focus } from "../../../contract/strategy.ts";
import { MOST_WORDS, type SoughtWord, wordFinder } from "./find-words.ts";

/** Words around a call: what the user said last, what the model said before it, and the texts of its arguments. */
export interface IntentTexts {
  user?: string | undefined;
  model?: string | undefined;
  args?: readonly string[] | undefined;
}

/** So much of each text is read. */
const MAX_CHARS = 2000;
/** Longer words and quotes name nothing that a line would have. */
const MAX_WORD_CHARS = 80;
/** A longer line is looked at in its first bytes. */
const MAX_LINE_BYTES = 4096;

/** Words of questions and requests that say nothing about what is looked for. */
const COMMON = new Set(
  (
    "a about above after again all also always am an and any are as ask at back be because been before being below best " +
    "between both but by call called can cannot check could did do does doing done down each else ensure every everything " +
    "explain fetch few figure find first fix following for found from full further get give given go going good had has " +
    "have having he hello help her here hey hi him his how however i if in inside instead into investigate is it its just keep kindly " +
    "know last let like list look looking make many may maybe me might mine more most much must my need needs never next no " +
    "not nothing now of off ok on once one only or other our out output over own per please possible print problem provide put " +
    "question read really report result right run same say see seem seems send set she should show since so some something still " +
    "such sure take tell than thank thanks that the their them then there these they thing things this those through till time to " +
    "today together too try two under understand until up us use used using very via want was way we well were what when where " +
    "whether which while who whole whom whose why will wish with within without work would wrong yes yet you your yours"
  ).split(" "),
);

/** Returns true for a word that stands in every question. */
export function isCommon(word: string): boolean {
  return COMMON.has(word.toLowerCase());
}

/**
 * The words by which an output's lines can be told to be what a call is for. They are only words to look for, never
 * anything to follow. Undefined if there are none.
 */
export function compileIntent({ user = "", model = "", args = [] }: IntentTexts): Focus | undefined {
  const ranks = new Map<string, number>();
  const note = (found: Iterable<[word: string, rank: number]>, gain: number, least: number): void => {
    for (const [word, rank] of found) if (rank >= least) ranks.set(word, Math.max(rank + gain, ranks.get(word) ?? 0));
  };
  note(wordsOf(user), 0.5, COMMON_RANK);
  note(wordsOf(model), 0, COMMON_RANK);
  for (const arg of args) {
    // A number among other words says how much. An argument that is only a number can be what is looked for.
    const isOneWord = !/\s/.test(arg.trim());
    const words = [...wordsOf(arg)].filter(([word]) => isOneWord || !/^\d+$/.test(word));
    // A command's plain words stand in the output's first lines again.
    note(words, 0, NAME_RANK);
  }
  const words = [...ranks].sort((a, b) => b[1] - a[1]).slice(0, MOST_WORDS);
  if (words.length === 0) return undefined;
  const { find, starts } = wordFinder(words.map(([text]): SoughtWord => ({ text, isWord: true })));
  return {
    words: words.length,
    find: (line) => find(line.length > MAX_LINE_BYTES ? line.subarray(0, MAX_LINE_BYTES) : line),
    starts,
    isSoft: true,
    texts: words.map(([text]) => text),
    names: words.reduce((bits, [, rank], index) => (rank >= PART_RANK ? bits | (1 << index) : bits), 0),
  };
}

/** How much a word tells: a common one, a long one, part of a name, a name (`get-data`, `v1.2`, `userId`), a quote. */
const COMMON_RANK = 1;
const LONG_RANK = 2;
const PART_RANK = 2.5;
const NAME_RANK = 3;
const QUOTE_RANK = 4;
const LONG_CHARS = 7;

const QUOTE = /"([^"\n]+)"|'([^'\n]+)'(?![\p{L}\d])|`([^`\n]+)`/gu;
const NAME = /\d|[\p{L}\d][-_.:/@\\][\p{L}\d]|\p{Ll}\p{Lu}/u;
const EDGES = /^[^\p{L}\d]+|[^\p{L}\d]+$/gu;

function* wordsOf(text: string): Iterable<[word: string, rank: number]> {
  const start = text.slice(0, MAX_CHARS).toWellFormed();
  for (const found of start.matchAll(QUOTE)) {
    const quote = (found[1] ?? found[2] ?? found[3] ?? "").trim();
    if (quote.length >= 3 && quote.length <= MAX_WORD_CHARS) yield [quote.toLowerCase(), QUOTE_RANK];
  }
  for (const piece of start.split(/[\s,;(){}[\]<>"'`|=]+/)) {
    // Flags of commands say how, not what.
    if (piece.startsWith("-")) continue;
    const word = piece.replace(EDGES, "");
    if (word.length < 2 || word.length > MAX_WORD_CHARS) continue;
    const isName = NAME.test(word);
    const plain = word.toLowerCase();
    if (!isName) {
      if (!isCommon(plain)) yield [stemOf(plain), plain.length >= LONG_CHARS ? LONG_RANK : COMMON_RANK];
      continue;
    }
    yield [plain, NAME_RANK];
    const parts = plain.split(/[^\p{L}\d]+/u);
    if (parts.length === 1) continue;
    for (const part of parts) if (part.length >= 4 && !isCommon(part)) yield [part, PART_RANK];
  }
}

const LEAST_STEM = 4;

/** A word without the ending that others of its family do not have. */
function stemOf(word: string): string {
  const stem = word.replace(/(?:ing|ed|es|s)$/, "");
  return stem.length >= LEAST_STEM && !word.endsWith("ss") ? stem : word;
}
