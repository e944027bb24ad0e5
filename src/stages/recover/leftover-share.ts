import type { Verdict } from "../../contract/verdict.ts";
import type { Weight } from "../prune/weight.ts";

/** Our estimate of a token of text outside ASCII, in bytes beyond one a character. */
const WIDE_TOKENS_A_BYTE = 0.7;
/** What vocabularies make of such text, against the rest: some have whole words for it, for others it is as we count. */
const WIDE_SHARES = [0.45, 1] as const;

/**
 * The share of the provider's limit that a smaller request takes at the least, by what its numbers say of the larger one and
 * by how the two differ in kinds of text; null where it gave no numbers.
 */
export function leftoverShare(
  { observedTokens, limitTokens, outputTokens = 0 }: Verdict,
  before: Weight,
  after: Weight,
  beside: Weight,
): number | null {
  if (observedTokens === undefined || limitTokens === undefined) return null;
  const shares = WIDE_SHARES.map((share) => {
    const counted = (weight: Weight) => plain(weight) + plain(beside) + share * (wide(weight) + wide(beside));
    const ratio = (observedTokens - outputTokens) / Math.max(1, counted(before));
    return (counted(after) * ratio + outputTokens) / limitTokens;
  });
  return Math.min(...shares);
}

function wide({ tokens, bytes, chars }: Weight): number {
  return Math.min(tokens, Math.max(0, bytes - chars) * WIDE_TOKENS_A_BYTE);
}

function plain(weight: Weight): number {
  return weight.tokens - wide(weight);
}
