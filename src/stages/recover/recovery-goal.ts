import type { Verdict } from "../../contract/verdict.ts";
import type { Weight } from "../prune/weight.ts";

/** What a refused request must become, in our own estimate of its messages. */
export interface RecoveryGoal {
  /** A request of this size fits even if the estimate has its usual error. Infinity if tokens do not matter. */
  targetTokens: number;
  targetBytes: number;
  /** The provider's window as our estimate would count it. */
  windowTokens: number;
  /** How large the request was and may be, by the provider's count. Null if the provider did not say. */
  observedTokens: number | null;
  limitTokens: number | null;
}

/** What is known when a request was refused. */
export interface Refused {
  verdict: Verdict;
  /** The messages as they were sent, by our estimate. */
  weight: Weight;
  /** What was sent besides the messages, by our estimate. Null if nobody said it. */
  systemAndToolsTokens: number | null;
  /** The room for the answer, as the caller gave it. */
  answerTokens: number;
  /** True if weights are counts by a real vocabulary, although perhaps not the provider's own. */
  isExact: boolean;
  windowTokens: number;
  /** True if somebody said what the window is. Otherwise it is a guess. */
  isWindowKnown: boolean;
  maxRequestBytes: number;
  /** How many refusals there were before. */
  refusals: number;
}

/** How far a count may be off, because texts differ in how well they are counted. */
interface Margins {
  /** The share of the expected savings that is counted. */
  sure: number;
  /** The factor by which the remaining text is counted higher. */
  kept: number;
  /**
   * The least provider tokens that one of our tokens stands for. It is used if the system prompt and tools are not
   * known and so may be most of the request.
   */
  leastRatio: number;
}
const ESTIMATE: Margins = { sure: 0.65, kept: 1.2, leastRatio: 0.55 };
const EXACT: Margins = { sure: 0.85, kept: 1.1, leastRatio: 0.8 };
/** If nobody said what is sent besides the messages, it hardly takes more than this share of the limit. */
const UNSAID_SHARE = 0.5;
/**
 * If there are no numbers: the share of the request that is left after each refusal. The last one is as little as
 * possible.
 */
const SHARES = [0.65, 0.35, 0] as const;
const BYTE_SHARES = [0.5, 0.2, 0] as const;
/** A limit alone says that the request was over it, but not by how much. This is the assumed factor. */
const OVER_SHARE = 1.3;

/** Sets how much must be removed: by the provider's numbers if it gave some, otherwise by steps. */
export function recoveryGoal(refused: Refused): RecoveryGoal {
  const { verdict, weight, windowTokens, maxRequestBytes, refusals } = refused;
  if (verdict.kind === "payload-too-large") {
    const step = Math.floor(weight.bytes * (BYTE_SHARES[refusals] ?? 0));
    const targetBytes = Math.min(step, maxRequestBytes);
    return { ...UNBOUND, targetBytes, windowTokens };
  }
  const { observedTokens, outputTokens = refused.answerTokens } = verdict;
  // If the limit was not reached, it is not why the request was refused.
  const isOver = observedTokens === undefined || observedTokens + outputTokens > (verdict.limitTokens ?? 0);
  const limitTokens = isOver ? verdict.limitTokens : undefined;
  // Some providers stop counting just over the limit. Then the number does not say the size, as a second refusal shows.
  const isCapped = refusals > 0 && observedTokens !== undefined && observedTokens === (limitTokens ?? 0) + 1;
  if (limitTokens !== undefined && observedTokens !== undefined && !isCapped)
    return byNumbers(refused, observedTokens, limitTokens);
  const known = weight.tokens + (refused.systemAndToolsTokens ?? 0);
  const limit = limitTokens ?? (refused.isWindowKnown && refusals === 0 ? windowTokens : null);
  if (limit !== null) {
    const observed = Math.max(known, limit) * OVER_SHARE ** (refusals + 1);
    const goal = { ...byNumbers(refused, observed, limit), observedTokens: null };
    return limitTokens === undefined ? { ...goal, limitTokens: null } : goal;
  }
  const targetTokens = Math.floor(Math.min(weight.tokens, windowTokens) * (SHARES[refusals] ?? 0));
  return { ...UNBOUND, targetTokens, windowTokens: Math.min(windowTokens, weight.tokens) };
}

/** If the provider counted the answer without saying how much it is, adds the caller's number to the verdict. */
export function withOutput(verdict: Verdict, answerTokens: number): Verdict {
  return verdict.includesOutput && answerTokens > 0 ? { ...verdict, outputTokens: answerTokens } : verdict;
}

