import type { Totals } from "../../contract/ledger.ts";
import type { Limits } from "../../contract/limits.ts";
import type { Receipt } from "../../contract/receipt.ts";

/** What sums mean. */
export interface Rates {
  /** Share of calls of which something was cut, 0 to 1. */
  truncationRate: number;
  /** Times something was read back, for each call that was cut. Over 1 when one output is read back in several parts. */
  recallRate: number;
  /** What the model was spared, less what was read back. Below 0 when reading back cost more. */
  tokensSaved: number;
  /** More is cut than should be: the limits of this tool deserve a look. */
  cutsTooOften: boolean;
}

/** Derives rates from sums; `flagShare` is the truncation rate above which they are flagged. */
export function deriveRates(totals: Totals, flagShare: number): Rates {
  const { calls, cutCalls, recalls, tokensIn, tokensShown, recalledTokens } = totals;
  const truncationRate = calls === 0 ? 0 : cutCalls / calls;
  return {
    truncationRate,
    recallRate: cutCalls === 0 ? 0 : recalls / cutCalls,
    tokensSaved: tokensIn - tokensShown - recalledTokens,
    cutsTooOften: truncationRate > flagShare,
  };
}

const USUAL_BYTES_PER_TOKEN = 4;

/**
 * What the host would have shown of an output had it cut it to limits of its own, in tokens: by the measure of tokens a
 * byte that what was shown has.
 */
export function hostTokens({ total, shown }: Receipt, totalChars: number, host: Limits): number {
  const { maxBytes, maxChars, maxLines, maxTokens } = host;
  const part = (limit: number | undefined, whole: number) => (limit === undefined || whole === 0 ? 1 : limit / whole);
  const share = Math.min(1, part(maxBytes, total.bytes), part(maxChars, totalChars), part(maxLines, total.lines));
  const perByte = shown.bytes === 0 ? 1 / USUAL_BYTES_PER_TOKEN : shown.tokens / shown.bytes;
  return Math.min(Math.round(total.bytes * perByte * share), maxTokens ?? Number.POSITIVE_INFINITY);
}
