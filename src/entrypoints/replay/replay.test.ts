import { describe, expect, it } from "vitest";
import type { TokenCounter } from "../../contract/token-counter.ts";
import { createSpillway } from "../../index.ts";
import { memoryStore } from "../../storage/stores/memory.ts";
import { wireNamed } from "../../wire/index.ts";
import { byRule } from "./policies/by-rule.ts";
import { policies } from "./policies/index.ts";
import type { MakeSpillway, ReplayPolicy } from "./policies/policy.ts";
import { none } from "./policies/rules.ts";
import { PRICES, type Prices } from "./prices.ts";
import type { Recorded } from "./recorded.ts";
import { replay } from "./replay.ts";

/** A token is a character, so that figures can be counted by hand: a message is its role and its texts, a line each. */
const letters: TokenCounter = { name: "letters", exact: true, maxBytesPerToken: 4, count: (text) => text.length };
/** In dollars for one token. */
const prices: Prices = {
  name: "plain",
  input: 100e6,
  cacheRead: 10e6,
  cacheWrite: 125e6,
  minCacheTokens: 0,
  cacheTtlMs: 300_000,
  source: "made for this test",
};
const makeSpillway: MakeSpillway = ({ keeps, ...parts }) =>
  createSpillway({ ...parts, store: keeps ? memoryStore() : null, ledger: null, env: {} });

/** The last result stays. */
const clearOld = (sticky: boolean) =>
  byRule({
    name: "clear",
    rule: "",
    source: "",
    sticky,
    plan: ({ results }) => results.slice(0, -1).map((result) => ({ result, text: "gone" })),
  });

const byRuleNothing = byRule({ name: "nothing", rule: "", source: "", sticky: false, plan: () => [] });

const user = (content: string, more = {}) => ({ role: "user", content, ...more });
const says = (content: string) => ({ role: "assistant", content });
const calls = (id: string, command: string) => ({
  role: "assistant",
  tool_calls: [{ id, type: "function", function: { name: "sh", arguments: JSON.stringify({ command }) } }],
});
const result = (id: string, content: string, more = {}) => ({ role: "tool", tool_call_id: id, content, ...more });
const recorded = (...messages: unknown[]): Recorded => ({
  name: "by hand",
  wire: wireNamed("openai-chat") ?? expect.fail(),
  messages,
});

async function played(conversation: Recorded, policy: ReplayPolicy, windowTokens = 1000, given: Partial<Prices> = {}) {
  const options = {
    policies: [none, policy],
    windowTokens,
    prices: { ...prices, ...given },
    counter: letters,
    makeSpillway,
  };
  const { conversations, totals } = await replay([conversation], options);
  return {
    none: conversations[0]?.played[0] ?? expect.fail(),
    one: conversations[0]?.played[1] ?? expect.fail(),
    totals: totals[1] ?? expect.fail(),
  };
}

