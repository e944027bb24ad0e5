import type { Verdict } from "../../contract/verdict.ts";
import type { Weight } from "../prune/weight.ts";

/** What a refused request has to become, in our own estimate of its messages. */
export interface RecoveryGoal {
  /** At this it fits, even where the estimate is off by what it usually is. Infinity where tokens do not matter. */
  targetTokens: number;
  targetBytes: number;
  /** The provider's window as our estimate would count it. */
  windowTokens: number;
  /** How large the request was and may be, by the provider's count; null where it did not say. */
  observedTokens: number | null;
  limitTokens: number | null;
}

/** What is known when a request was refused. */
export interface Refused {
  verdict: Verdict;
  /** The messages as they were sent, by our estimate. */
  weight: Weight;
  /** What was sent beside them, by our estimate; null where nobody said. */
  besideTokens: number | null;
  /** Room for the answer, as the caller said it. */
  answerTokens: number;
  /** Weights are counts by a real vocabulary, though perhaps not by the provider's own. */
  isExact: boolean;
  windowTokens: number;
  /** Somebody said what the window is; else it is a guess. */
  isWindowKnown: boolean;
  maxRequestBytes: number;
  /** How many refusals there were before. */
  refusals: number;
}

/** How far a count may be off, since texts differ in how well they are counted. */
interface Margins {
  /** Of what we believe to free, this much is counted. */
  sure: number;
  /** Of what we believe to keep, this much more is counted. */
  kept: number;
  /** Tokens that one of ours is at least, where system prompt and tools are not known and so may be most of the request. */
  leastRatio: number;
}
const ESTIMATE: Margins = { sure: 0.65, kept: 1.2, leastRatio: 0.55 };
const EXACT: Margins = { sure: 0.85, kept: 1.1, leastRatio: 0.8 };
/** Of the limit, what is sent beside the messages hardly takes more, where nobody said what it is. */
const UNSAID_SHARE = 0.5;
/** Without numbers: what is left of the request after each refusal. At last as little as can be. */
const SHARES = [0.65, 0.35, 0] as const;
const BYTE_SHARES = [0.5, 0.2, 0] as const;
/** A limit alone says that the request was over it, not how much. */
const OVER_SHARE = 1.3;

/** Sets how much must go: by the provider's numbers where it gave some, else by steps. */
export function recoveryGoal(refused: Refused): RecoveryGoal {
  const { verdict, weight, windowTokens, maxRequestBytes, refusals } = refused;
  if (verdict.kind === "payload-too-large") {
    const step = Math.floor(weight.bytes * (BYTE_SHARES[refusals] ?? 0));
    const targetBytes = Math.min(step, maxRequestBytes);
    return { ...UNBOUND, targetBytes, windowTokens };
  }
  const { observedTokens, outputTokens = refused.answerTokens } = verdict;
  // A limit that was not reached is not why it was refused.
  const isOver = observedTokens === undefined || observedTokens + outputTokens > (verdict.limitTokens ?? 0);
  const limitTokens = isOver ? verdict.limitTokens : undefined;
  // Some stop counting there: then it says nothing of the size, as a second refusal shows.
  const isCapped = refusals > 0 && observedTokens !== undefined && observedTokens === (limitTokens ?? 0) + 1;
  if (limitTokens !== undefined && observedTokens !== undefined && !isCapped)
    return byNumbers(refused, observedTokens, limitTokens);
  const known = weight.tokens + (refused.besideTokens ?? 0);
  const limit = limitTokens ?? (refused.isWindowKnown && refusals === 0 ? windowTokens : null);
  if (limit !== null) {
    const observed = Math.max(known, limit) * OVER_SHARE ** (refusals + 1);
    const goal = { ...byNumbers(refused, observed, limit), observedTokens: null };
    return limitTokens === undefined ? { ...goal, limitTokens: null } : goal;
  }
  const targetTokens = Math.floor(Math.min(weight.tokens, windowTokens) * (SHARES[refusals] ?? 0));
  return { ...UNBOUND, targetTokens, windowTokens: Math.min(windowTokens, weight.tokens) };
}

/** A verdict with what is reserved for the answer, where the provider counted that without saying how much it is. */
export function withOutput(verdict: Verdict, answerTokens: number): Verdict {
  return verdict.includesOutput && answerTokens > 0 ? { ...verdict, outputTokens: answerTokens } : verdict;
}

const UNBOUND: Omit<RecoveryGoal, "windowTokens"> = {
  targetTokens: Infinity,
  targetBytes: Infinity,
  observedTokens: null,
  limitTokens: null,
};

function byNumbers(
  { weight, besideTokens, answerTokens, verdict, refusals, isExact }: Refused,
  observed: number,
  limit: number,
): RecoveryGoal {
  // Room for the answer stays. Some count it and say so, some count it and do not, some refuse for it only later.
  const answer = verdict.outputTokens ?? answerTokens;
  const ours = Math.max(1, weight.tokens + (besideTokens ?? 0));
  const ratio = Math.max(0.01, (observed - (verdict.outputTokens ?? 0)) / ours);
  const margins = isExact ? EXACT : ESTIMATE;
  const least = besideTokens === null ? Math.min(ratio * margins.sure, margins.leastRatio) : ratio * margins.sure;
  const excess = Math.max(observed - limit + (verdict.outputTokens === undefined ? answerTokens : 0), 1);
  // The estimate was off before if this is not the first refusal.
  const sure = weight.tokens - excess / (least * margins.sure ** refusals);
  // Where most goes, what is kept tells more than what is freed.
  const room = besideTokens === null ? limit * (1 - UNSAID_SHARE) : limit;
  const kept = (room - answer) / (ratio * margins.kept ** (refusals + 1)) - (besideTokens ?? 0);
  return {
    targetTokens: Math.floor(Math.max(0, sure, Math.min(kept, weight.tokens - 1))),
    targetBytes: Infinity,
    windowTokens: Math.max(1, Math.floor(limit / ratio)),
    observedTokens: observed,
    limitTokens: limit,
  };
}

/** A request that was answered: its messages by our estimate, and all of it by the provider's count. */
interface Answered {
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
