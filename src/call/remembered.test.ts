import { describe, expect, it, vi } from "vitest";
import type { Compactor } from "../extend.ts";
import { type CallOptions, createSpillway, OverflowError, type SpillwayOptions } from "../index.ts";
import { memoryLedger } from "../storage/ledgers/memory.ts";
import { memoryStore } from "../storage/stores/memory.ts";

// What a call found out is known to the next one, though its messages are other objects and the process is another.

type Message = Record<string, unknown>;

const user = (content: unknown): Message => ({ role: "user", content });
const words = (chars: number, word = "lorem ipsum ") => word.repeat(Math.ceil(chars / word.length)).slice(0, chars);
const turn = (id: string, text: string): Message[] => [
  { role: "assistant", content: [{ type: "tool_use", id, name: "lookup", input: { path: id } }] },
  user([{ type: "tool_result", tool_use_id: id, content: text }]),
];
const session = (count: number, chars: number, first = "go"): Message[] => [
  user(first),
  ...Array.from({ length: count }, (_, at) => turn(`c${at}`, words(chars))).flat(),
];
const tokensOf = (messages: readonly unknown[]) => Math.ceil(JSON.stringify(messages).length / 4);
const OPTIONS: CallOptions = { wire: "anthropic", systemAndTools: "" };

/** Takes up to `limit` tokens of four characters each, and counts `more` of what is sent besides the messages. */
function provider(limit: number, more = 0) {
  const sent: Message[][] = [];
  const send = (messages: Message[]) => {
    sent.push(structuredClone(messages));
    const tokens = tokensOf(messages) + more;
    if (tokens > limit)
      throw Object.assign(new Error(`400 prompt is too long: ${tokens} tokens > ${limit} maximum`), { status: 400 });
    return { usage: { input_tokens: tokens } };
  };
  return { sent, send };
}

/** One store and ledger, and a Spillway that is made anew for each call. */
function restarting(options: SpillwayOptions = {}) {
  const parts = { store: memoryStore(), ledger: memoryLedger(), ...options };
  return {
    ...parts,
    call: async (messages: readonly Message[], send: (given: Message[]) => unknown, asked: CallOptions = {}) => {
      const spillway = await createSpillway({ ...parts, env: {} });
      return spillway.call(structuredClone(messages) as Message[], send, { ...OPTIONS, ...asked });
    },
  };
}

