import { describe, expect, it } from "vitest";
import type { SignatureInput } from "../../contract/verdict.ts";
import { SpillwayError } from "../../errors.ts";
import { classify } from "./classify.ts";
import { compileSignatures } from "./compile-signatures.ts";

const mine: SignatureInput = {
  rule: "house-gateway",
  kind: "context-overflow",
  provider: "house",
  text: ["cannot digest {observed} of at most {limit}"],
};

describe("rules of one's own", () => {
  it("are asked before all others", () => {
    const rules = compileSignatures([mine, { rule: "house-429", kind: "other", status: [429] }]);
    const error = { status: 400, error: { message: "Cannot digest 900 of at most 512" } };
    expect(classify(error).kind).toBe("other");
    expect(classify(error, { rules })).toEqual({
      kind: "context-overflow",
      rule: "house-gateway",
      provider: "house",
      observedTokens: 900,
      limitTokens: 512,
      evidence: "cannot digest 900 of at most 512",
    });
    expect(classify({ status: 429, message: "rate limit" }).kind).toBe("rate-limit");
    expect(classify({ status: 429, message: "rate limit" }, { rules }).rule).toBe("house-429");
  });

  it("hold only where everything they name holds", () => {
    const rule: SignatureInput = { ...mine, status: [400], code: ["TOO_BIG"], not: ["for today"] };
    const rules = compileSignatures([rule]);
    const verdict = (subject: object) => classify(subject, { rules }).rule;
    const message = "cannot digest 900 of at most 512";
    expect(verdict({ status: 400, code: "too_big", message })).toBe("house-gateway");
    expect(verdict({ status: 500, code: "too_big", message })).toBeNull();
    expect(verdict({ status: 400, code: "other", message })).toBeNull();
    expect(verdict({ status: 400, code: "too_big", message: `${message} for today` })).toBeNull();
  });

  it.each<[string, unknown, RegExp]>([
    ["a name", { ...mine, rule: "My Rule" }, /overflow\.rules\[0\] \("My Rule"\): its name must be/],
    ["a kind", { ...mine, kind: "too-much" }, /its kind must be one of context-overflow/],
    ["nothing to know it by", { rule: "x", kind: "other" }, /needs a status, a code, a stop or a text/],
    ["a placeholder", { ...mine, text: ["limit is {max}"] }, /\{max\} is not known/],
    ["a text that is too short", { ...mine, text: ["a"] }, /fewer than 4/],
    ["a text that is too long", { ...mine, text: ["a".repeat(501)] }, /over 500 characters/],
    ["a list", { ...mine, text: "limit" }, /lists of at most/],
    ["a status", { ...mine, status: [200] }, /from 400 to 599/],
    ["named, by nobody", { rule: "x", kind: "other", status: [400], named: true }, /"named" needs a provider/],
    ["no object", null, /overflow\.rules\[0\]: a rule is an object/],
    ["a key that nobody knows", { ...mine, texts: ["x"] }, /texts is not known; known are rule, kind/],
    ["a provider", { ...mine, provider: 7 }, /its provider must be a name/],
  ])("%s is refused", (_what, input, why) => {
    const compile = () => compileSignatures([input as SignatureInput]);
    expect(compile).toThrow(why);
    expect(compile).toThrow(SpillwayError);
  });

  it("are bounded in number", () => {
    expect(() => compileSignatures(Array.from({ length: 201 }, () => mine))).toThrow(/over 200 rules/);
  });

  it("cannot take long, whatever the text", () => {
    const rules = compileSignatures([{ ...mine, text: ["a ... a ... a ... a ... a ... a ... b {limit} end"] }]);
    const text = "a 1 ".repeat(100_000);
    expect(classify({ status: 400, message: text }, { rules }).rule).toBeNull();
  });
});
