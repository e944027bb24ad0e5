import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type RandomConversation, speeches } from "../../../test/recovery/conversation.ts";
import { createSpillway, type Spillway, type SpillwayEvent } from "../../index.ts";
import { memoryLedger } from "../../storage/ledgers/memory.ts";
import { memoryStore } from "../../storage/stores/memory.ts";
import type { FakeProvider, FakeReply, FakeRequest, Speaks } from "../../testing/fake-provider/fake-provider.ts";
import { startFakeProvider } from "../../testing/fake-provider/start-fake-provider.ts";
import { createFetch } from "./index.ts";

// The tools that `addRecallTool` adds, through the real clients: they put streams together, and what they would not take
// shows here. The provider refuses calls without results and results without calls.

interface Call {
  id: string | null;
  tool: string;
  input: unknown;
}

/** What a client sees of an answer, and what it adds to its history for it. */
interface Seen {
  text: string;
  calls: Call[];
  ending: unknown;
  history: unknown[];
}

/** A client, as people write one. */
interface Client {
  ask(history: unknown[], isStreamed: boolean): Promise<Seen>;
  results(calls: Call[], text: string): unknown[];
}

const stops: (() => unknown)[] = [];
let spillway: Spillway;
let events: SpillwayEvent[];

beforeEach(async () => {
  const told: SpillwayEvent[] = [];
  events = told;
  const onEvent = (event: SpillwayEvent) => void told.push(event);
  spillway = await createSpillway({ store: memoryStore(), ledger: memoryLedger(), env: {}, onEvent });
});
afterEach(async () => {
  await Promise.all(stops.splice(0).map((stop) => stop()));
});

const straw = (at: number) => `straw ${at} of the stack`;
const NEEDLE = straw(3001);
const hay = Array.from({ length: 6000 }, (_, at) => straw(at)).join("\n");
const conversation: RandomConversation = {
  system: "You are an agent.",
  first: "Find the needle.",
  turns: [
    { says: "I look.", calls: [{ tool: "bash", path: "a", text: hay, isError: false, hasImage: false }], user: null },
  ],
};

