import type { Verdict } from "../../contract/verdict.ts";
import type { Weight } from "../prune/weight.ts";

/** Our estimate of a token of text outside ASCII, in bytes beyond one a character. */
const WIDE_TOKENS_A_BYTE = 0.7;
/** What vocabularies of today make of such text, against what we count: they have whole words for it. */
const WIDE_SHARE = 0.45;
/** Our own count alone, without one of the provider's to hold it against, may be this much too high. */
const HIGH_SHARE = 1.5;

/**
 * The share of the provider's limit that a smaller request takes, by what its numbers say of the larger one: over 1 it is
 * not worth a try. With a limit alone it is the least that it may be; null where there is no limit.
 */
export function leftoverShare(
  { observedTokens, limitTokens, outputTokens = 0 }: Verdict,
  before: Weight,
  after: Weight,
  beside: Weight,
): number | null {
  if (limitTokens === undefined) return null;
  const left = evenTokens(after) + evenTokens(beside);
  if (observedTokens === undefined) return left / HIGH_SHARE / limitTokens;
  const ratio = (observedTokens - outputTokens) / Math.max(1, evenTokens(before) + evenTokens(beside));
  return (left * ratio + outputTokens) / limitTokens;
}

/** Our tokens with all kinds of text counted as much too high as the others: what two requests are compared by. */
export function evenTokens({ tokens, bytes, chars }: Weight): number {
  const wide = Math.min(tokens, Math.max(0, bytes - chars) * WIDE_TOKENS_A_BYTE);
  return tokens - wide + wide * WIDE_SHARE;
}
