import type { Totals } from "../contract/ledger.ts";
import { NUMBERS } from "../stages/policy/defaults.ts";
import { deriveRates, type Rates } from "../stages/record/derive-rates.ts";

/** What a row of statistics means; `flagShare` is the truncation rate above which `cutsTooOften` is true, of five cut outputs or more. */
export function statRates(totals: Totals, flagShare: number = NUMBERS.truncationFlagShare.default): Rates {
  return deriveRates(totals, flagShare);
}

export type { Rates };
