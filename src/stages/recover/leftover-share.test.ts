import { describe, expect, it } from "vitest";
import type { Verdict } from "../../contract/verdict.ts";
import { leftoverShare } from "./leftover-share.ts";

const verdict = (more: Partial<Verdict>): Verdict => ({
  kind: "context-overflow",
  rule: "x",
  provider: null,
  evidence: "",
  ...more,
});
const NUMBERS = { observedTokens: 2000, limitTokens: 1000 };
/** Text in ASCII has as many bytes as characters; Chinese has three for each. */
const ascii = (tokens: number) => ({ tokens, chars: tokens * 4, bytes: tokens * 4 });
const chinese = (tokens: number) => ({ tokens, chars: tokens / 1.4, bytes: (tokens / 1.4) * 3 });
const both = (a: ReturnType<typeof ascii>, b: ReturnType<typeof ascii>) => ({
  tokens: a.tokens + b.tokens,
  chars: a.chars + b.chars,
  bytes: a.bytes + b.bytes,
});

describe("the share of the limit that a smaller request takes", () => {
  it("follows the provider's own measure where all text is of one kind", () => {
    expect(leftoverShare(verdict(NUMBERS), ascii(1000), ascii(250), ascii(0))).toBeCloseTo(0.5);
    expect(leftoverShare(verdict(NUMBERS), ascii(900), ascii(150), ascii(100))).toBeCloseTo(0.5);
  });

  it("is lower where text stays that vocabularies count less than we do", () => {
    const before = both(ascii(1000), chinese(1000));
    const left = leftoverShare(verdict(NUMBERS), before, chinese(1000), ascii(0)) as number;
    expect(left).toBeLessThan(0.7);
    expect(left).toBeGreaterThan(0.5);
    expect(leftoverShare(verdict(NUMBERS), before, ascii(1000), ascii(0))).toBeCloseTo(2 - left);
  });

  it("counts what is reserved for the answer", () => {
    const reserved = verdict({ ...NUMBERS, outputTokens: 500 });
    expect(leftoverShare(reserved, ascii(1000), ascii(0), ascii(0))).toBeCloseTo(0.5);
  });

  it("is the least it may be where only the limit is known, and not known without one", () => {
    const share = leftoverShare(verdict({ limitTokens: 100 }), ascii(900), ascii(90), ascii(30)) as number;
    expect(share).toBeGreaterThan(0.6);
    expect(share).toBeLessThan(1);
    expect(leftoverShare(verdict({}), ascii(10), ascii(1), ascii(0))).toBeNull();
  });
});
