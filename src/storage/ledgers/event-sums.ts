import type { SpillwayEvent } from "../../contract/event.ts";
import type { Totals } from "../../contract/ledger.ts";
import type { Receipt } from "../../contract/receipt.ts";

/** Sums of nothing. */
export const NO_TOTALS: Readonly<Totals> = {
  calls: 0,
  cutCalls: 0,
  bytesIn: 0,
  bytesShown: 0,
  tokensShown: 0,
  tokensIn: 0,
  recalls: 0,
  recalledBytes: 0,
  recalledTokens: 0,
};

const CALLS = new Set(["output-clamped", "output-passed"]);
// A search puts text into the model's context as a recall does.
const RECALLS = new Set(["artifact-recalled", "artifact-searched"]);
const USUAL_BYTES_PER_TOKEN = 4;

/** What one event adds to the sums. */
export function eventSums({ kind, receipt, more }: SpillwayEvent): Totals {
  if (CALLS.has(kind)) {
    return {
      ...NO_TOTALS,
      calls: 1,
      cutCalls: (receipt?.omitted.bytes ?? 0) > 0 ? 1 : 0,
      bytesIn: whole(receipt?.total.bytes),
      bytesShown: whole(receipt?.shown.bytes),
      tokensShown: whole(receipt?.shown.tokens),
      tokensIn: tokensWithoutUs(receipt, more),
    };
  }
  if (RECALLS.has(kind)) {
    return {
      ...NO_TOTALS,
      recalls: 1,
      recalledBytes: whole(receipt?.shown.bytes ?? more?.["bytes"]),
      recalledTokens: whole(receipt?.shown.tokens ?? more?.["tokens"]),
    };
  }
  return NO_TOTALS;
}

/** Adds one to the other. */
export function addTotals(sum: Readonly<Totals>, more: Readonly<Totals>): Totals {
  const added = { ...NO_TOTALS };
  for (const name of Object.keys(NO_TOTALS) as (keyof Totals)[]) added[name] = sum[name] + more[name];
  return added;
}

/**
 * What the model would have been given without us: `more.tokensIn` if it was counted, else as many tokens a byte as in
 * what was shown; but no more than `more.hostTokens`, which the host would have cut it to anyway.
 */
function tokensWithoutUs(receipt: Receipt | null, more: SpillwayEvent["more"]): number {
  const counted = more?.["tokensIn"];
  const host = more?.["hostTokens"];
  const tokens = typeof counted === "number" ? whole(counted) : scaledTokens(receipt);
  return typeof host === "number" ? Math.min(tokens, whole(host)) : tokens;
}

function scaledTokens(receipt: Receipt | null): number {
  if (receipt === null) return 0;
  const { total, shown } = receipt;
  if (shown.bytes === 0) return whole(total.bytes / USUAL_BYTES_PER_TOKEN);
  return whole((shown.tokens * total.bytes) / shown.bytes);
}

/** A count, whatever a hand-made event says. */
function whole(value: unknown): number {
  return typeof value === "number" && value > 0 && value < Number.MAX_SAFE_INTEGER ? Math.round(value) : 0;
}