describe("replay", () => {
  // user\nhi\n                                              8
  // assistant\nsh\n{"command":"ls"}\n                      30
  // result\nalpha_beta\n                                   18
  const short = recorded(user("hi"), calls("1", "ls"), result("1", "alpha_beta"), says("I see"));

  it("counts tokens, cache and cost of each request", async () => {
    const { none: whole } = await played(short, none);
    expect(whole.requests.map(({ tokens }) => tokens)).toEqual([8, 56]);
    expect(whole.requests.map(({ cacheRead, cacheWrite }) => [cacheRead, cacheWrite])).toEqual([
      [0, 8],
      [8, 48],
    ]);
    expect(whole.requests.map(({ cost }) => cost)).toEqual([8 * 125, 8 * 10 + 48 * 125]);
    expect(whole.requests.map(({ previousBytes, unchangedBytes }) => [previousBytes, unchangedBytes])).toEqual([
      [0, 0],
      [8, 8],
    ]);
    expect(whole.fired).toBe(false);
  });

  it("caches nothing shorter than the provider does", async () => {
    const { none: whole } = await played(short, none, 1000, { minCacheTokens: 20 });
    expect(whole.requests.map(({ cacheRead, cacheWrite, uncached }) => [cacheRead, cacheWrite, uncached])).toEqual([
      [0, 0, 8],
      [0, 56, 0],
    ]);
    expect(whole.requests[0]?.cost).toBe(8 * 100);
  });

  it("finds the cache cold after a pause, where messages say when they came", async () => {
    const later = recorded(
      user("hi", { timestamp: 1e12 }),
      calls("1", "ls"),
      result("1", "x", { timestamp: 1e12 + 301_000 }),
      says("a"),
    );
    const { none: cold } = await played(later, none);
    expect(cold.requests.map(({ cacheRead }) => cacheRead)).toEqual([0, 0]);
    const { none: warm } = await played(later, none, 1000, { cacheTtlMs: 302_000 });
    expect(warm.requests.map(({ cacheRead }) => cacheRead)).toEqual([0, 8]);
  });

  it("points out requests over the window", async () => {
    const { totals } = await played(short, none, 55);
    expect(totals.overflows).toBe(1);
    expect((await played(short, none, 56)).totals.overflows).toBe(0);
  });

  const twice = (answer: string) =>
    recorded(
      user("hi"),
      calls("1", "ls"),
      result("1", "alpha_beta\nthe first line of all"),
      calls("2", "ls"),
      result("2", "second"),
      says(answer),
    );

  it("changes what a rule says, and counts what stays the same before it", async () => {
    const { one, none: whole } = await played(twice("done"), clearOld(true));
    // The first result: "result\nalpha_beta\nthe first line of all\n" is 40, "result\ngone\n" is 12.
    expect(whole.requests.map(({ tokens }) => tokens)).toEqual([8, 78, 122]);
    expect(one.requests.map(({ tokens }) => tokens)).toEqual([8, 78, 94]);
    // user 8, assistant 30, "result\n" 7
    expect(one.requests.map(({ unchangedBytes }) => unchangedBytes)).toEqual([0, 8, 45]);
    expect(one.requests[2]?.cacheRead).toBe(45);
    expect(one.requests[2]?.cost).toBe(45 * 10 + 49 * 125);
    expect(one.fired).toBe(true);
  });

  it("adds up, and averages what was unchanged over pairs of requests", async () => {
    const { totals } = await played(twice("done"), clearOld(true));
    expect(totals).toMatchObject({ requests: 3, tokens: 180, fired: 1, misses: 0, cacheRead: 53, cacheWrite: 127 });
    expect(totals.unchangedShareFired).toBeCloseTo((1 + 45 / 78) / 2);
  });

  it("misses an identifier and a line that only a cleared result had", async () => {
    const { one, none: whole } = await played(twice("alpha_beta:\n  the first line of all  "), clearOld(false));
    expect(one.requests.map(({ missed }) => missed)).toEqual([[], [], ["alpha_beta", "the first line of all"]]);
    expect(whole.requests.flatMap(({ missed }) => missed)).toEqual([]);
    // The request again, and the result's 32 characters.
    expect(one.requests[2]?.recallTokens).toBe(94 + 32);
    expect(one.requests[2]?.recallCost).toBe(94 * 10 + 32 * 125);
  });

  it("misses nothing that stands elsewhere in the request, or in what is left of the result", async () => {
    const elsewhere = recorded(user("alpha_beta?"), ...twice("alpha_beta").messages.slice(1));
    expect((await played(elsewhere, clearOld(true))).totals.misses).toBe(0);
    const trims = byRule({
      name: "trim",
      rule: "",
      source: "",
      sticky: true,
      plan: ({ results }) => results.slice(0, -1).map((each) => ({ result: each, text: each.text.slice(0, 10) })),
    });
    expect((await played(twice("alpha_beta"), trims)).totals.misses).toBe(0);
    expect((await played(twice("the first line of all"), trims)).totals.misses).toBe(1);
  });

  it("takes answers in several messages as one", async () => {
    const { none: whole } = await played(recorded(user("hi"), says("a"), says("b"), user("c"), says("d")), none);
    expect(whole.requests).toHaveLength(2);
  });

  it("plays what is malformed, and a conversation without answers", async () => {
    const { one } = await played(recorded(null, 7, ...twice("alpha_beta").messages, null, says("x")), byRuleNothing);
    expect(one).toMatchObject({ fired: false, requests: Array(4).fill(expect.anything()) });
    const { totals } = await played(recorded(user("hi")), none);
    expect(totals).toMatchObject({ requests: 0, cost: 0, unchangedShare: null });
  });

  it("does not change the recording", async () => {
    const conversation = twice("alpha_beta");
    const before = structuredClone(conversation.messages);
    for (const policy of policies) await played(conversation, policy, 20);
    expect(conversation.messages).toEqual(before);
  });
});