/** The call that a model makes which reads the marker. */
function recallOf(request: FakeRequest): FakeReply["calls"] {
  const [, id = "none"] =
    /spillway_recall\(\{\\"id\\":\\"([a-z2-7]{12})/.exec(
      JSON.stringify(JSON.stringify(request.body)).replaceAll('\\\\\\"', '\\"'),
    ) ?? [];
  return [{ tool: "spillway_recall", input: { id, lines: [3000, 3002] }, id: `own_${request.index}` }];
}
const theirs = (request: FakeRequest) => ({ tool: "read_file", input: { path: "b" }, id: `theirs_${request.index}` });

const CLIENTS: Record<Speaks, (url: string, fetch: typeof globalThis.fetch) => Client> = {
  anthropic(baseURL, fetch) {
    const client = new Anthropic({ apiKey: "fake", baseURL, fetch, maxRetries: 0 });
    const { beside } = speeches.anthropic(conversation);
    return {
      async ask(messages, isStreamed) {
        const body = { ...beside, messages } as unknown as Anthropic.MessageCreateParamsNonStreaming;
        const { content, stop_reason } = isStreamed
          ? await client.messages.stream(body).finalMessage()
          : await client.messages.create(body);
        return {
          text: content.map((block) => (block.type === "text" ? block.text : "")).join(""),
          calls: content.flatMap((block) =>
            block.type === "tool_use" ? [{ id: block.id, tool: block.name, input: block.input }] : [],
          ),
          ending: stop_reason,
          history: [{ role: "assistant", content }],
        };
      },
      results: (calls, text) => [
        { role: "user", content: calls.map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: text })) },
      ],
    };
  },
  "openai-chat"(url, fetch) {
    const client = new OpenAI({ apiKey: "fake", baseURL: `${url}/v1`, fetch, maxRetries: 0 });
    const { beside } = speeches["openai-chat"](conversation);
    return {
      async ask(messages, isStreamed) {
        const body = { ...beside, messages } as unknown as OpenAI.ChatCompletionCreateParamsNonStreaming;
        const { choices } = isStreamed
          ? await client.chat.completions.stream({ ...body, stream: true }).finalChatCompletion()
          : await client.chat.completions.create(body);
        const [{ message, finish_reason } = { message: null, finish_reason: null }] = choices;
        return {
          text: message?.content ?? "",
          calls: (message?.tool_calls ?? []).flatMap((call) =>
            call.type === "function"
              ? [{ id: call.id, tool: call.function.name, input: JSON.parse(call.function.arguments) }]
              : [],
          ),
          ending: finish_reason,
          history: [message],
        };
      },
      results: (calls, text) => calls.map(({ id }) => ({ role: "tool", tool_call_id: id, content: text })),
    };
  },
  "openai-responses"(url, fetch) {
    const client = new OpenAI({ apiKey: "fake", baseURL: `${url}/v1`, fetch, maxRetries: 0 });
    const { beside } = speeches["openai-responses"](conversation);
    return {
      async ask(input, isStreamed) {
        const body = { ...beside, input } as unknown as OpenAI.Responses.ResponseCreateParamsNonStreaming;
        const { output, status } = isStreamed
          ? await client.responses.stream({ ...body, stream: true }).finalResponse()
          : await client.responses.create(body);
        return {
          text: output
            .flatMap((item) => (item.type === "message" ? item.content : []))
            .map((part) => (part.type === "output_text" ? part.text : ""))
            .join(""),
          calls: output.flatMap((item) =>
            item.type === "function_call"
              ? [{ id: item.call_id, tool: item.name, input: JSON.parse(item.arguments) }]
              : [],
          ),
          ending: status,
          history: output.map((item) => JSON.parse(JSON.stringify({ ...item, parsed_arguments: undefined }))),
        };
      },
      results: (calls, text) => calls.map(({ id }) => ({ type: "function_call_output", call_id: id, output: text })),
    };
  },
  gemini(baseUrl, fetch) {
    const client = new GoogleGenAI({ apiKey: "fake", httpOptions: { baseUrl, fetch } as object });
    const { beside } = speeches.gemini(conversation);
    return {
      async ask(contents, isStreamed) {
        const { systemInstruction, tools } = beside;
        const body = { model: "fake", contents, config: { systemInstruction, tools } } as Parameters<
          typeof client.models.generateContent
        >[0];
        const chunks = [];
        if (isStreamed) for await (const chunk of await client.models.generateContentStream(body)) chunks.push(chunk);
        else chunks.push(await client.models.generateContent(body));
        const parts = chunks.flatMap((chunk) => chunk.candidates?.[0]?.content?.parts ?? []);
        return {
          text: parts.map(({ text }) => text ?? "").join(""),
          calls: parts.flatMap(({ functionCall }) =>
            functionCall
              ? [{ id: functionCall.id ?? null, tool: functionCall.name ?? "", input: functionCall.args }]
              : [],
          ),
          ending: chunks.at(-1)?.candidates?.[0]?.finishReason,
          history: [{ role: "model", parts }],
        };
      },
      results: (calls, text) => [
        {
          role: "user",
          parts: calls.map(({ id, tool }) => ({
            functionResponse: { ...(id !== null && { id }), name: tool, response: { output: text } },
          })),
        },
      ],
    };
  },
};
const OVER: Record<Speaks, unknown> = {
  anthropic: "end_turn",
  "openai-chat": "stop",
  "openai-responses": "completed",
  gemini: "STOP",
};

async function open(name: Speaks, script: (request: FakeRequest) => FakeReply | string) {
  const provider: FakeProvider = await startFakeProvider({ speaks: name, script });
  stops.push(() => provider.stop());
  const client = CLIENTS[name](provider.url, createFetch({ spillway, addRecallTool: true }));
  const { messages } = speeches[name](conversation);
  const refused = () => provider.requests.filter(({ status, refused: why }) => status !== 200 || why !== null);
  return { provider, client, messages, refused };
}
const sent = (provider: FakeProvider, at: number) => JSON.stringify(provider.requests.at(at)?.body);

const CASES = (["anthropic", "openai-chat", "openai-responses", "gemini"] as const).flatMap((name) => [
  [name, "plain", false] as const,
  [name, "streamed", true] as const,
]);

