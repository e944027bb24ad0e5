import { afterEach, describe, expect, it } from "vitest";
import { aiSdkFixtures } from "../../test/wire/ai-sdk.ts";
import { anthropicFixtures } from "../../test/wire/anthropic.ts";
import { bedrockFixtures } from "../../test/wire/bedrock.ts";
import { geminiFixtures } from "../../test/wire/gemini.ts";
import { langchainFixtures } from "../../test/wire/langchain.ts";
import { openaiChatFixtures } from "../../test/wire/openai-chat.ts";
import { openaiResponsesFixtures } from "../../test/wire/openai-responses.ts";
import { piFixtures } from "../../test/wire/pi.ts";
import type { ModelPrompt, ModelSource } from "../contract/model-client.ts";
import type { Store } from "../contract/store.ts";
import type { Wire } from "../contract/wire.ts";
import { newBreaker } from "../deadline.ts";
import { modelClient } from "../drivers/model-client/model-client.ts";
import { estimateCounter } from "../stages/measure/estimate-tokens.ts";
import { NUMBERS } from "../stages/policy/defaults.ts";
import { memoryStore } from "../storage/stores/memory.ts";
import type { FakeProviderOptions } from "../testing/fake-provider/fake-provider.ts";
import { startFakeProvider } from "../testing/fake-provider/start-fake-provider.ts";
import type { WireFixture } from "../testing/wire-checks.ts";
import { wires } from "../wire/index.ts";
import { newCompactor } from "./compactor.ts";
import { orphans, readConversation } from "./plan-compact.ts";

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

const CONVERSATIONS: Record<string, readonly WireFixture[]> = {
  anthropic: anthropicFixtures,
  "openai-chat": openaiChatFixtures,
  "openai-responses": openaiResponsesFixtures,
  gemini: geminiFixtures,
  bedrock: bedrockFixtures,
  "ai-sdk": aiSdkFixtures,
  langchain: langchainFixtures,
  pi: piFixtures,
};
const FORMATS = wires.filter((wire) => wire.say("") !== null);

const wireOf = (name: string) => wires.find((wire) => wire.name === name) as Wire;
const chat = wireOf("openai-chat");
const SUMMARY =
  "## Goal\nFix the build\n## Decisions\nnone\n## Open items\nnone\n## Exact identifiers\nnone\n## Files\nnone\n## Errors\nnone";

function compactorWith(
  source: ModelSource,
  { store = memoryStore(), maxInputChars = 200_000 }: { store?: Store | null; maxInputChars?: number } = {},
) {
  return newCompactor({
    client: modelClient(source),
    place: { store, breaker: newBreaker(3, 1000, () => 0), deadlineMs: 1000, loadRedactor: null },
    access: () => ({ by: "tool", recall: "recall", search: "search" }),
    scope: "local",
    counter: estimateCounter,
    maxInputChars,
    loadRedact: async () => (text) => text.replaceAll("hunter2-hunter2", "[secret]"),
    bookCost: () => {},
  });
}

async function provided(script: FakeProviderOptions["script"], more: Partial<FakeProviderOptions> = {}) {
  const provider = await startFakeProvider({ speaks: "anthropic", ...(script && { script }), ...more });
  stops.push(() => provider.stop());
  const prompts = () =>
    provider.requests.map(({ body }) => ({
      system: String(body?.system),
      user: ((body?.messages ?? []) as { content: string }[])[0]?.content ?? "",
    }));
  return { provider, prompts, source: { endpoint: provider.url, model: "small-1", speaks: "anthropic" as const } };
}

/** Makes a task, followed by turns of one call and its result each. */
function chatOf(turns: number, resultChars = 3000): Record<string, unknown>[] {
  const messages: Record<string, unknown>[] = [
    { role: "system", content: "You are an agent." },
    { role: "user", content: "Fix the build of src/app/main.ts, ticket OPS-4711. Never touch package.json." },
  ];
  for (let at = 0; at < turns; at++) {
    const call = {
      id: `c${at}`,
      type: "function",
      function: { name: "read_file", arguments: `{"path":"src/part-${at}.ts"}` },
    };
    messages.push({ role: "assistant", content: `Step ${at}.`, tool_calls: [call] });
    messages.push({ role: "tool", tool_call_id: `c${at}`, content: `part ${at} `.repeat(resultChars / 8) });
  }
  return messages;
}

const tokensOf = (wire: Wire, messages: readonly unknown[]) => readConversation(wire, messages, estimateCounter).tokens;
const textOf = (message: unknown) => String((message as { content: unknown }).content);

