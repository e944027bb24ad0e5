import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import { ChatAnthropic } from "@langchain/anthropic";
import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { ChatOpenAI } from "@langchain/openai";
import { generateText, jsonSchema, type LanguageModel, type ModelMessage, streamText, tool } from "ai";
import OpenAI from "openai";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createFetch } from "../../src/entrypoints/fetch/index.ts";
import { startServe } from "../../src/entrypoints/serve/start-serve.ts";
import { createSpillway, type Spillway } from "../../src/index.ts";
import { memoryLedger } from "../../src/storage/ledgers/memory.ts";
import { memoryStore } from "../../src/storage/stores/memory.ts";
import type { FakeProvider, FakeReply, FakeRequest, Speaks } from "../../src/testing/fake-provider/fake-provider.ts";
import { startFakeProvider } from "../../src/testing/fake-provider/start-fake-provider.ts";
import { type RandomConversation, speeches, textOf } from "../recovery/conversation.ts";

// A wrapped fetch and the gateway through the real clients: their own code is unchanged, and the provider has a window that
// the conversation does not fit.

const WINDOW = 6000;
const stops: (() => unknown)[] = [];
let spillway: Spillway;

beforeEach(async () => {
  spillway = await createSpillway({ store: memoryStore(), ledger: memoryLedger(), env: {} });
});
afterEach(async () => {
  await Promise.all(stops.splice(0).map((stop) => stop()));
});

async function start(
  speaks: Speaks,
  window: number,
  script: (request: FakeRequest) => FakeReply | string | Promise<FakeReply | string>,
) {
  const provider = await startFakeProvider({ speaks, window, tokenFactor: 1.1, script });
  stops.push(() => provider.stop());
  return provider;
}

/** Six turns of about 2,000 tokens each; one result has a picture where the format takes them. */
const conversation = (turns = 6): RandomConversation => ({
  system: "You are an agent that reads logs.",
  first: "What went wrong?",
  turns: Array.from({ length: turns }, (_, turn) => ({
    says: "I will look.",
    calls: [
      {
        tool: "bash",
        path: `${turn}.log`,
        text: textOf(turn, turn < 6 ? 7000 : 100, turn),
        isError: false,
        hasImage: turn === 1,
      },
    ],
    user: null,
  })),
});

interface Seen {
  text: string;
  calls: { tool: string; input: unknown }[];
}

/** Asks with a client, whose own retries stay on. */
type Ask = (
  url: string,
  fetch: typeof globalThis.fetch,
  turns: number,
  isStreamed: boolean,
  signal?: AbortSignal,
) => Promise<Seen>;

/** The conversation as the AI SDK has it. */
const modelMessages = (turns: number): ModelMessage[] => {
  const { first, turns: given } = conversation(turns);
  return [
    { role: "user", content: first },
    ...given.flatMap(({ says, calls }, turn): ModelMessage[] => [
      {
        role: "assistant",
        content: [
          { type: "text", text: says },
          ...calls.map(({ tool: toolName, path }) => ({
            type: "tool-call" as const,
            toolCallId: `call_${turn}`,
            toolName,
            input: { path },
          })),
        ],
      },
      {
        role: "tool",
        content: calls.map(({ tool: toolName, text }) => ({
          type: "tool-result" as const,
          toolCallId: `call_${turn}`,
          toolName,
          output: { type: "text" as const, value: text },
        })),
      },
    ]),
  ];
};

const aiSdk =
  (modelOf: (url: string, fetch: typeof globalThis.fetch) => LanguageModel): Ask =>
  async (url, fetch, turns, isStreamed, signal) => {
    const { system } = conversation();
    const bash = tool({
      description: "Runs a command.",
      inputSchema: jsonSchema<{ path: string }>({ type: "object", properties: { path: { type: "string" } } }),
    });
    const request = {
      model: modelOf(url, fetch),
      system,
      messages: modelMessages(turns),
      tools: { bash },
      maxOutputTokens: 100,
      ...(signal && { abortSignal: signal }),
    };
    if (!isStreamed) {
      const { text, toolCalls } = await generateText(request);
      return { text, calls: toolCalls.map(({ toolName, input }) => ({ tool: toolName, input })) };
    }
    let fault: unknown;
    const stream = streamText({ ...request, onError: ({ error }) => void (fault = error) });
    let text = "";
    for await (const piece of stream.textStream) text += piece;
    if (fault !== undefined) throw fault;
    return { text, calls: (await stream.toolCalls).map(({ toolName, input }) => ({ tool: toolName, input })) };
  };