describe("ours", () => {
  const ours = policies.find(({ name }) => name === "ours") ?? expect.fail();
  const long = (turns: number) =>
    recorded(
      user("go"),
      ...Array.from({ length: turns }, (_, at) => [
        calls(`c${at}`, `cat part_${at}`),
        result(`c${at}`, `unique_name_${at}\n${"some words of a log\n".repeat(150)}`),
      ]).flat(),
      says("it was unique_name_0"),
    );

  it("costs exactly what none costs below its trigger", async () => {
    const { one, none: whole } = await played(long(5), ours, 1_000_000);
    expect(one).toEqual({ ...whole, policy: "ours" });
  });

  it("takes a cold cache for a chance, as long as the provider's cache lives", async () => {
    const turns = long(30)
      .messages.slice(0, -1)
      .map((message) => ({ ...(message as object), timestamp: 1e12 }));
    const later = recorded(...turns, user("and?", { timestamp: 1e12 + 600_000 }), says("well"));
    const cleared = async (cacheTtlMs: number) => (await played(later, ours, 90_000, { cacheTtlMs })).one.fired;
    expect([await cleared(300_000), await cleared(900_000)]).toEqual([true, false]);
  });

  it("acts in few steps over it, and what it cleared is missed", async () => {
    const { one, none: whole, totals } = await played(long(60), ours, 40_000);
    const steps = one.requests.filter(({ unchangedBytes, previousBytes }) => unchangedBytes < previousBytes);
    expect(one.fired).toBe(true);
    expect(steps.length).toBeLessThan(8);
    expect(totals.tokens).toBeLessThan(whole.requests.reduce((sum, { tokens }) => sum + tokens, 0) / 2);
    expect(one.requests.at(-1)?.missed).toEqual(["unique_name_0"]);
  });
});

describe("prices", () => {
  it("say where and when they were read, and reading costs no more than writing", () => {
    for (const { source, cacheRead, cacheWrite, input } of PRICES) {
      expect(source).not.toBe("");
      expect(cacheRead).toBeLessThanOrEqual(input);
      expect(cacheWrite).toBeGreaterThanOrEqual(input);
    }
  });
});

describe("recorded usage", () => {
  /** A session whose provider counts so many tokens for each of ours, with a system prompt of 500 besides. */
  const session = (share: number) => {
    const messages: unknown[] = [user("go")];
    let sent = 0;
    const tokensOf = (message: unknown) => JSON.stringify(message).length;
    for (let at = 0; at < 60; at++) {
      sent = messages.reduce<number>((sum, message) => sum + tokensOf(message), 0);
      messages.push({ ...calls(`c${at}`, `cat ${at}`), usage: { prompt_tokens: Math.round(500 + sent * share) } });
      messages.push(result(`c${at}`, "word ".repeat(20 + ((at * 37) % 400))));
    }
    return recorded(...messages);
  };
  const replayed = (conversation: Recorded) =>
    replay([conversation], { policies: [none], windowTokens: 1e6, prices, counter: letters, makeSpillway });

  it.each([0.7, 1, 1.4])(
    "the estimate is near it where the provider counts %s for one of our tokens",
    async (share) => {
      const { counted, totals } = await replayed(session(share));
      expect(counted.requests).toBe(60);
      expect(Math.abs((counted.estimated + counted.beside) / counted.tokens - 1)).toBeLessThan(0.05);
      // The table counts as the provider did, without what was sent besides.
      expect(Math.abs((totals[0]?.tokens ?? 0) / (counted.tokens - counted.beside) - 1)).toBeLessThan(0.05);
    },
  );

  it("of a request is no part of its own estimate", async () => {
    const conversation = session(1);
    const last = conversation.messages.findLast((message) => "usage" in (message as object)) as { usage: object };
    const { counted: before } = await replayed(conversation);
    last.usage = { prompt_tokens: 1_000_000 };
    const { counted: after } = await replayed(conversation);
    expect(after.estimated).toBe(before.estimated);
    expect(after.tokens).toBeGreaterThan(before.tokens);
  });

  it("that no way of counting gives is not followed", async () => {
    const { totals } = await replayed(session(9));
    const { totals: plain } = await replayed(
      recorded(...session(1).messages.map((one) => ({ ...(one as object), usage: undefined }))),
    );
    expect(totals[0]?.tokens).toBe(plain[0]?.tokens);
  });
});
