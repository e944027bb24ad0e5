import type { Totals } from "../../contract/ledger.ts";

/** What sums mean. */
export interface Rates {
  /** Share of calls of which something was cut, 0 to 1. */
  truncationRate: number;
  /** Times something was read back, for each call that was cut. Over 1 when one output is read back in several parts. */
  recallRate: number;
  /** What the model was spared, less what was read back and what a tool that ran again showed. Below 0 when that cost more. */
  tokensSaved: number;
  /** More is cut than should be, of enough outputs to tell: the limits of this tool deserve a look. */
  cutsTooOften: boolean;
}

/** Fewer cut outputs than this say nothing of a tool's limits. */
export const LEAST_CUT = 5;

/** Derives rates from sums; `flagShare` is the truncation rate above which they are flagged. */
export function deriveRates(totals: Totals, flagShare: number): Rates {
  const { calls, cutCalls, recalls, tokensIn, tokensShown, recalledTokens } = totals;
  const truncationRate = calls === 0 ? 0 : cutCalls / calls;
  return {
    truncationRate,
    recallRate: cutCalls === 0 ? 0 : recalls / cutCalls,
    tokensSaved: tokensIn - tokensShown - recalledTokens,
    cutsTooOften: cutCalls >= LEAST_CUT && truncationRate > flagShare,
  };
}
