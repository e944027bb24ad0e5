import type { Verdict } from "../../contract/verdict.ts";

/** A request that was answered: its messages by our estimate, and all of it by the provider's count. */
export interface Answered {
  tokens: number;
  inputTokens: number;
}

/** A refused request must be this much larger than the answered one: else what the two differ in tells nothing. */
const LARGER_SHARE = 1.5;
/** Tokens of the provider's that one of ours can be; what is outside this was not the same system prompt and tools. */
const LEAST_RATIO = 0.3;
const MOST_RATIO = 3;
/** A usage that is less than this part of the messages' own tokens does not count all of them. */
const LEAST_COUNTED = 0.5;

/**
 * Tokens of what is sent beside the messages, by our estimate, where nobody said it: two counts of the provider, of a smaller and of a
 * larger request, tell both how it counts and what does not grow with the messages. Null where they cannot.
 */
export function learnedBeside(
  { observedTokens, outputTokens = 0 }: Verdict,
  refusedTokens: number,
  answered: Answered | null,
): number | null {
  if (answered === null || observedTokens === undefined) return null;
  if (refusedTokens < answered.tokens * LARGER_SHARE) return null;
  const ratio = (observedTokens - outputTokens - answered.inputTokens) / (refusedTokens - answered.tokens);
  if (!(ratio >= LEAST_RATIO && ratio <= MOST_RATIO)) return null;
  const countedTokens = answered.inputTokens / ratio;
  if (countedTokens < answered.tokens * LEAST_COUNTED) return null;
  return Math.max(0, Math.round(countedTokens - answered.tokens));
}