describe("a host that builds its messages anew, after a restart", () => {
  it.each(["s", undefined])("is not refused again for what was accepted in session %s", async (name) => {
    const { call } = restarting();
    const { sent, send } = provider(20_000);
    const messages = session(8, 15_000);
    const asked = name === undefined ? {} : { session: name };
    await call(messages, send, asked);
    expect(sent).toHaveLength(2);
    await call([...messages, ...turn("next", words(400))], send, asked);
    expect(sent).toHaveLength(3);
    expect(sent[2]?.slice(0, messages.length)).toEqual(sent[1]);
  });

  it("another session, another first word, other calls and an earlier turn are shown whole", async () => {
    const { call } = restarting();
    const messages = session(8, 15_000);
    await call(messages, provider(20_000).send, { session: "s" });
    const { sent, send } = provider(1_000_000);
    const others: [Message[], string][] = [
      [messages, "t"],
      [session(8, 15_000, "stop"), "s"],
      [[user("go"), ...turn("x", "other"), ...messages.slice(3)], "s"],
      [messages.slice(0, -2), "s"],
    ];
    for (const [given, name] of others) await call(given, send, { session: name, pruning: { mode: "off" } });
    expect(sent).toEqual(others.map(([given]) => given));
  });

  it("has its pictures left out again", async () => {
    const { call } = restarting();
    const picture = { type: "image", source: { type: "base64", media_type: "image/png", data: "A".repeat(40_000) } };
    const inResult = [{ type: "tool_result", tool_use_id: "p", content: [{ type: "text", text: "seen" }, picture] }];
    const messages = [
      user([{ type: "text", text: "what is it?" }, picture]),
      { role: "assistant", content: [{ type: "tool_use", id: "p", name: "look", input: {} }] },
      user(inResult),
    ];
    const sent: Message[][] = [];
    const send = (given: Message[]) => {
      sent.push(given);
      if (JSON.stringify(given).length > 20_000) throw Object.assign(new Error("request_too_large"), { status: 413 });
      return "answer";
    };
    await call(messages, send, { media: "all" });
    const first = sent.length;
    expect(JSON.stringify(sent.at(-1))).not.toContain("AAAA");
    await call([...messages, { role: "assistant", content: "a cat" }, user("sure?")], send, { media: "all" });
    expect(sent).toHaveLength(first + 1);
    expect(sent.at(-1)?.slice(0, 3)).toEqual(sent[first - 1]);
  });

  it("pays for a summary once", async () => {
    const compact = vi.fn<Compactor["compact"]>(async ({ messages }) => ({
      messages: [messages[0], user("Summary: all went well."), ...messages.slice(-2)],
      summaryTokens: 5,
    }));
    const { call } = restarting();
    const { sent, send } = provider(10_000);
    const system = (time: string) => ({ role: "system", content: `It is ${time}.` });
    const talk = [user(words(60_000)), { role: "assistant", content: words(40_000) }, ...session(2, 600)];
    const asked = { compactor: { compact } };
    await call([system("noon"), ...talk], send, asked);
    const more = [...talk, { role: "assistant", content: "ok" }, user("more")];
    await call([system("one"), ...more], send, asked);
    expect(compact).toHaveBeenCalledTimes(1);
    expect(sent).toHaveLength(3);
    // The prompt is today's, and what came after the summary follows it.
    expect(sent[2]).toEqual([system("one"), user("Summary: all went well."), ...more.slice(-4)]);
    // Another talk of the same turns has another summary.
    await call([system("two"), user(words(60_001)), ...more.slice(1)], send, asked).catch(() => {});
    expect(compact.mock.calls.length).toBeGreaterThan(1);
  });

  it("shows a summary to no other talk of the same turns, in one process too", async () => {
    const compact: Compactor["compact"] = async ({ messages }) => ({
      messages: [user("Summary."), ...messages.slice(-1)],
      summaryTokens: 5,
    });
    const spillway = await createSpillway({ store: null, ledger: null, env: {} });
    const talk = (said: string) => [user("hi"), { role: "assistant", content: said }, user("and?")];
    const { sent, send } = provider(10_000);
    await spillway.call(talk(words(60_000)), send, { ...OPTIONS, compactor: { compact } });
    expect(sent.at(-1)).toEqual([user("Summary."), user("and?")]);
    await spillway.call(talk("something else"), send, OPTIONS);
    expect(sent.at(-1)).toEqual(talk("something else"));
  });

  it("knows the window, and what is sent besides the messages", async () => {
    const { call } = restarting();
    const { sent, send } = provider(9520, 9500);
    const unsaid = { systemAndTools: undefined };
    const messages = session(8, 15_000);
    await call(messages.slice(0, 1), send, unsaid);
    await expect(call(messages, send, unsaid)).rejects.toBeInstanceOf(OverflowError);
    expect(sent).toHaveLength(2);
    const other = restarting();
    const small = provider(20_000);
    await other.call(messages, small.send, { model: "m" });
    const longer = [...messages, ...Array.from({ length: 6 }, (_, at) => turn(`d${at}`, words(9000))).flat()];
    await other.call(longer, small.send, { model: "m" });
    expect(small.sent).toHaveLength(3);
    // It is the window of that model.
    const { sent: large, send: take } = provider(1_000_000);
    const another = [...messages, ...Array.from({ length: 6 }, (_, at) => turn(`e${at}`, words(9000))).flat()];
    await other.call(another, take, { model: "n", window: 1_000_000 });
    expect(large[0]?.slice(messages.length)).toEqual(another.slice(messages.length));
  });

  it("leaves nothing in the ledger that a tool or a model said", async () => {
    const rows: string[] = [];
    const ledger = memoryLedger();
    const { saveProjection } = ledger;
    ledger.saveProjection = async (projection) => {
      rows.push(JSON.stringify(projection));
      await saveProjection(projection);
    };
    const compact: Compactor["compact"] = async ({ messages }) => ({
      messages: [user("the SECRETWORD of the summary"), ...messages.slice(-2)],
      summaryTokens: 5,
    });
    const { call } = restarting({ ledger });
    const secret = (at: number) => words(15_000, `SECRETWORD${at} `);
    const messages = [user("go"), ...Array.from({ length: 8 }, (_, at) => turn(`c${at}`, secret(at))).flat()];
    await call(messages, provider(20_000).send, { session: "s" });
    const talk = [user(words(90_000, "SECRETWORD ")), { role: "assistant", content: "ok" }, user("more")];
    await call(talk, provider(10_000).send, { compactor: { compact } });
    expect(rows.length).toBeGreaterThan(3);
    expect(rows.join("\n")).not.toContain("SECRETWORD");
  });

  it("writes a bounded number of rows", async () => {
    const ledger = memoryLedger();
    const save = vi.spyOn(ledger, "saveProjection");
    const { call } = restarting({ ledger });
    const { send } = provider(20_000);
    const messages = session(8, 15_000);
    for (let at = 0; at < 10; at++) {
      messages.push(...turn(`n${at}`, words(200)));
      await call(messages, send);
    }
    expect(save.mock.calls.length).toBeLessThan(8);
  });
});

describe("what no provider gets", () => {
  it("does not count: a recovery cuts what the same messages lose without it", async () => {
    const bare = (at: number, more: object) => [
      {
        role: "assistant",
        content: [{ type: "toolCall", id: `c${at}`, name: "lookup", arguments: {} }],
        stopReason: "toolUse",
      },
      {
        role: "toolResult",
        toolCallId: `c${at}`,
        toolName: "lookup",
        content: [{ type: "text", text: words(2000) }],
        ...more,
      },
    ];
    const talk = (more: object) => [user("go"), ...Array.from({ length: 20 }, (_, at) => bare(at, more)).flat()];
    const sizes: number[] = [];
    for (const more of [{}, { details: { shown: words(8000, "detail ") } }]) {
      const { call } = restarting();
      const tokens = (given: readonly Message[]) => tokensOf(given.map(({ role, content }) => ({ role, content })));
      const send = (given: Message[]) => {
        const observed = tokens(given);
        if (observed > 8000)
          throw Object.assign(new Error(`prompt is too long: ${observed} tokens > 8000 maximum`), { status: 400 });
        sizes.push(observed);
        return "answer";
      };
      expect(await call(talk(more), send, { wire: "pi" })).toBe("answer");
    }
    expect(sizes[1]).toBe(sizes[0]);
  });
});
