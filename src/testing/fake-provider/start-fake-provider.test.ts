import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { classifyResponse } from "../../stages/recover/peek-response.ts";
import type { FakeProvider, FakeProviderOptions, SpeaksAs } from "./fake-provider.ts";
import { manners } from "./manners.ts";
import { startFakeProvider } from "./start-fake-provider.ts";

const running: FakeProvider[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((provider) => provider.stop()));
});

async function start(options: FakeProviderOptions): Promise<FakeProvider> {
  const provider = await startFakeProvider(options);
  running.push(provider);
  return provider;
}

const PATHS = {
  anthropic: "/v1/messages",
  "openai-chat": "/v1/chat/completions",
  "openai-responses": "/v1/responses",
  gemini: "/v1beta/models/fake:generateContent",
};
const FIELDS = { anthropic: "messages", "openai-chat": "messages", "openai-responses": "input", gemini: "contents" };

async function send(
  { url }: FakeProvider,
  speaks: FakeProviderOptions["speaks"],
  messages: unknown,
  more: object = {},
) {
  const body = JSON.stringify({ model: "fake", [FIELDS[speaks]]: messages, ...more });
  const response = await fetch(url + PATHS[speaks], { method: "POST", body });
  return { status: response.status, text: await response.text() };
}

const user = { role: "user", content: "hello" };
const use = (...ids: string[]) => ({
  role: "assistant",
  content: ids.map((id) => ({ type: "tool_use", id, name: "f", input: {} })),
});
const results = (...ids: string[]) => ({
  role: "user",
  content: ids.map((id) => ({ type: "tool_result", tool_use_id: id, content: "x" })),
});
const text = { type: "text", text: "and" };
const calls = (...ids: string[]) => ({
  role: "assistant",
  tool_calls: ids.map((id) => ({ id, type: "function", function: { name: "f", arguments: "{}" } })),
});
const tool = (tool_call_id: string) => ({ role: "tool", tool_call_id, content: "x" });
const call = (call_id: string) => ({ type: "function_call", call_id, name: "f", arguments: "{}" });
const output = (call_id: string) => ({ type: "function_call_output", call_id, output: "x" });
const asks = (...names: string[]) => ({
  role: "model",
  parts: names.map((name) => ({ functionCall: { name, args: {} } })),
});
const gives = (...names: string[]) => ({
  role: "user",
  parts: names.map((name) => ({ functionResponse: { name, response: {} } })),
});
const said = { role: "user", parts: [{ text: "hello" }] };

describe("pairs", () => {
  it.each<[FakeProviderOptions["speaks"], string, unknown[], string | null]>([
    ["anthropic", "in order", [user, use("a", "b"), results("a", "b"), use("c"), results("c")], null],
    [
      "anthropic",
      "results before text",
      [user, use("a"), { role: "user", content: [...results("a").content, text] }],
      null,
    ],
    ["anthropic", "ids that come again", [user, use("a"), results("a"), use("a"), results("a")], null],
    [
      "anthropic",
      "a call without a result",
      [user, use("a", "b"), results("a")],
      "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: b.",
    ],
    ["anthropic", "a call at the end", [user, use("a")], "without `tool_result` blocks"],
    [
      "anthropic",
      "a result without a call",
      [user, results("a")],
      "messages.1.content.0: unexpected `tool_use_id` found in `tool_result` blocks: a.",
    ],
    ["anthropic", "a result one message late", [user, use("a"), user, results("a")], "without `tool_result` blocks"],
    [
      "anthropic",
      "a text before the results",
      [user, use("a"), { role: "user", content: [text, ...results("a").content] }],
      "without `tool_result` blocks",
    ],
    [
      "anthropic",
      "two results of one call",
      [user, use("a"), results("a", "a")],
      "each tool_use must have a single result",
    ],
    [
      "anthropic",
      "an empty text",
      [user, { role: "assistant", content: [{ type: "text", text: "" }] }],
      "text content blocks must be non-empty",
    ],
    ["openai-chat", "in order", [user, calls("a", "b"), tool("b"), tool("a"), user], null],
    ["openai-chat", "a call without a result", [user, calls("a", "b"), tool("a")], "did not have response messages: b"],
    ["openai-chat", "something between", [user, calls("a"), user, tool("a")], "must be followed by tool messages"],
    ["openai-chat", "a result without a call", [user, tool("a")], "must be a response to a preceeding message"],
    [
      "openai-chat",
      "a result of another call",
      [user, calls("a"), tool("b")],
      "not found in 'tool_calls' of previous message",
    ],
    ["openai-responses", "in order", [user, call("a"), call("b"), output("a"), output("b")], null],
    ["openai-responses", "a call without a result", [user, call("a")], "No tool output found for function call a."],
    [
      "openai-responses",
      "a result without a call",
      [user, output("a")],
      "No tool call found for function call output with call_id a.",
    ],
    ["openai-responses", "a result before its call", [user, output("a"), call("a")], "No tool call found"],
    ["gemini", "in order", [said, asks("f", "g"), gives("f", "g"), said], null],
    ["gemini", "a call without a result", [said, asks("f", "g"), gives("f")], "the number of function response parts"],
    [
      "gemini",
      "results in another order",
      [said, asks("f", "g"), gives("g", "f")],
      "the number of function response parts",
    ],
    ["gemini", "a result without a call", [said, gives("f")], "comes immediately after a function call turn"],
  ])("%s: %s", async (speaks, _what, messages, refused) => {
    const provider = await start({ speaks });
    const { status, text: body } = await send(provider, speaks, messages, { max_tokens: 10 });
    expect(status).toBe(refused === null ? 200 : 400);
    if (refused === null) return;
    expect(body).toContain(JSON.stringify(refused).slice(1, -1));
    expect(provider.requests[0]).toMatchObject({ refused: "pairs", source: expect.stringMatching(/./) });
  });
});

