import { describe, expect, it } from "vitest";
import type { Verdict } from "../../contract/verdict.ts";
import { type Refused, recoveryGoal, withOutput } from "./recovery-goal.ts";

const verdict = (more: Partial<Verdict> = {}): Verdict => ({
  kind: "context-overflow",
  rule: "x",
  provider: null,
  evidence: "",
  ...more,
});
const refused = (more: Partial<Refused> = {}): Refused => ({
  verdict: verdict(),
  weight: { chars: 400_000, tokens: 100_000, bytes: 400_000 },
  systemAndToolsTokens: 0,
  answerTokens: 0,
  isExact: false,
  windowTokens: 200_000,
  isWindowKnown: false,
  maxRequestBytes: 30_000_000,
  refusals: 0,
  ...more,
});

describe("how much must go", () => {
  it("the provider's numbers set it, by its own measure of our tokens", () => {
    // The provider counts 1.5 times as many tokens as we do.
    const goal = recoveryGoal(refused({ verdict: verdict({ observedTokens: 150_000, limitTokens: 120_000 }) }));
    expect(goal).toMatchObject({ observedTokens: 150_000, limitTokens: 120_000, windowTokens: 80_000 });
    expect(goal.targetTokens * 1.5).toBeLessThan(120_000);
    expect(goal.targetTokens * 1.5).toBeGreaterThan(90_000);
  });

  it("numbers that do not say why it was refused are no numbers", () => {
    const unsaid = recoveryGoal(refused());
    for (const observedTokens of [100, 200_000])
      expect(recoveryGoal(refused({ verdict: verdict({ observedTokens, limitTokens: 200_000 }) }))).toEqual(unsaid);
    // With the tokens for the answer, the request was over the limit.
    const numbers = { observedTokens: 199_000, limitTokens: 200_000 };
    const goal = recoveryGoal(refused({ verdict: verdict(numbers), answerTokens: 4000 }));
    expect(goal).toMatchObject(numbers);
  });

  it("a count that ends one over the limit again is none", () => {
    const capped = verdict({ observedTokens: 50_001, limitTokens: 50_000 });
    const [first, second] = [0, 1].map((refusals) => recoveryGoal(refused({ verdict: capped, refusals })));
    expect(first).toMatchObject({ observedTokens: 50_001 });
    expect(second).toMatchObject({ observedTokens: null, limitTokens: 50_000 });
    expect(second?.targetTokens).toBeLessThan(50_000);
  });

  it("what is reserved for the answer stays", () => {
    const numbers = { observedTokens: 150_000, limitTokens: 120_000 };
    const without = recoveryGoal(refused({ verdict: verdict(numbers) }));
    const reserved = recoveryGoal(refused({ verdict: verdict({ ...numbers, outputTokens: 50_000 }) }));
    expect(reserved.targetTokens).toBeLessThan(without.targetTokens);
    const said = recoveryGoal(refused({ verdict: verdict(numbers), answerTokens: 50_000 }));
    expect(said.targetTokens).toBeLessThan(without.targetTokens);
  });

  it("what is reserved for the answer is taken off a number that includes it, if the caller says how much it is", () => {
    const total = verdict({ observedTokens: 150_000, limitTokens: 120_000, includesOutput: true });
    expect(withOutput(total, 50_000).outputTokens).toBe(50_000);
    expect(withOutput(total, 0)).toBe(total);
    const apart = verdict({ observedTokens: 150_000, limitTokens: 120_000 });
    expect(withOutput(apart, 50_000)).toBe(apart);
    // The tokens for the answer did not grow with the messages, so less of the messages has to go.
    const target = (one: Verdict) => recoveryGoal(refused({ verdict: withOutput(one, 50_000), answerTokens: 50_000 }));
    expect(target(total).targetTokens).toBeGreaterThan(target(apart).targetTokens);
  });

  it("what is not known of the rest of the request makes it more careful", () => {
    const numbers = verdict({ observedTokens: 150_000, limitTokens: 120_000 });
    const known = recoveryGoal(refused({ verdict: numbers, systemAndToolsTokens: 20_000 }));
    const unknown = recoveryGoal(refused({ verdict: numbers, systemAndToolsTokens: null }));
    expect(unknown.targetTokens).toBeLessThan(known.targetTokens);
  });

  it("a real vocabulary needs less care than an estimate", () => {
    for (const systemAndToolsTokens of [20_000, null]) {
      const given = { verdict: verdict({ observedTokens: 150_000, limitTokens: 120_000 }), systemAndToolsTokens };
      const exact = recoveryGoal(refused({ ...given, isExact: true })).targetTokens;
      expect(exact).toBeGreaterThan(recoveryGoal(refused(given)).targetTokens);
      const ratio = 150_000 / (100_000 + (systemAndToolsTokens ?? 0));
      expect((exact + (systemAndToolsTokens ?? 0)) * ratio).toBeLessThan(120_000);
    }
  });

  it("each refusal makes it more careful, and the last takes all there is", () => {
    const targets = (more: Partial<Verdict>) =>
      [0, 1, 2].map((refusals) => recoveryGoal(refused({ verdict: verdict(more), refusals })).targetTokens);
    for (const more of [{}, { observedTokens: 110_000, limitTokens: 100_000 }, { limitTokens: 90_000 }]) {
      const [first = 0, second = 0, third = 0] = targets(more);
      expect(first).toBeLessThan(100_000);
      expect(second).toBeLessThan(first);
      expect(third).toBeLessThan(second);
    }
    expect(targets({})[2]).toBe(0);
  });

  it("a stated window stands for a limit that the provider did not name", () => {
    const goal = recoveryGoal(refused({ windowTokens: 50_000, isWindowKnown: true }));
    expect(goal.targetTokens).toBeLessThan(50_000);
    expect(goal.limitTokens).toBeNull();
  });

  it("bytes are counted where bytes were refused, and tokens do not matter", () => {
    const goal = recoveryGoal(refused({ verdict: verdict({ kind: "payload-too-large" }) }));
    expect(goal).toMatchObject({ targetTokens: Infinity, targetBytes: 200_000 });
    const large = { chars: 0, tokens: 1, bytes: 90_000_000 };
    const over = recoveryGoal(refused({ verdict: verdict({ kind: "payload-too-large" }), weight: large }));
    expect(over.targetBytes).toBe(30_000_000);
  });
});
