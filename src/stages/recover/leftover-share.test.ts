import { describe, expect, it } from "vitest";
import type { Verdict } from "../../contract/verdict.ts";
import { leftoverShare } from "./recovery-goal.ts";

const verdict = (more: Partial<Verdict>): Verdict => ({
  kind: "context-overflow",
  rule: "x",
  provider: null,
  evidence: "",
  ...more,
});
const NUMBERS = { observedTokens: 2000, limitTokens: 1000 };

describe("the share of the limit that a smaller request takes", () => {
  it("follows the provider's own measure", () => {
    expect(leftoverShare(verdict(NUMBERS), 1000, 250, 0)).toBeCloseTo(0.5);
    expect(leftoverShare(verdict(NUMBERS), 4000, 3000, 0)).toBeCloseTo(1.5);
  });

  it("counts what is reserved for the answer", () => {
    const reserved = verdict({ ...NUMBERS, outputTokens: 500 });
    expect(leftoverShare(reserved, 1000, 0, 0)).toBeCloseTo(0.5);
    expect(leftoverShare(reserved, 1500, 300, 70)).toBeCloseTo(0.8);
    expect(leftoverShare(verdict(NUMBERS), 1000, 250, 100)).toBeCloseTo(0.6);
  });

  it("is the least it may be where only the limit is known, and not known without one", () => {
    const share = leftoverShare(verdict({ limitTokens: 100 }), 900, 120, 0) as number;
    expect(share).toBeGreaterThan(0.6);
    expect(share).toBeLessThan(1);
    expect(leftoverShare(verdict({ limitTokens: 100 }), 900, 120, 0, true)).toBeGreaterThan(share);
    expect(leftoverShare(verdict({}), 10, 1, 0)).toBeNull();
  });
});