describe("a long conversation", () => {
  it("becomes its system prompt, a summary and its newest turns; what goes is saved whole", async () => {
    const store = memoryStore();
    const { source, prompts } = await provided([SUMMARY]);
    const messages = chatOf(40);
    const frozen = JSON.stringify(messages);
    const compacted = await compactorWith(source, { store }).compact({ wire: chat, messages, targetTokens: 10_000 });
    expect(JSON.stringify(messages)).toBe(frozen);
    const [system, summary, ...kept] = (compacted?.messages ?? []) as Record<string, unknown>[];
    expect(system).toBe(messages[0]);
    expect(kept).toEqual(messages.slice(-kept.length));
    expect(kept[0]).toBe(messages[messages.length - kept.length]);
    expect(kept[0]?.role).toBe("assistant");
    expect(kept.length).toBeGreaterThanOrEqual(2 * NUMBERS.compactKeepTurns.default);
    expect(tokensOf(chat, compacted?.messages ?? [])).toBeLessThanOrEqual(10_000);
    const text = textOf(summary);
    const dropped = messages.slice(1, messages.length - kept.length);
    expect(text).toMatch(
      new RegExp(
        `^\\[Summary of the conversation so far, by small-1: it stands for ${dropped.length} earlier messages\\]\\n## Goal`,
      ),
    );
    const [artifact] = await store.list({ scope: "local" });
    expect(text.endsWith(`\n[Read it again with recall({"id":"${artifact?.id}"})]`)).toBe(true);
    const bytes = (await store.read(artifact?.id as string, "local", { from: 0, to: 1e7 })) as Uint8Array;
    expect(
      new TextDecoder()
        .decode(bytes)
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toEqual(dropped);
    expect(compacted?.summaryTokens).toBe(estimateCounter.count(text));
    expect(prompts()).toHaveLength(1);
    expect(prompts()[0]?.system).toMatch(
      /## Goal[\s\S]*## Decisions[\s\S]*## Open items[\s\S]*## Exact identifiers[\s\S]*## Files[\s\S]*## Errors/,
    );
  });

  it("identifiers that the summary left out are added, and the user's own words stand", async () => {
    const { source } = await provided([SUMMARY]);
    const compacted = await compactorWith(source).compact({ wire: chat, messages: chatOf(40), targetTokens: 10_000 });
    const text = textOf(compacted?.messages[1]);
    const added = /Also named there: (.*)/.exec(text)?.[1]?.split(", ") ?? [];
    expect(added).toHaveLength(NUMBERS.compactIdentifiers.default);
    expect(added).toEqual(expect.arrayContaining(["src/app/main.ts", "OPS-4711"]));
    expect(text).toContain(
      "word for word:\n\nFix the build of src/app/main.ts, ticket OPS-4711. Never touch package.json.\n",
    );
    const full = await provided([`${SUMMARY}\n${added.join(" ")}`]);
    const again = await compactorWith(full.source).compact({ wire: chat, messages: chatOf(40), targetTokens: 10_000 });
    expect(textOf(again?.messages[1])).not.toContain("Also named there");
  });

  it("results are cut before they are sent, and it is read in as many pieces as it takes, each after the one before", async () => {
    let calls = 0;
    const { source, prompts, provider } = await provided(() => `${SUMMARY}\nround ${++calls}`, { window: 30_000 });
    const messages = chatOf(60, 400_000);
    const compacted = await compactorWith(source, { maxInputChars: 50_000 }).compact({
      wire: chat,
      messages,
      targetTokens: 500_000,
    });
    expect(compacted).not.toBeNull();
    expect(provider.requests.every(({ status }) => status === 200)).toBe(true);
    expect(prompts().length).toBeGreaterThan(1);
    prompts().forEach(({ user }, at) => {
      expect(user.length).toBeLessThan(50_000 + NUMBERS.compactSummaryChars.default + 500);
      expect(user.includes(`round ${at}\n`)).toBe(at > 0);
    });
    expect(textOf(compacted?.messages[1])).toContain(`round ${calls}\n`);
    const all = prompts()
      .map(({ user }) => user)
      .join("");
    expect(all).toContain("characters not shown");
    expect(all).toContain('#2 assistant calls read_file: {"path":"src/part-0.ts"}');
  });

  it("a long request is quoted as far as there is room, a long text read in part, and a long summary not taken", async () => {
    const { compactQuoteChars, compactTextChars, compactSummaryChars, compactKeepTokens } = NUMBERS;
    let answer = SUMMARY;
    const { source, prompts } = await provided(() => answer);
    const messages = chatOf(60, 8000);
    messages[1] = { role: "user", content: "w".repeat(100_000) };
    const compact = (targetTokens: number) => compactorWith(source).compact({ wire: chat, messages, targetTokens });
    const compacted = await compact(200_000);
    const quoted = (given: typeof compacted) => textOf(given?.messages[1]).match(/w/g)?.length;
    expect(textOf(compacted?.messages[1])).toContain(`word for word:\n\n${"w".repeat(100_000)}\n`);
    const tight = quoted(await compact(9000));
    expect(tight).toBeGreaterThan(compactQuoteChars.default - 1);
    expect(tight).toBeLessThan(9000 * 3);
    expect(
      prompts()[0]
        ?.user.match(/w+/g)
        ?.map((run) => run.length),
    ).toContain(compactTextChars.default / 2);
    const tail = tokensOf(chat, compacted?.messages.slice(2) ?? []);
    expect(tail).toBeLessThanOrEqual(compactKeepTokens.default);
    expect(tail).toBeGreaterThan(compactKeepTokens.default * 0.8);
    answer = `${SUMMARY}\n${"s".repeat(compactSummaryChars.default - SUMMARY.length - 1)}`;
    expect(await compact(200_000)).not.toBeNull();
    answer += "s";
    await expect(compact(200_000)).rejects.toThrow("too long");
  });

  it("has secrets replaced in what the model reads", async () => {
    const { source, prompts } = await provided([SUMMARY]);
    const messages = chatOf(40);
    const cut = NUMBERS.compactResultChars.default / 2;
    messages[1] = { role: "user", content: "The password is hunter2-hunter2, in a/hunter2-hunter2.ts." };
    messages[3] = {
      role: "tool",
      tool_call_id: "c0",
      content: `${"x".repeat(cut - 5)}hunter2-hunter2${"y".repeat(9000)}`,
    };
    const compacted = await compactorWith(source).compact({ wire: chat, messages, targetTokens: 10_000 });
    expect(/Also named.*/.exec(textOf(compacted?.messages[1]))?.[0]).not.toContain("hunter2");
    expect(prompts()[0]?.user).toContain("The password is [secret], in a/[secret].ts.");
    expect(prompts()[0]?.user).not.toContain("hunte");
  });

  it("a very long one is read in shorter forms rather than in more calls", async () => {
    let calls = 0;
    const ask = ({ user }: ModelPrompt) => `${SUMMARY} ${++calls} ${user.length > 0}`;
    const compact = compactorWith({ model: "m", ask }, { maxInputChars: 4000 });
    expect(await compact.compact({ wire: chat, messages: chatOf(100), targetTokens: 20_000 })).not.toBeNull();
    expect(calls).toBeLessThanOrEqual(NUMBERS.compactCalls.default);
    const tiny = compactorWith({ model: "m", ask }, { maxInputChars: 100 });
    await expect(tiny.compact({ wire: chat, messages: chatOf(100), targetTokens: 20_000 })).rejects.toThrow(
      "over 20 calls",
    );
  });

  it("an earlier summary of ours is merged; one that is quoted is read as text", async () => {
    const { source, prompts } = await provided((request) => `${SUMMARY}\nversion ${request.index}`);
    const compactor = compactorWith(source);
    const first = await compactor.compact({ wire: chat, messages: chatOf(40), targetTokens: 10_000 });
    const again = [...(first?.messages ?? []), ...chatOf(40).slice(2)];
    const second = await compactor.compact({ wire: chat, messages: again, targetTokens: 10_000 });
    const blocks = prompts()[1]?.user.split("<data ") ?? [];
    expect(blocks).toHaveLength(3);
    expect(blocks[1]).toContain("version 0");
    expect(blocks[1]).toContain("Also named there: ");
    expect(blocks[2]).not.toContain("Summary of the conversation so far");
    const text = textOf(second?.messages[1]);
    expect(text).toContain("version 1");
    // The request was made two summaries ago, and is still quoted word for word.
    expect(text).toContain("word for word:\n\nFix the build of src/app/main.ts");
    expect(
      second?.messages.filter((message) => textOf(message).startsWith("[Summary of the conversation")),
    ).toHaveLength(1);

    const quoted = chatOf(40);
    quoted[1] = { role: "user", content: `${textOf(first?.messages[1])} ` };
    quoted[3] = { role: "tool", tool_call_id: "c0", content: textOf(first?.messages[1]) };
    await compactor.compact({ wire: chat, messages: quoted, targetTokens: 10_000 });
    expect(prompts()[2]?.user.split("<data ")).toHaveLength(2);
  });
});

describe("nothing is gained", () => {
  it.each([
    ["no messages", []],
    ["a system prompt alone", [{ role: "system", content: "x" }]],
    ["one question", [{ role: "user", content: "x ".repeat(50_000) }]],
    ["a short conversation", chatOf(3, 80)],
  ])("%s: null, and nobody is asked", async (_name, messages) => {
    const { source, provider } = await provided([]);
    expect(await compactorWith(source).compact({ wire: chat, messages, targetTokens: 100 })).toBeNull();
    expect(provider.requests).toEqual([]);
  });

  it("a format in which nobody speaks", async () => {
    const results = [{ content: [{ type: "text", text: "x" }] }];
    expect(
      await compactorWith(() => SUMMARY).compact({ wire: wireOf("mcp"), messages: results, targetTokens: 10 }),
    ).toBeNull();
  });

  it.each([
    ["an empty answer", "", "the answer is empty"],
    ["an answer that is no summary", "Done.", "no summary of a conversation"],
    [
      "headings with nothing below",
      "## Goal\nnone\n## Decisions\n- None.\n## Open items\n\n## Files\nN/A",
      "no summary of a conversation",
    ],
    ["a refusal", "I cannot help with that request.", "the model refused"],
    ["an answer that is too long", "z".repeat(20_000), "the answer is too long"],
    ["an error", { refusal: { status: 500, body: "oops", source: "test" } }, "500 oops"],
  ])("%s: a reason, and nothing is written", async (_name, reply, why) => {
    const store = memoryStore();
    const { source } = await provided([reply]);
    const work = compactorWith(source, { store }).compact({ wire: chat, messages: chatOf(40), targetTokens: 10_000 });
    await expect(work).rejects.toThrow(why);
    expect(await store.list({ scope: "local" })).toEqual([]);
  });

  it("an abort ends it", async () => {
    const stop = new AbortController();
    const compactor = compactorWith({ model: "m", ask: () => new Promise(() => {}) });
    const work = compactor.compact({ wire: chat, messages: chatOf(40), targetTokens: 10_000, signal: stop.signal });
    setTimeout(() => stop.abort(new Error("enough")), 10);
    await expect(work).rejects.toThrow("enough");
  });

  it("without a store the summary says that nothing was saved", async () => {
    const compactor = compactorWith(() => SUMMARY, { store: null });
    const compacted = await compactor.compact({ wire: chat, messages: chatOf(40), targetTokens: 10_000 });
    expect(textOf(compacted?.messages[1])).toMatch(/\n\[The messages themselves were not saved\]$/);
  });
});

describe("every format that can say something", () => {
  it.each(FORMATS)("$name", async (wire) => {
    const fixtures = CONVERSATIONS[wire.name] ?? [];
    // Repeats each conversation many times, with results that are worth leaving out.
    const messages = Array.from({ length: 12 }, () => fixtures.flatMap((fixture) => fixture.messages))
      .flat()
      .map((message) => {
        const ours = wire.read(message).results.filter(({ fixed }) => !fixed);
        return wire.write(
          message,
          ours.map(({ at }) => ({ at, texts: ["a line of a file\n".repeat(200)] })),
        );
      });
    const before = readConversation(wire, messages, estimateCounter);
    const targetTokens = Math.floor(before.tokens / 2);
    const compacted = await compactorWith(() => SUMMARY).compact({ wire, messages, targetTokens });
    const after = readConversation(wire, compacted?.messages ?? [], estimateCounter);
    const summary = after.views.findIndex(({ text }) => text?.startsWith("[Summary of the conversation so far"));
    expect(after.views[summary]).toMatchObject({ role: "user", malformed: 0 });
    expect(after.views[summary + 1]?.role).toBe("assistant");
    expect(compacted?.messages.slice(summary + 1)).toEqual(messages.slice(-(after.views.length - summary - 1)));
    expect(after.pairs.length).toBeGreaterThan(0);
    expect(after.pairs.length).toBeLessThan(before.pairs.length);
    expect(orphans(after)).toBeLessThanOrEqual(orphans(before));
    expect(after.tokens).toBeLessThanOrEqual(targetTokens);
  });
});
