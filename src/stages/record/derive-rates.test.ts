import { expect, it } from "vitest";
import type { Totals } from "../../contract/ledger.ts";
import { deriveRates } from "./derive-rates.ts";

const totals: Totals = {
  calls: 20,
  cutCalls: 8,
  bytesIn: 100_000,
  bytesShown: 20_000,
  tokensIn: 25_000,
  tokensShown: 5000,
  recalls: 4,
  recalledBytes: 4000,
  recalledTokens: 1000,
  requests: 0,
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  refusals: 0,
  recoveries: 0,
};

it("derives rates and what was saved net of recalls", () => {
  expect(deriveRates(totals, 0.5)).toEqual({
    truncationRate: 0.4,
    recallRate: 0.5,
    tokensSaved: 19_000,
    cutsTooOften: false,
  });
});

it("flags a truncation rate above the share, and not at it", () => {
  expect([0.39, 0.4, 0.41].map((share) => deriveRates(totals, share).cutsTooOften)).toEqual([true, false, false]);
});

it("flags no rate of fewer than five cut outputs, which say nothing of the limits", () => {
  const flagged = [1, 4, 5].map((count) => deriveRates({ ...totals, calls: count, cutCalls: count }, 0.5).cutsTooOften);
  expect(flagged).toEqual([false, false, true]);
});

it("has no rates of nothing", () => {
  const none = { ...totals, calls: 0, cutCalls: 0 };
  expect(deriveRates(none, 0)).toMatchObject({ truncationRate: 0, recallRate: 0, cutsTooOften: false });
});

it("says honestly when reading back cost more than was saved", () => {
  expect(deriveRates({ ...totals, recalledTokens: 30_000 }, 0.5).tokensSaved).toBe(-10_000);
});
