import { afterEach, describe, expect, it } from "vitest";
import type { SpillwayEvent } from "../contract/event.ts";
import { createSpillway } from "../index.ts";
import { memoryStore } from "../storage/stores/memory.ts";
import { startFakeProvider } from "../testing/fake-provider/start-fake-provider.ts";

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

const SUMMARY = "## Goal\nTell stories\n## Decisions\nnone\n## Open items\nThe last story\n## Files\nnone";

/** Talk that nothing but a summary makes shorter. */
const talk = Array.from({ length: 40 }, (_, at) => ({
  role: at % 2 === 0 ? ("user" as const) : ("assistant" as const),
  content: `Story ${at}. ${"Once upon a time there was a fox who lived near a river. ".repeat(30)}`,
})).slice(0, -1);

async function providers() {
  const main = await startFakeProvider({ speaks: "anthropic", window: 6000 });
  const small = await startFakeProvider({ speaks: "openai-chat", script: () => SUMMARY });
  stops.push(
    () => main.stop(),
    () => small.stop(),
  );
  const send = async (messages: unknown) => {
    const body = JSON.stringify({ model: "m", max_tokens: 100, messages });
    const response = await fetch(`${main.url}/v1/messages`, { method: "POST", body });
    const answer = (await response.json()) as { error?: { message: string } };
    if (!response.ok) throw Object.assign(new Error(answer.error?.message), { status: response.status });
    return answer;
  };
  return { main, small, send };
}

describe("the model that was handed in", () => {
  it("compacts a conversation that a provider refuses, with nobody's help", async () => {
    const { main, small, send } = await providers();
    const store = memoryStore();
    const events: string[] = [];
    const spillway = await createSpillway({
      store,
      env: {},
      summarizer: { endpoint: `${small.url}/v1`, model: "small-1", speaks: "openai" },
      onEvent: ({ kind }) => events.push(kind),
    });
    const reply = await spillway.call(talk, send, { wire: "anthropic", window: 6000 });
    expect(reply).toMatchObject({ type: "message" });
    expect(main.requests.at(-1)).toMatchObject({ status: 200 });
    expect(small.requests.length).toBeGreaterThan(0);
    const sent = main.requests.at(-1)?.body?.messages as { role: string; content: unknown }[];
    expect(JSON.stringify(sent[0]?.content)).toContain("Summary of the conversation so far, by small-1");
    expect(sent.at(-1)).toEqual(talk.at(-1));
    expect(await store.list({ scope: "local" })).toMatchObject([{ tool: "conversation" }]);
    expect(events).toContain("overflow-recovered");
  });

  it("compacts a conversation when asked, and says why where it does not", async () => {
    const { small } = await providers();
    const summarizer = { endpoint: `${small.url}/v1`, model: "small-1", speaks: "openai" as const };
    const told: SpillwayEvent[] = [];
    const onEvent = (event: SpillwayEvent) => void told.push(event);
    const spillway = await createSpillway({ store: memoryStore(), ledger: null, env: {}, summarizer, onEvent });
    const before = JSON.stringify(talk);
    const { messages, summaryTokens, fault } = await spillway.compact(talk, {
      wire: "anthropic",
      session: "s7",
      targetTokens: 6000,
    });
    expect([fault, JSON.stringify(talk)]).toEqual([null, before]);
    expect(messages.length).toBeLessThan(talk.length);
    expect(messages.at(-1)).toBe(talk.at(-1));
    expect(summaryTokens).toBeGreaterThan(20);
    const short = await spillway.compact(talk.slice(0, 2), { wire: "anthropic" });
    expect(short).toEqual({
      messages: talk.slice(0, 2),
      summaryTokens: 0,
      fault: "a summary would not make it shorter",
    });
    expect(told.filter(({ kind }) => kind === "history-compacted")).toMatchObject([
      {
        session: "s7",
        more: { fromMessages: talk.length, messages: messages.length, summaryTokens, fault: null },
      },
      { session: null, more: { fromMessages: 2, messages: 2, fault: "a summary would not make it shorter" } },
    ]);
    const paid = told.filter(({ kind }) => kind === "summary-paid");
    expect(paid).toMatchObject([
      { session: "s7", tool: null, more: { of: "conversation", model: "small-1", fault: null } },
    ]);
    expect(paid[0]?.more?.inputTokens).toBeGreaterThan(1000);
    const broken = await createSpillway({ store: null, env: {}, summarizer: () => "Done." });
    expect((await broken.compact(talk, { wire: "anthropic", targetTokens: 6000 })).fault).toContain("no summary");
    await expect(broken.compact(talk, { wire: "morse" })).rejects.toThrow('none called "morse"');
    await expect(broken.compact([{ role: "user", content: "?" }])).rejects.toThrow("say which");
    const stopped = broken.compact(talk, {
      wire: "anthropic",
      targetTokens: 6000,
      signal: AbortSignal.abort(new Error("enough")),
    });
    await expect(stopped).rejects.toThrow("enough");
    const none = await createSpillway({ store: null, env: {} });
    await expect(none.compact(talk)).rejects.toThrow("compact needs a model");
  });

  it("is one that the environment names, or none", async () => {
    const { small } = await providers();
    const env = {
      SPILLWAY_SUMMARY_ENDPOINT: `${small.url}/v1`,
      SPILLWAY_SUMMARY_MODEL: "env-1",
      SPILLWAY_SUMMARY_KEY: "k",
    };
    const policy = { default: { summarize: true, limits: { maxChars: 3000 } } };
    const long = Array.from({ length: 3000 }, (_, at) => `line ${at} of a text`).join("\n");
    const named = await createSpillway({ store: memoryStore(), policy, env });
    expect((await named.admit({ output: long })).receipt.summaryModel).toBe("env-1");
    expect(small.requests[0]?.headers.authorization).toBe("Bearer k");
    const none = await createSpillway({ store: memoryStore(), policy, env: {} });
    const { receipt } = await none.admit({ output: long });
    expect([receipt.summarized, receipt.faults]).toEqual([undefined, undefined]);
    const bad = (more: object) => createSpillway({ store: null, env: { ...env, ...more } });
    await expect(bad({ SPILLWAY_SUMMARY_MODEL: "" })).rejects.toThrow("go together");
    await expect(bad({ SPILLWAY_SUMMARY_SPEAKS: "x" })).rejects.toThrow("SPILLWAY_SUMMARY_SPEAKS must be");
  });

  it("is not asked while a request is prepared", async () => {
    const { small } = await providers();
    const policy = { default: { summarize: true, limits: { maxChars: 3000 } } };
    const summarizer = { endpoint: `${small.url}/v1`, model: "s", speaks: "openai" as const };
    const spillway = await createSpillway({ store: memoryStore(), policy, env: {}, summarizer });
    const call = { type: "tool_use", id: "c1", name: "bash", input: {} };
    const result = {
      type: "tool_result",
      tool_use_id: "c1",
      content: Array.from({ length: 3000 }, (_, at) => `line ${at} of a text`).join("\n"),
    };
    const messages = [
      { role: "user", content: "go" },
      { role: "assistant", content: [call] },
      { role: "user", content: [result] },
    ];
    const { messages: prepared } = await spillway.prepare(messages, { wire: "anthropic" });
    expect(JSON.stringify(prepared).length).toBeLessThan(4000);
    expect(small.requests).toEqual([]);
  });

  it("is checked where it is handed in", async () => {
    const summarizer = { endpoint: "nowhere", model: "m", speaks: "openai" as const };
    await expect(createSpillway({ store: null, summarizer })).rejects.toThrow(
      "summarizer: endpoint must be an address",
    );
  });
});
