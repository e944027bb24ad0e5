import { describe, expect, it, vi } from "vitest";
import type { TokenCounter } from "../contract/token-counter.ts";
import type { Verdict } from "../contract/verdict.ts";
import type { Wire } from "../contract/wire.ts";
import { estimateCounter } from "../stages/measure/estimate-tokens.ts";
import { NUMBERS } from "../stages/policy/defaults.ts";
import { weighSystemAndTools } from "../stages/prune/weight.ts";
import { wireNamed } from "../wire/index.ts";
import { CallScale, countersOf } from "./call-scale.ts";
import { Draft } from "./draft.ts";

const refusal = (more: Partial<Verdict> = {}): Verdict => ({
  kind: "context-overflow",
  rule: "x",
  provider: null,
  evidence: "",
  ...more,
});
const byLetter: TokenCounter = { name: "letters", exact: true, maxBytesPerToken: 4, count: (text) => text.length };
const counters = (exactCounter?: () => Promise<TokenCounter>) => countersOf({ counter: estimateCounter, exactCounter });
const messages = [
  { role: "user", content: "What went wrong with the build of last night?" },
  { role: "assistant", content: "It ran out of memory while it linked." },
];
const draftBy = (scale: CallScale, wire = "openai-chat") => new Draft(wireNamed(wire) as Wire, messages, scale.now);

describe("what a refused request is weighed with", () => {
  it("a real vocabulary where there is one and there is a limit to meet, loaded once", async () => {
    const load = vi.fn<() => Promise<TokenCounter>>(async () => byLetter);
    const both = counters(load);
    const scale = new CallScale(both, undefined);
    const draft = draftBy(scale);
    expect(await scale.recount(draft, refusal())).toBe(draft);
    expect(load).not.toHaveBeenCalled();
    const recounted = await scale.recount(draft, refusal({ limitTokens: 10 }));
    expect(recounted.messages).toBe(draft.messages);
    expect(recounted.total.tokens).toBeGreaterThan(draft.total.tokens * 2);
    expect(scale.now.isExact).toBe(true);
    // What prepare counts stays the same.
    expect(scale.preparedTokens(recounted)).toBe(draft.total.tokens);
    expect(await scale.recount(recounted, refusal({ limitTokens: 10 }))).toBe(recounted);
    const other = new CallScale(both, undefined);
    await other.recount(draftBy(other), refusal({ limitTokens: 10 }));
    expect(load).toHaveBeenCalledTimes(1);
  });

  it("the estimate where there is none, it cannot be loaded, or there is too much to count", async () => {
    const failing = async (): Promise<TokenCounter> => Promise.reject(new Error("not installed"));
    for (const both of [counters(), counters(failing)]) {
      const scale = new CallScale(both, undefined);
      const draft = draftBy(scale);
      expect(await scale.recount(draft, refusal({ limitTokens: 10 }))).toBe(draft);
    }
    const scale = new CallScale(
      counters(async () => byLetter),
      undefined,
    );
    const huge = [{ role: "user", content: "word ".repeat(NUMBERS.recoverExactBytes.default / 5 + 1) }];
    const draft = new Draft(wireNamed("openai-chat") as Wire, huge, scale.now);
    expect(await scale.recount(draft, refusal({ limitTokens: 10 }))).toBe(draft);
  });
});

describe("what stands beside the messages", () => {
  it("is weighed without what no model reads", () => {
    const system = "You are careful.";
    const read = weighSystemAndTools({ system }, byLetter.count).tokens;
    expect(read).toBe(system.length);
    expect(
      weighSystemAndTools({ model: "a-model-of-some-name", max_tokens: 1000, stream: true, system }, byLetter.count)
        .tokens,
    ).toBe(read);
    expect(weighSystemAndTools(system, byLetter.count).tokens).toBe(read);
    expect(weighSystemAndTools(undefined, byLetter.count).tokens).toBe(0);
    expect(weighSystemAndTools({ tools: [{ name: "bash" }] }, byLetter.count).tokens).toBeGreaterThan("bash".length);
  });

  it("is what the caller said, else what the refusal says of the tools, else not known", () => {
    const said = new CallScale(counters(), { system: "You are careful." });
    const numbers = refusal({ observedTokens: 1000, limitTokens: 500, toolTokens: 500 });
    expect(said.systemAndToolsTokens(draftBy(said), numbers, [])).toBe(said.saidTokens);
    const unsaid = new CallScale(counters(), undefined);
    const prompted = [{ role: "system", content: "You are careful." }, ...messages];
    const draft = new Draft(wireNamed("openai-chat") as Wire, prompted, unsaid.now);
    // The tools have as many tokens as the messages.
    expect(unsaid.systemAndToolsTokens(draft, numbers, [])).toBe(draft.total.tokens);
    // The system prompt is, or may be, sent besides the messages too.
    for (const wire of ["anthropic", "openai-chat"]) {
      const scale = new CallScale(counters(), undefined);
      expect(scale.systemAndToolsTokens(draftBy(scale, wire), numbers, [])).toBeNull();
    }
  });

  it("is told by two refusals of one call", () => {
    const scale = new CallScale(counters(), undefined);
    const wire = wireNamed("anthropic") as Wire;
    const long = new Draft(wire, [...messages, ...messages, ...messages], scale.now);
    const short = draftBy(scale, "anthropic");
    const observed = (draft: Draft) => refusal({ observedTokens: 2 * draft.total.tokens + 500, limitTokens: 400 });
    expect(scale.systemAndToolsTokens(long, observed(long), [])).toBeNull();
    expect(scale.systemAndToolsTokens(short, observed(short), [])).toBe(250);
  });
});
