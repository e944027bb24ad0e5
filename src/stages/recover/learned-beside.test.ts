import { describe, expect, it } from "vitest";
import type { Verdict } from "../../contract/verdict.ts";
import { learnedBeside } from "./learned-beside.ts";

const refusal = (more: Partial<Verdict>): Verdict => ({
  kind: "context-overflow",
  rule: "x",
  provider: null,
  evidence: "",
  ...more,
});
const ascii = (tokens: number) => ({ tokens, chars: tokens * 4, bytes: tokens * 4 });

describe("what is sent beside the messages", () => {
  // The provider counts 0.8 of our tokens, and 4,000 of its own beside: 5,000 of ours.
  const answered = { weight: ascii(1000), inputTokens: 4800 };

  it("follows from an answer's usage and a refusal's number", () => {
    expect(learnedBeside(refusal({ observedTokens: 84_000 }), ascii(100_000), answered)).toMatchObject({
      tokens: 5000,
    });
    const reserved = refusal({ observedTokens: 85_000, outputTokens: 1000 });
    expect(learnedBeside(reserved, ascii(100_000), answered)).toMatchObject({ tokens: 5000 });
  });

  it("is nothing rather than less than that", () => {
    const small = { weight: ascii(1000), inputTokens: 700 };
    expect(learnedBeside(refusal({ observedTokens: 79_900 }), ascii(100_000), small)).toMatchObject({ tokens: 0 });
  });

  it("is not known without both counts, from requests alike in size, or from counts that do not go together", () => {
    expect(learnedBeside(refusal({ observedTokens: 84_000 }), ascii(100_000), null)).toBeNull();
    expect(learnedBeside(refusal({}), ascii(100_000), answered)).toBeNull();
    expect(learnedBeside(refusal({ observedTokens: 5000 }), ascii(1200), answered)).toBeNull();
    expect(learnedBeside(refusal({ observedTokens: 4000 }), ascii(100_000), answered)).toBeNull();
    expect(learnedBeside(refusal({ observedTokens: 984_000 }), ascii(100_000), answered)).toBeNull();
  });
});