/** An answer that takes more of the limit than this leaves too little for the messages: it is what must become smaller. */
const MOST_ANSWER_SHARE = 0.5;

/**
 * Returns the most that a request may reserve for the answer, or null if its reservation is not why it was refused. A
 * provider can say more than the request reserves, for example the sum of several answers.
 */
export function lowerAnswer(
  { outputTokens = 0, limitTokens = Infinity }: Verdict,
  reservedTokens = outputTokens,
): number | null {
  const most = Math.max(1, Math.floor(limitTokens * MOST_ANSWER_SHARE));
  return Math.min(outputTokens, reservedTokens) > most ? most : null;
}

/** Returns true if the room for the answer is all that the limit allows, so that no request with it fits. */
export function fillsLimit({ outputTokens = 0, limitTokens = Infinity }: Verdict): boolean {
  return outputTokens >= limitTokens;
}

/** The verdict on the same messages with less reserved for the answer. */
export function withLowerAnswer(verdict: Verdict, outputTokens: number): Verdict {
  const { observedTokens } = verdict;
  const less = observedTokens !== undefined && observedTokens - (verdict.outputTokens ?? 0) + outputTokens;
  return { ...verdict, outputTokens, ...(less !== false && { observedTokens: less }) };
}

const UNBOUND: Omit<RecoveryGoal, "windowTokens"> = {
  targetTokens: Infinity,
  targetBytes: Infinity,
  observedTokens: null,
  limitTokens: null,
};

function byNumbers(
  { weight, systemAndToolsTokens, answerTokens, verdict, refusals, isExact }: Refused,
  observed: number,
  limit: number,
): RecoveryGoal {
  // Room for the answer stays. Some providers count it and say so, some count it and do not say so, and some refuse for
  // it only later.
  const answer = verdict.outputTokens ?? answerTokens;
  const ours = Math.max(1, weight.tokens + (systemAndToolsTokens ?? 0));
  const ratio = Math.max(0.01, (observed - (verdict.outputTokens ?? 0)) / ours);
  const margins = isExact ? EXACT : ESTIMATE;
  const least =
    systemAndToolsTokens === null ? Math.min(ratio * margins.sure, margins.leastRatio) : ratio * margins.sure;
  const excess = Math.max(observed - limit + (verdict.outputTokens === undefined ? answerTokens : 0), 1);
  // If this is not the first refusal, the estimate was off before.
  const sure = weight.tokens - excess / (least * margins.sure ** refusals);
  // If most of the request is removed, the estimate of what is kept is better than the estimate of what is removed.
  const room = systemAndToolsTokens === null ? limit * (1 - UNSAID_SHARE) : limit;
  const kept = (room - answer) / (ratio * margins.kept ** (refusals + 1)) - (systemAndToolsTokens ?? 0);
  return {
    targetTokens: Math.floor(Math.max(0, sure, Math.min(kept, weight.tokens - 1))),
    targetBytes: Infinity,
    windowTokens: Math.max(1, Math.floor(limit / ratio)),
    observedTokens: observed,
    limitTokens: limit,
  };
}

/** A request that was answered: its messages by our estimate, and the whole of it by the provider's count. */
interface Answered {
  tokens: number;
  inputTokens: number;
}

/**
 * A refused request must be larger than the answered one by this factor. Otherwise the difference of the two says
 * nothing.
 */
const LARGER_SHARE = 1.5;
/**
 * How many provider tokens one of our tokens can be. Outside this range, the system prompt or tools of the two requests
 * differed.
 */
const LEAST_RATIO = 0.3;
const MOST_RATIO = 3;
/** If a usage is less than this share of the messages' own tokens, it does not count all of them. */
const LEAST_COUNTED = 0.5;

/**
 * Returns the tokens of what is sent besides the messages, by our estimate, if nobody said it. Two counts of the
 * provider, of a smaller and of a larger request, show how it counts and what does not grow with the messages. Returns
 * null if they do not.
 */
export function learnedSystemAndTools(
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

/** How much too high our own count may be if there is no count of the provider to compare it with. */
const HIGH_SHARE = { estimate: 1.5, exact: 1.25 };

/**
 * Returns the share of the provider's limit that a smaller request takes, by what the provider's numbers say about the
 * larger one. Over 1, sending it is not worth a try. If only a limit is known, returns the least share that it can be.
 * If there is no limit, returns null. Both sizes are of whole requests, by our estimate. The room for the answer stays,
 * as the provider says it, or else the caller.
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