describe("the window", () => {
  it.each(["anthropic", "openai-chat", "gemini"] as const)(
    "%s: what fits is answered, what does not is refused with both numbers",
    async (speaks) => {
      const window = 300;
      const provider = await start({ speaks, window, tokenFactor: 1.17 });
      const words = fc.array(fc.constantFrom("error", "\n", "ключ", "0x7f", "上下文", "  ", "{}"), { maxLength: 400 });
      await fc.assert(
        fc.asyncProperty(words, fc.integer({ min: 1, max: 200 }), async (said, max_tokens) => {
          const content = said.join(" ") + ".";
          const message =
            speaks === "gemini" ? { role: "user", parts: [{ text: content }] } : { role: "user", content };
          const body = JSON.stringify({ model: "fake", [FIELDS[speaks]]: [message], max_tokens });
          const response = await fetch(provider.url + PATHS[speaks], { method: "POST", body });
          const { inputTokens = 0 } = provider.requests.at(-1) ?? {};
          const asked = inputTokens + (speaks === "gemini" ? 0 : max_tokens);
          expect(response.status).toBe(asked > window ? 400 : 200);
          const verdict = await classifyResponse(response);
          expect(verdict.kind).toBe(asked > window ? "context-overflow" : "other");
          if (asked <= window) return;
          expect(verdict).toMatchObject({ limitTokens: window });
          expect(verdict.observedTokens).toBe(inputTokens + (verdict.outputTokens ?? 0));
        }),
        { numRuns: 30 },
      );
    },
  );
});

it("OpenAI says how much of a request is its tools", async () => {
  const provider = await start({ speaks: "openai-chat", window: 20 });
  const tools = [{ type: "function", function: { name: "bash", description: "Runs a command.", parameters: {} } }];
  const body = JSON.stringify({ model: "fake", messages: [{ role: "user", content: "a word ".repeat(30) }], tools });
  const verdict = await classifyResponse(await fetch(provider.url + PATHS["openai-chat"], { method: "POST", body }));
  expect(verdict.observedTokens).toBe(provider.requests[0]?.inputTokens);
  expect(verdict.toolTokens).toBeGreaterThan(5);
  expect(verdict.toolTokens).toBeLessThan((verdict.observedTokens ?? 0) / 2);
});

describe("OpenAI's API spoken by others", () => {
  it.each(Object.keys(manners) as SpeaksAs[])("%s refuses in its own words, and they are known", async (as) => {
    const provider = await start({ speaks: "openai-chat", as, window: 20 });
    const body = JSON.stringify({
      model: "fake",
      messages: [{ role: "user", content: "a word or two ".repeat(30) }],
      max_tokens: 7,
    });
    const response = await fetch(provider.url + PATHS["openai-chat"], { method: "POST", body });
    const verdict = await classifyResponse(response);
    expect(verdict).toMatchObject({ kind: "context-overflow", provider: as });
    if (verdict.limitTokens !== undefined) {
      expect(verdict.limitTokens).toBe(20);
      const ofPrompt = ["copilot", "llamacpp", "xai"].includes(as);
      expect(verdict.observedTokens).toBe((provider.requests[0]?.inputTokens ?? 0) + (ofPrompt ? 0 : 7));
    }
  });

  it("groq tells too much at once from too fast", async () => {
    const provider = await start({ speaks: "openai-chat", as: "groq", tokensPerMinute: 60 });
    const post = async (words: number) => {
      const body = JSON.stringify({ model: "fake", messages: [{ role: "user", content: "word ".repeat(words) }] });
      const response = await fetch(provider.url + PATHS["openai-chat"], { method: "POST", body });
      const { kind, limitTokens } = await classifyResponse(response);
      return [response.status, kind, limitTokens];
    };
    expect(await post(40)).toEqual([200, "other", undefined]);
    expect(await post(40)).toEqual([429, "rate-limit", 60]);
    expect(await post(90)).toEqual([413, "request-ceiling", 60]);
  });

  it("is refused for other APIs", async () => {
    await expect(startFakeProvider({ speaks: "gemini", as: "groq" })).rejects.toThrow(/openai-chat can be spoken as/);
  });
});