describe.each(CASES)("%s, %s", (name, _how, isStreamed) => {
  it("the client sees neither our tools nor their calls, and the model reads what it asked for", async () => {
    const { provider, client, messages, refused } = await open(name, (request) =>
      request.index === 0 ? { text: "Let me see. ", calls: recallOf(request) ?? [] } : "It is 7341.",
    );
    const seen = await client.ask(messages, isStreamed);
    expect(seen).toMatchObject({ text: "Let me see. It is 7341.", calls: [], ending: OVER[name] });
    expect(refused()).toEqual([]);
    expect(provider.requests).toHaveLength(2);
    expect(sent(provider, 0)).not.toContain(NEEDLE);
    expect(sent(provider, 1)).toContain(NEEDLE);
    // All that was sent before is sent again as it was.
    const { field } = speeches[name](conversation);
    const [before, after] = provider.requests.map(({ body }) => body?.[field] as unknown[]);
    expect(after?.slice(0, before?.length)).toEqual(before);
    expect(events.map(({ kind }) => kind)).toContain("artifact-recalled");
    // The conversation goes on.
    await client.ask(
      [...messages, ...seen.history, ...speeches[name]({ ...conversation, turns: [] }).messages.slice(-1)],
      isStreamed,
    );
    expect(refused()).toEqual([]);
  });

  it("beside a call of the client's, ours is answered in the next request, and stays in those after it", async () => {
    const { provider, client, messages, refused } = await open(name, (request) => {
      if (request.index > 0) return `Answer ${request.index}.`;
      return { text: "Both.", calls: [...(recallOf(request) ?? []), theirs(request)] };
    });
    const seen = await client.ask(messages, isStreamed);
    expect(seen).toMatchObject({ text: "Both.", calls: [{ tool: "read_file", input: { path: "b" } }] });
    expect(provider.requests).toHaveLength(1);
    const history = [...messages, ...seen.history, ...client.results(seen.calls, "content of b")];
    const second = await client.ask(history, isStreamed);
    expect(second.text).toBe("Answer 1.");
    expect(refused()).toEqual([]);
    for (const words of [NEEDLE, "content of b", "spillway_recall"]) expect(sent(provider, 1)).toContain(words);
    const third = await client.ask(
      [...history, ...second.history, ...speeches[name]({ ...conversation, turns: [] }).messages.slice(-1)],
      isStreamed,
    );
    expect(third.text).toBe("Answer 2.");
    expect(refused()).toEqual([]);
    expect(sent(provider, 2)).toContain(NEEDLE);
  });

  it("a client's call after ours: both turns are put back in order", async () => {
    const { provider, client, messages, refused } = await open(name, (request) => {
      if (request.index === 0) return { text: "First ours.", calls: recallOf(request) ?? [] };
      return request.index === 1 ? { text: "Then theirs.", calls: [theirs(request)] } : "Done.";
    });
    const seen = await client.ask(messages, isStreamed);
    expect(seen).toMatchObject({ text: "First ours.Then theirs.", calls: [{ tool: "read_file" }] });
    const answer = await client.ask(
      [...messages, ...seen.history, ...client.results(seen.calls, "content of b")],
      isStreamed,
    );
    expect(answer.text).toBe("Done.");
    expect(refused()).toEqual([]);
    const last = sent(provider, 2);
    const order = ["First ours.", NEEDLE, "Then theirs.", "content of b"].map((words) => last.indexOf(words));
    expect(order).toEqual(order.toSorted((a, b) => a - b));
    expect(order[0]).toBeGreaterThan(0);
  });

  it("a model that does not stop is stopped", async () => {
    const { provider, client, messages, refused } = await open(name, (request) => ({
      text: `${request.index} `,
      calls: recallOf(request) ?? [],
    }));
    const seen = await client.ask(messages, isStreamed);
    expect(seen).toMatchObject({ text: "0 1 2 3 4 5 6 7 8 ", calls: [], ending: OVER[name] });
    expect(provider.requests).toHaveLength(9);
    expect(refused()).toEqual([]);
  });

  it("an error in a later round reaches the client as its provider's error", async () => {
    const refusal = {
      status: 429,
      body: {
        type: "error",
        error: { type: "rate_limit_error", message: "slow down", code: 429, status: "RESOURCE_EXHAUSTED" },
      },
      source: "made up",
    };
    const { client, messages } = await open(name, (request) =>
      request.index === 0 ? { calls: recallOf(request) ?? [] } : { refusal },
    );
    await expect(client.ask(messages, isStreamed)).rejects.toThrow("slow down");
  });

  it("what has no call of ours is the provider's to the byte", async () => {
    const { provider } = await open(name, (request) => ({ text: "Theirs only.", calls: [theirs(request)] }));
    const { path, field, beside, messages } = speeches[name](conversation);
    const body = JSON.stringify({ ...beside, ...(isStreamed && { stream: true }), [field]: messages });
    const to = `${provider.url}${isStreamed ? path.replace(/:generateContent$/, ":streamGenerateContent?alt=sse") : path}`;
    const init = { method: "POST", headers: { "content-type": "application/json" }, body };
    const plain = await (await fetch(to, init)).text();
    const through = await (await createFetch({ spillway, addRecallTool: true })(to, init)).text();
    const bare = (text: string) =>
      text.replaceAll(/(fake[-_]|theirs_)\d+|("?(input|prompt|total)_?[tT]oken\w*": ?)\d+/g, "");
    expect(bare(through)).toBe(bare(plain));
  });
});

