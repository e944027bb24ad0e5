import type { TokenCounter } from "../../contract/token-counter.ts";
import { backwardCells, forwardCells, startRow, unitClasses, unitsPerToken } from "./token-automaton.ts";

/** Units summed as small integers before they go into the total. */
const blockChars = 16_384;

/**
 * Weighs a text without a vocabulary: by the kinds of its characters, the lengths of their runs and the joins between
 * them. Errs on the high side on purpose; it is meant to be at or above both o200k and ai-tokenizer's claude vocabulary.
 *
 * Estimate / o200k on samples of 2,000 to 3,000 characters, min, median, max (bench/learn-token-weights.mjs --check):
 *   CI logs 1.03 1.25 1.84, shell output and code 1.09 1.29 1.77, tool JSON 1.11 1.12 1.14, scripts 1.08 1.18 1.23,
 *   minified 1.14 1.29 1.41, markdown 0.93 1.25 1.52 (all held out from learning, by repository or file),
 *   English prose 1.22, base64 1.10, hex 1.10, JSON 1.08, CSV numbers 1.21, emoji 1.41.
 * Of those 1,172 held-out samples 0.8 % are below the larger of the two real counts.
 * Other scripts follow the claude vocabulary, which needs far more tokens there than o200k: Russian 1.98 times o200k,
 * Chinese 2.3, Japanese 1.7, Korean 2.3, Arabic 3.2, Hindi 4.2, Thai 4.5; 1.05 to 1.7 times the claude count.
 * Too low on characters drawn at random from all Han, Hangul or kana (down to 0.73), which is no real text, and on about
 * one real sample in a hundred (the worst seen 0.81).
 */
export const estimateCounter: TokenCounter = {
  name: "estimate",
  exact: false,
  maxBytesPerToken: 64,
  count,
  fit,
};

function count(text: string): number {
  const classes = unitClasses();
  const cells = forwardCells();
  let total = 0;
  let row = startRow;
  for (let from = 0; from < text.length; from += blockChars) {
    const to = Math.min(from + blockChars, text.length);
    let sum = 0;
    for (let index = from; index < to; index++) {
      const cell = cells[row + (classes[text.charCodeAt(index)] as number)] as number;
      row = cell >>> 16;
      sum += cell & 0xffff;
    }
    total += sum;
  }
  return Math.ceil(total / unitsPerToken);
}

function fit(text: string, maxTokens: number, from: "start" | "end"): number {
  const most = maxTokens > 0 ? Math.floor(maxTokens) * unitsPerToken : 0;
  return from === "start" ? fitStart(text, most) : fitEnd(text, most);
}

function fitStart(text: string, most: number): number {
  const classes = unitClasses();
  const cells = forwardCells();
  let total = 0;
  let row = startRow;
  let index = 0;
  for (; index < text.length; index++) {
    const cell = cells[row + (classes[text.charCodeAt(index)] as number)] as number;
    row = cell >>> 16;
    total += cell & 0xffff;
    if (total > most) break;
  }
  return splitsPair(text, index) ? index - 1 : index;
}

function fitEnd(text: string, most: number): number {
  const classes = unitClasses();
  const cells = backwardCells();
  let total = 0;
  let row = startRow;
  let index = text.length;
  for (; index > 0; index--) {
    const cell = cells[row + (classes[text.charCodeAt(index - 1)] as number)] as number;
    row = cell >>> 16;
    total += cell & 0xffff;
    if (total > most) break;
  }
  return splitsPair(text, index) ? index + 1 : index;
}

function splitsPair(text: string, index: number): boolean {
  return (text.charCodeAt(index - 1) & 0xfc00) === 0xd800 && (text.charCodeAt(index) & 0xfc00) === 0xdc00;
}
