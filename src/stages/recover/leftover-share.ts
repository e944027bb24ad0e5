import type { Verdict } from "../../contract/verdict.ts";

/** Our own count alone, without one of the provider's to hold it against, may be this much too high. */
const HIGH_SHARE = { estimate: 1.5, exact: 1.25 };

/**
 * The share of the provider's limit that a smaller request takes, by what its numbers say of the larger one: over 1 it is
 * not worth a try. With a limit alone it is the least that it may be; null where there is no limit. Both sizes are of
 * whole requests, by our estimate; what is reserved for the answer stays, as the provider or else the caller says it.
 */
export function leftoverShare(
  { observedTokens, limitTokens, outputTokens }: Verdict,
  beforeTokens: number,
  afterTokens: number,
  answerTokens: number,
  isExact = false,
): number | null {
  if (limitTokens === undefined) return null;
  if (observedTokens === undefined) return afterTokens / HIGH_SHARE[isExact ? "exact" : "estimate"] / limitTokens;
  const ratio = (observedTokens - (outputTokens ?? 0)) / Math.max(1, beforeTokens);
  return (afterTokens * ratio + (outputTokens ?? answerTokens)) / limitTokens;
}