it("tools are added only beside others, and not where the client has ours", async () => {
  const bodies: unknown[] = [];
  const inner: typeof fetch = async (input, init) => {
    bodies.push(await new Request(input, init).json());
    return Response.json({});
  };
  const wrapped = createFetch({ spillway, fetch: inner, addRecallTool: true });
  const ask = (more: object) =>
    wrapped("http://127.0.0.1/v1/chat/completions", {
      method: "POST",
      body: JSON.stringify({ messages: [{ role: "user", content: "hi" }], ...more }),
    });
  const tool = { type: "function", function: { name: "x" } };
  await ask({});
  await ask({ tools: [tool], n: 2 });
  await ask({ tools: [tool], n: 1.0 });
  expect(bodies.map((body) => (body as { tools?: unknown[] }).tools?.length)).toEqual([undefined, 1, 3]);
  const own = (bodies[2] as { tools: { function: object }[] }).tools;
  bodies.length = 0;
  await ask({ tools: own.slice(1) });
  expect((bodies[0] as { tools: unknown[] }).tools).toEqual(own.slice(1));
});

it("a frame that is too long to look into reaches the client whole, and what comes after it is read", async () => {
  // Chunks end between the two halves of a character and within the end of the frame too.
  const picture = "\u{1f600}".repeat(2_200_000);
  const parts = (...given: object[]) =>
    `data: ${JSON.stringify({ candidates: [{ content: { parts: given } }] })}\r\n\r\n`;
  const [before, long] = [parts({ text: "here" }), parts({ inlineData: { data: picture } })];
  const own = parts({ functionCall: { name: "spillway_recall", args: { id: "none" } } });
  let sends = 0;
  const inner: typeof fetch = async () => {
    const bytes = Buffer.from(sends++ === 0 ? before + own + long : long + parts({ text: "done" }));
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let at = 0; at < bytes.length; at += 65_537) controller.enqueue(bytes.subarray(at, at + 65_537));
        controller.close();
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
  const response = await createFetch({ spillway, fetch: inner, addRecallTool: true })(
    "http://127.0.0.1/v1beta/models/m:streamGenerateContent?alt=sse",
    {
      method: "POST",
      body: JSON.stringify({
        contents: [{ role: "user", parts: [{ text: "draw" }] }],
        tools: [{ functionDeclarations: [{ name: "x" }] }],
      }),
    },
  );
  const came = await response.text();
  expect(sends).toBe(2);
  expect(came === before + long + long + parts({ text: "done" })).toBe(true);
});

const KEY_HEADERS = ["authorization", "x-api-key", "api-key", "x-goog-api-key"];
it.each(KEY_HEADERS)(
  "what one caller's model read back stays out of the same words of others, by %s",
  async (header) => {
    const bodies: string[] = [];
    const call = (name: string) => ({ id: `${name}:0`, type: "function", function: { name, arguments: "{}" } });
    const inner: typeof fetch = async (input, init) => {
      bodies.push(await new Request(input, init).text());
      const tool_calls = [call("spillway_recall"), call("x")];
      const message = bodies.length === 1 ? { role: "assistant", content: null, tool_calls } : { content: "ok" };
      return Response.json({ choices: [{ message }] });
    };
    const wrapped = createFetch({ spillway, fetch: inner, addRecallTool: true });
    const ask = async (headers: Record<string, string>, messages: object[]) => {
      const body = JSON.stringify({ messages, tools: [{ type: "function", function: { name: "x" } }] });
      await (await wrapped("http://127.0.0.1/v1/chat/completions", { method: "POST", headers, body })).text();
      return bodies.at(-1)?.includes("spillway_recall:0");
    };
    const first = { role: "user", content: "go" };
    const shown = { role: "assistant", content: null, tool_calls: [call("x")] };
    const history = [first, shown, { role: "tool", tool_call_id: "x:0", content: "done" }];
    const one = { [header]: "Bearer 1", "content-type": "application/json" };
    await ask(one, [first]);
    expect(await ask({ ...one, [header]: "Bearer 2" }, history)).toBe(false);
    expect(await ask({ ...one, "x-spillway-session": "other" }, history)).toBe(false);
    expect(await ask(one, [{ ...first, content: "other" }, ...history.slice(1)])).toBe(false);
    expect(await ask(one, history)).toBe(true);
  },
);