describe("the fake provider", () => {
  it("says which package it misses", async () => {
    vi.doMock("gpt-tokenizer/encoding/o200k_base", () => {
      throw new Error("no such package");
    });
    const { loadTokenCount } = await import("./start-fake-provider.ts");
    await expect(loadTokenCount(1)).rejects.toMatchObject({
      code: "missing-part",
      message: expect.stringContaining("npm install --save-dev gpt-tokenizer"),
    });
    vi.doUnmock("gpt-tokenizer/encoding/o200k_base");
  });

  it("asks a script about each request, and does what it says", async () => {
    const provider = await start({
      speaks: "openai-chat",
      script: ({ index, body }) =>
        index === 0
          ? {
              refusal: {
                status: 503,
                body: { error: { message: "busy" } },
                headers: { "retry-after": "1" },
                source: "this test",
              },
            }
          : `You said ${JSON.stringify(body?.messages)}`,
    });
    expect((await send(provider, "openai-chat", [user])).status).toBe(503);
    expect((await send(provider, "openai-chat", [user])).text).toContain('You said [{\\"role');
    expect(provider.requests).toMatchObject([
      { index: 0, status: 503, refused: "script", source: "this test" },
      { index: 1, status: 200, refused: null, body: { model: "fake" }, path: "/v1/chat/completions" },
    ]);
  });

  it("refuses in other words where it is told to", async () => {
    const provider = await start({
      speaks: "openai-chat",
      window: 5,
      refuse: (why, { inputTokens, window }) => ({
        status: 400,
        body: { error: `${why}: ${inputTokens} of ${window}` },
        source: "this test",
      }),
    });
    const { text: body } = await send(provider, "openai-chat", [user, user, user]);
    expect(body).toBe(JSON.stringify({ error: `window: ${provider.requests[0]?.inputTokens} of 5` }));
  });

  it("breaks off a stream where it is told to", async () => {
    const provider = await start({ speaks: "anthropic", script: [{ text: "x".repeat(500), dropAfterPieces: 4 }] });
    await expect(send(provider, "anthropic", [user], { stream: true, max_tokens: 9 })).rejects.toThrow(
      /terminated|reset|closed/,
    );
  });

  it("counts by its own factor, and on the endpoints for it", async () => {
    const words = "one two three four five six seven eight nine ten ".repeat(50);
    const plain = await start({ speaks: "anthropic" });
    const dear = await start({ speaks: "anthropic", tokenFactor: 1.5 });
    expect(plain.countTokens(words)).toBeGreaterThanOrEqual(500);
    expect(dear.countTokens(words)).toBe(Math.ceil(plain.countTokens(words) * 1.5));
    const counted = await fetch(`${dear.url}/v1/messages/count_tokens`, {
      method: "POST",
      body: JSON.stringify({ messages: [{ role: "user", content: words }] }),
    });
    expect(await counted.json()).toEqual({ input_tokens: dear.requests[0]?.inputTokens });
    expect(dear.requests[0]?.inputTokens).toBeGreaterThan(750);
  });

  it("counts a picture by its size on the screen, not by its text", async () => {
    const provider = await start({ speaks: "anthropic" });
    const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "A".repeat(400_000) } };
    await send(provider, "anthropic", [{ role: "user", content: [image] }], { max_tokens: 1 });
    expect(provider.requests[0]?.inputTokens).toBeGreaterThan(1000);
    expect(provider.requests[0]?.inputTokens).toBeLessThan(4000);
  });

  it("takes texts that take other counters minutes", async () => {
    const provider = await start({ speaks: "anthropic", window: 1_000_000_000 });
    expect(provider.countTokens("a".repeat(200_000))).toBeGreaterThan(1000);
    expect(provider.countTokens("<|endoftext|>")).toBeGreaterThan(1);
  });

  it("knows half a character from its name", async () => {
    const provider = await start({ speaks: "anthropic" });
    const content = String.raw`the escape \ud83d, and \\ud83d`;
    expect((await send(provider, "anthropic", [{ role: "user", content }], { max_tokens: 1 })).status).toBe(200);
    const half = await send(provider, "anthropic", [{ role: "user", content: "a\ude00b" }], { max_tokens: 1 });
    expect(half.text).toMatch(/no low surrogate in string: line 1 column \d+ \(char \d+\)/);
  });

  it("knows its own paths only, and JSON only", async () => {
    const provider = await start({ speaks: "gemini" });
    expect((await fetch(`${provider.url}/v1/messages`, { method: "POST", body: "{}" })).status).toBe(404);
    expect((await fetch(`${provider.url}${PATHS.gemini}`, { method: "POST", body: "{" })).status).toBe(400);
    expect(provider.requests.map(({ refused }) => refused)).toEqual(["unknown", "json"]);
  });

  it("stops, and cannot be made to speak what it does not", async () => {
    const provider = await startFakeProvider({ speaks: "anthropic" });
    await provider.stop();
    await expect(fetch(provider.url)).rejects.toThrow("fetch failed");
    await expect(startFakeProvider({ speaks: "cobol" as never })).rejects.toThrow(/speaks anthropic, openai-chat/);
  });
});