const langchain =
  (modelOf: (url: string, fetch: typeof globalThis.fetch) => ChatOpenAI | ChatAnthropic): Ask =>
  async (url, fetch, turns, isStreamed, signal) => {
    const { system, first, turns: given } = conversation(turns);
    const messages = [
      new SystemMessage(system),
      new HumanMessage(first),
      ...given.flatMap(({ says, calls }, turn) => [
        new AIMessage({
          content: says,
          tool_calls: calls.map(({ tool: name, path }) => ({ id: `call_${turn}`, name, args: { path } })),
        }),
        ...calls.map(({ text }) => new ToolMessage({ tool_call_id: `call_${turn}`, content: text })),
      ]),
    ];
    const bash = {
      type: "function" as const,
      function: {
        name: "bash",
        description: "Runs a command.",
        parameters: { type: "object", properties: { path: { type: "string" } } },
      },
    };
    const model = modelOf(url, fetch).bindTools([bash]);
    const options = signal === undefined ? {} : { signal };
    if (!isStreamed) {
      const answer = await model.invoke(messages, options);
      return {
        text: answer.text,
        calls: (answer.tool_calls ?? []).map(({ name, args }) => ({ tool: name, input: args })),
      };
    }
    let whole: Awaited<ReturnType<typeof model.stream>> extends AsyncIterable<infer Chunk> ? Chunk | undefined : never;
    for await (const chunk of await model.stream(messages, options))
      whole = whole === undefined ? chunk : whole.concat(chunk);
    return {
      text: whole?.text ?? "",
      calls: (whole?.tool_calls ?? []).map(({ name, args }) => ({ tool: name, input: args })),
    };
  };