describe("Gemini's stream that is one JSON list", () => {
  const TO = "http://127.0.0.1/v1beta/models/m:streamGenerateContent";
  const parts = (...given: object[]) => ({ candidates: [{ content: { parts: given } }] });
  const usage = { usageMetadata: { promptTokenCount: 41, candidatesTokenCount: 7, totalTokenCount: 48 } };
  // Google writes it on many lines, with a comma on a line of its own.
  const written = (elements: object[]) =>
    `[${elements.map((each) => JSON.stringify(each, null, 2)).join("\n,\r\n")}\n]`;

  /** Answers with lists, in chunks of any size. */
  function answering(lists: object[][], chunkBytes: number) {
    let sends = 0;
    const inner: typeof fetch = async () => {
      const bytes = Buffer.from(written(lists[sends++] ?? []));
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          for (let at = 0; at < bytes.length; at += chunkBytes) controller.enqueue(bytes.subarray(at, at + chunkBytes));
          controller.close();
        },
      });
      return new Response(body, { headers: { "content-type": "application/json; charset=UTF-8" } });
    };
    return { inner, sends: () => sends };
  }
  const asked = (tools: object[]) => ({
    method: "POST",
    body: JSON.stringify({ contents: [{ role: "user", parts: [{ text: "look" }] }], tools }),
  });
  const answered = () => events.filter(({ kind }) => kind === "request-answered").map(({ more }) => more);

  it.each([1, 7, 100_000])("our calls are answered here, in chunks of %i bytes", async (chunkBytes) => {
    const own = { functionCall: { name: "spillway_recall", args: { id: "no{ne" } } };
    const { inner, sends } = answering(
      [
        [parts({ text: 'he said "{' }), parts(own)],
        [parts({ text: "do\u{1f600}ne" }), { ...parts({ text: "." }), ...usage }],
      ],
      chunkBytes,
    );
    const wrapped = createFetch({ spillway, fetch: inner, addRecallTool: true });
    const response = await wrapped(TO, asked([{ functionDeclarations: [{ name: "x" }] }]));
    const list = (await response.json()) as ReturnType<typeof parts>[];
    expect(response.headers.get("content-type")).toBe("application/json; charset=UTF-8");
    const text = list.flatMap(({ candidates }) => candidates[0]?.content.parts ?? []);
    expect(text).toEqual([{ text: 'he said "{' }, { text: "do\u{1f600}ne" }, { text: "." }]);
    expect(sends()).toBe(2);
    await expect.poll(() => answered().at(-1)).toMatchObject({ inputTokens: 41, outputTokens: 7, isStreamed: true });
  });

  it("without tools it passes to the byte, and its usage is recorded", async () => {
    const list = [parts({ text: "a" }), { ...parts({ text: "b" }), ...usage }];
    const { inner } = answering([list], 11);
    const response = await createFetch({ spillway, fetch: inner, addRecallTool: true })(TO, asked([]));
    expect(await response.text()).toBe(written(list));
    await expect.poll(() => answered().at(-1)).toMatchObject({ inputTokens: 41, outputTokens: 7, isStreamed: true });
  });

  it("a refusal is the provider's own", async () => {
    const refusal = '[{"error":{"code":400,"message":"bad","status":"INVALID_ARGUMENT"}}]';
    const inner: typeof fetch = async () =>
      new Response(refusal, { status: 400, headers: { "content-type": "application/json" } });
    const wrapped = createFetch({ spillway, fetch: inner, addRecallTool: true });
    const response = await wrapped(TO, asked([{ functionDeclarations: [{ name: "x" }] }]));
    expect([response.status, await response.text()]).toEqual([400, refusal]);
  });
});

it("a stream that ends before any output is handed on whole, and its usage is recorded", async () => {
  const start = 'data: {"type":"message_start","message":{"usage":{"input_tokens":41,"output_tokens":2}}}\n\n';
  const inner: typeof fetch = async () => new Response(start, { headers: { "content-type": "text/event-stream" } });
  const body = JSON.stringify({ messages: [{ role: "user", content: "hi" }], stream: true });
  const response = await createFetch({ spillway, fetch: inner })("http://127.0.0.1/v1/messages", {
    method: "POST",
    body,
  });
  expect(await response.text()).toBe(start);
  const answered = () => events.find(({ kind }) => kind === "request-answered")?.more;
  await expect.poll(answered).toMatchObject({ inputTokens: 41, outputTokens: 2, isStreamed: true });
});
