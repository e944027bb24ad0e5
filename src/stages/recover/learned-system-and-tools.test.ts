import { describe, expect, it } from "vitest";
import type { Verdict } from "../../contract/verdict.ts";
import { learnedSystemAndTools } from "./recovery-goal.ts";

const refusal = (more: Partial<Verdict>): Verdict => ({
  kind: "context-overflow",
  rule: "x",
  provider: null,
  evidence: "",
  ...more,
});

describe("what is sent beside the messages", () => {
  // The provider counts 0.8 of our tokens, and 4,000 of its own besides the messages, which are 5,000 of ours.
  const answered = { tokens: 1000, inputTokens: 4800 };

  it("follows from an answer's usage and a refusal's number", () => {
    expect(learnedSystemAndTools(refusal({ observedTokens: 84_000 }), 100_000, answered)).toBe(5000);
    const reserved = refusal({ observedTokens: 85_000, outputTokens: 1000 });
    expect(learnedSystemAndTools(reserved, 100_000, answered)).toBe(5000);
  });

  it("is nothing rather than less than that", () => {
    const small = { tokens: 1000, inputTokens: 700 };
    expect(learnedSystemAndTools(refusal({ observedTokens: 79_900 }), 100_000, small)).toBe(0);
  });

  it("is not known without both counts, from requests alike in size, or from counts that do not go together", () => {
    expect(learnedSystemAndTools(refusal({ observedTokens: 84_000 }), 100_000, null)).toBeNull();
    expect(learnedSystemAndTools(refusal({}), 100_000, answered)).toBeNull();
    expect(learnedSystemAndTools(refusal({ observedTokens: 5000 }), 1200, answered)).toBeNull();
    expect(learnedSystemAndTools(refusal({ observedTokens: 4000 }), 100_000, answered)).toBeNull();
    expect(learnedSystemAndTools(refusal({ observedTokens: 984_000 }), 100_000, answered)).toBeNull();
    expect(
      learnedSystemAndTools(refusal({ observedTokens: 84_000 }), 100_000, { tokens: 1000, inputTokens: 3 }),
    ).toBeNull();
  });
});