const CLIENTS: [name: string, speaks: Speaks, ask: Ask][] = [
  [
    "openai, chat",
    "openai-chat",
    async (url, fetch, turns, isStreamed, signal) => {
      const client = new OpenAI({ apiKey: "fake", baseURL: `${url}/v1`, fetch });
      const { beside, messages } = speeches["openai-chat"](conversation(turns));
      const body = { ...beside, messages } as unknown as OpenAI.ChatCompletionCreateParamsNonStreaming;
      const { choices } = isStreamed
        ? await client.chat.completions.stream({ ...body, stream: true }, { signal }).finalChatCompletion()
        : await client.chat.completions.create(body, { signal });
      const message = choices[0]?.message;
      const calls = (message?.tool_calls ?? []).flatMap((call) =>
        call.type === "function" ? [{ tool: call.function.name, input: JSON.parse(call.function.arguments) }] : [],
      );
      return { text: message?.content ?? "", calls };
    },
  ],
  [
    "openai, responses",
    "openai-responses",
    async (url, fetch, turns, isStreamed, signal) => {
      const client = new OpenAI({ apiKey: "fake", baseURL: `${url}/v1`, fetch });
      const { beside, messages: input } = speeches["openai-responses"](conversation(turns));
      const body = { ...beside, input } as unknown as OpenAI.Responses.ResponseCreateParamsNonStreaming;
      const response = isStreamed
        ? await client.responses.stream({ ...body, stream: true }, { signal }).finalResponse()
        : await client.responses.create(body, { signal });
      const calls = response.output.flatMap((item) =>
        item.type === "function_call" ? [{ tool: item.name, input: JSON.parse(item.arguments) }] : [],
      );
      return { text: response.output_text ?? "", calls };
    },
  ],
  [
    "@anthropic-ai/sdk",
    "anthropic",
    async (url, fetch, turns, isStreamed, signal) => {
      const client = new Anthropic({ apiKey: "fake", baseURL: url, fetch });
      const { beside, messages } = speeches.anthropic(conversation(turns));
      const body = { ...beside, messages } as unknown as Anthropic.MessageCreateParamsNonStreaming;
      const { content } = isStreamed
        ? await client.messages.stream(body, { signal }).finalMessage()
        : await client.messages.create(body, { signal });
      return {
        text: content.map((block) => (block.type === "text" ? block.text : "")).join(""),
        calls: content.flatMap((block) =>
          block.type === "tool_use" ? [{ tool: block.name, input: block.input }] : [],
        ),
      };
    },
  ],
  [
    "@google/genai",
    "gemini",
    async (url, fetch, turns, isStreamed, signal) => {
      const client = new GoogleGenAI({ apiKey: "fake", httpOptions: { baseUrl: url, fetch } as object });
      const { beside, messages: contents } = speeches.gemini(conversation(turns));
      const config = { ...beside, ...(signal && { abortSignal: signal }) };
      const body = { model: "fake", contents, config } as Parameters<typeof client.models.generateContent>[0];
      const chunks = [];
      if (isStreamed) for await (const chunk of await client.models.generateContentStream(body)) chunks.push(chunk);
      else chunks.push(await client.models.generateContent(body));
      const parts = chunks.flatMap((chunk) => chunk.candidates?.[0]?.content?.parts ?? []);
      return {
        text: parts.map(({ text }) => text ?? "").join(""),
        calls: parts.flatMap(({ functionCall }) =>
          functionCall ? [{ tool: functionCall.name ?? "", input: functionCall.args }] : [],
        ),
      };
    },
  ],
  [
    "AI SDK, openai chat",
    "openai-chat",
    aiSdk((url, fetch) => createOpenAI({ apiKey: "fake", baseURL: `${url}/v1`, fetch }).chat("gpt-fake")),
  ],
  [
    "AI SDK, openai responses",
    "openai-responses",
    aiSdk((url, fetch) => createOpenAI({ apiKey: "fake", baseURL: `${url}/v1`, fetch }).responses("gpt-fake")),
  ],
  [
    "AI SDK, anthropic",
    "anthropic",
    aiSdk((url, fetch) => createAnthropic({ apiKey: "fake", baseURL: `${url}/v1`, fetch })("claude-fake")),
  ],
  [
    "AI SDK, google",
    "gemini",
    aiSdk((url, fetch) => createGoogleGenerativeAI({ apiKey: "fake", baseURL: `${url}/v1beta`, fetch })("gemini-fake")),
  ],
  [
    "LangChain, openai",
    "openai-chat",
    langchain(
      (url, fetch) =>
        new ChatOpenAI({ apiKey: "fake", model: "gpt-fake", configuration: { baseURL: `${url}/v1`, fetch } }),
    ),
  ],
  [
    "LangChain, anthropic",
    "anthropic",
    langchain(
      (url, fetch) =>
        new ChatAnthropic({
          apiKey: "fake",
          model: "claude-fake",
          maxTokens: 100,
          clientOptions: { baseURL: url, fetch },
        }),
    ),
  ],
];
const BOTH = CLIENTS.flatMap(([name, speaks, ask]) => [
  [name, "plain", { speaks, ask, isStreamed: false }] as const,
  [name, "streamed", { speaks, ask, isStreamed: true }] as const,
]);

/** Two sends with numbers in the refusal; the Responses API names none, and gets a third. */
const mostSends = (speaks: Speaks) => (speaks === "openai-responses" ? 3 : 2);
const refusals = ({ requests }: FakeProvider) => requests.map(({ refused }) => refused);

/** The client's own code is the same either way: it gets a fetch, or another address. */
const WAYS: [name: string, through: (provider: FakeProvider) => Promise<{ url: string; send: typeof fetch }>][] = [
  ["a wrapped fetch", async ({ url }) => ({ url, send: createFetch({ spillway }) })],
  ["the gateway", async ({ url }) => ({ url: await startGateway(url), send: fetch })],
];

async function startGateway(upstream: string): Promise<string> {
  const server = await startServe({
    spillway,
    scope: "local",
    policy: undefined,
    version: "",
    host: "127.0.0.1",
    port: 0,
    tokens: [],
    hostNames: [],
    gateway: { upstreams: { anthropic: upstream, openai: `${upstream}/v1`, gemini: upstream }, allowed: [] },
    warn: () => {},
  });
  stops.unshift(() => server.stop({ now: true }));
  return server.url;
}

const ALL = WAYS.flatMap(([way, through]) =>
  BOTH.map(([name, how, about]) => [name, how, way, { ...about, through }] as const),
);

describe.each(ALL)("%s, %s, by %s", (_name, _how, _way, { speaks, ask, isStreamed, through }) => {
  it("recovers, and is not refused again", async () => {
    const provider = await start(speaks, WINDOW, () => "All is well.");
    const { url, send } = await through(provider);
    expect((await ask(url, send, 6, isStreamed)).text).toBe("All is well.");
    expect(provider.requests.length).toBeLessThanOrEqual(mostSends(speaks));
    const first = provider.requests.length;
    expect((await ask(url, send, 7, isStreamed)).text).toBe("All is well.");
    expect(provider.requests).toHaveLength(first + 1);
    expect(refusals(provider)).toEqual([...Array.from({ length: first - 1 }, () => "window"), null, null]);
  });

  it("a call of a tool, and a request that fits, come through as without it", async () => {
    const script = () => ({ text: "One more.", calls: [{ tool: "bash", input: { path: "x" }, id: "call_x" }] });
    const provider = await start(speaks, 200_000, script);
    const { url, send } = await through(provider);
    const seen = await ask(url, send, 2, isStreamed);
    expect(seen).toEqual(await ask(provider.url, fetch, 2, isStreamed));
    expect(seen).toEqual({ text: "One more.", calls: [{ tool: "bash", input: { path: "x" } }] });
    const [sent, bare] = provider.requests.map(({ body }) => body);
    expect(sent).toEqual(bare);
  });

  it("another error is the client's own, with its own retries", async () => {
    const body = {
      type: "error",
      error: { type: "authentication_error", message: "bad key", code: 401, status: "UNAUTHENTICATED" },
    };
    const refusal = { status: 401, body, source: "made up" };
    const provider = await start(speaks, 200_000, () => ({ refusal }));
    const faultOf = async (url: string, send: typeof fetch) =>
      ask(url, send, 1, isStreamed).then(
        () => null,
        (error: Error) => ({ name: error.constructor.name, message: error.message }),
      );
    const bare = await faultOf(provider.url, fetch);
    const sends = provider.requests.length;
    expect(bare).not.toBeNull();
    const { url, send } = await through(provider);
    expect(await faultOf(url, send)).toEqual(bare);
    expect(provider.requests).toHaveLength(sends * 2);
  });

  it("an abort reaches the provider", async () => {
    const stop = new AbortController();
    const provider = await start(speaks, 200_000, async () => {
      stop.abort();
      await new Promise((resolve) => setTimeout(resolve, 50));
      return "Too late.";
    });
    const { url, send } = await through(provider);
    await expect(ask(url, send, 1, isStreamed, stop.signal)).rejects.toThrow(/abort/i);
    expect(provider.requests).toHaveLength(1);
  });
});

describe.each(ALL.filter(([, how]) => how === "plain"))(
  "%s, %s, by %s",
  (_name, _how, _way, { speaks, ask, through }) => {
    it("what cannot be made to fit is the provider's own refusal, and is not sent again by the client", async () => {
      const provider = await start(speaks, 100, () => "never");
      const bare = await ask(provider.url, fetch, 1, false).catch((error: Error) => error.constructor.name);
      const before = provider.requests.length;
      const { url, send } = await through(provider);
      const told = await ask(url, send, 1, false).catch((error: Error) => error.constructor.name);
      expect(told).toBe(bare);
      expect(provider.requests.length - before).toBeLessThanOrEqual(4);
      expect(refusals(provider).every((why) => why === "window")).toBe(true);
    });
  },
);
