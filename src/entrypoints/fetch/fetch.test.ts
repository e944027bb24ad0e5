import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type RandomConversation, speeches, textOf } from "../../../test/recovery/conversation.ts";
import { agents, has, screenshot, turnsOf } from "../../../test/wire/screenshots.ts";
import { createSpillway, type Spillway, type SpillwayEvent, type SpillwayOptions } from "../../index.ts";
import { memoryLedger } from "../../storage/ledgers/memory.ts";
import { memoryStore } from "../../storage/stores/memory.ts";
import type { FakeProvider, FakeProviderOptions, Speaks } from "../../testing/fake-provider/fake-provider.ts";
import { startFakeProvider } from "../../testing/fake-provider/start-fake-provider.ts";
import { createFetch, type FetchOptions } from "./index.ts";

const NAMES: Speaks[] = ["openai-chat", "openai-responses", "anthropic", "gemini"];
const stops: (() => unknown)[] = [];
let spillway: Spillway;
let events: SpillwayEvent[];

async function open(options: SpillwayOptions = {}): Promise<Spillway> {
  const told: SpillwayEvent[] = [];
  events = told;
  const onEvent = (event: SpillwayEvent) => void told.push(event);
  return createSpillway({ store: memoryStore(), ledger: memoryLedger(), env: {}, onEvent, ...options });
}

beforeEach(async () => {
  spillway = await open();
});
afterEach(async () => {
  await Promise.all(stops.splice(0).map((stop) => stop()));
});

async function start(options: FakeProviderOptions): Promise<FakeProvider> {
  const provider = await startFakeProvider(options);
  stops.push(() => provider.stop());
  return provider;
}

/** Six turns of about 2,000 tokens each, with a picture where a format has them, and small ones after them. */
const conversation = (turns = 6, chars = 7000): RandomConversation => ({
  system: "You are an agent that reads logs.",
  first: "What went wrong?",
  turns: Array.from({ length: turns }, (_, turn) => ({
    says: "I will look.",
    calls: [
      {
        tool: "bash",
        path: `${turn}.log`,
        text: textOf(turn, turn < 6 ? chars : 100, turn),
        isError: false,
        hasImage: turn === 1,
      },
    ],
    user: null,
  })),
});

/** What a client would send, as text that no `JSON.stringify` gives. */
function asked(name: Speaks, given: RandomConversation, more: Record<string, unknown> = {}, path?: string) {
  const { path: usual, field, beside, messages } = speeches[name](given);
  const json = JSON.stringify({ ...beside, ...more, [field]: messages }, null, 1);
  return { path: path ?? usual, body: json.replace(/^\{/, '{"seed":12345678901234567890,"temperature":1.0,') };
}

const POST = { method: "POST", headers: { "content-type": "application/json", authorization: "Bearer key" } };
const HALF = { duplex: "half" };
const wrapped = (options: Partial<FetchOptions> = {}) => createFetch({ spillway, ...options });
const kinds = () => events.map(({ kind }) => kind);
/** Events are recorded while the client goes on. */
const answered = (count = 1) =>
  vi.waitFor(() => {
    const found = events.filter(({ kind }) => kind === "request-answered");
    expect(found.length).toBeGreaterThanOrEqual(count);
    return found.at(-1)?.more;
  }, 120_000);

/** A provider that is told what to do with each request. */
async function serve(answer: Parameters<typeof createServer>[1]): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  stops.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe.each(NAMES)("%s", (name) => {
  const streamed = name === "gemini" ? {} : { stream: true };
  const streamPath = name === "gemini" ? "/v1beta/models/fake:streamGenerateContent" : undefined;

  it.each([
    ["plain", {}, undefined],
    ["streamed", streamed, streamPath],
  ])("recovers in two sends, and not at all in the next request: %s", async (_how, more, path) => {
    const provider = await start({ speaks: name, window: 6000, tokenFactor: 1.2, script: () => "All is well." });
    for (const turns of [6, 7]) {
      const { path: to, body } = asked(name, conversation(turns), more, path);
      const response = await wrapped()(`${provider.url}${to}`, { ...POST, body });
      const text = await response.text();
      expect(response.status).toBe(200);
      expect(text).toContain("All is well.".slice(0, 8));
      expect(response.url).toBe(`${provider.url}${to}`);
    }
    // The Responses API names no numbers, and refuses inside a stream that began well.
    const isInside = name === "openai-responses" && "stream" in more;
    const refused: [number, string][] = Array.from({ length: name === "openai-responses" ? 2 : 1 }, () => [
      isInside ? 200 : 400,
      "window",
    ]);
    expect(provider.requests.map(({ status, refused: why }) => [status, why])).toEqual([
      ...refused,
      [200, null],
      [200, null],
    ]);
    // What the client wrote in its own way came through.
    expect(provider.requests.every(({ headers }) => headers.authorization === "Bearer key")).toBe(true);
    expect(kinds()).toContain("overflow-recovered");
    const cost = await answered(2);
    expect(cost).toMatchObject({ wire: name, sends: 1, isStreamed: path !== undefined || "stream" in more });
    // Chat completions tell it in a stream only if they are asked to.
    const isTold = name !== "openai-chat" || !("stream" in more);
    expect(cost?.inputTokens).toBe(isTold ? provider.requests.at(-1)?.inputTokens : null);
  });

  it("forwards to the byte what it does not change", async () => {
    const bodies: Buffer[] = [];
    const url = await serve(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      bodies.push(Buffer.concat(chunks));
      response.writeHead(200, { "content-type": "application/json", "request-id": "r1" });
      response.end('{"n":12345678901234567890,  "usage":{"input_tokens":3}}');
    });
    const { path, body } = asked(name, conversation(1, 50));
    const bytes = new TextEncoder().encode(body);
    const forms: [RequestInfo | URL, RequestInit | undefined][] = [
      [`${url}${path}`, { ...POST, body }],
      [new URL(`${url}${path}`), { ...POST, body: bytes }],
      [`${url}${path}`, { ...POST, body: bytes.buffer }],
      [`${url}${path}`, { ...POST, body: new Blob([bytes]) }],
      [`${url}${path}`, { ...POST, ...HALF, body: new Blob([bytes]).stream() }],
      [new Request(`${url}${path}`, { ...POST, body }), undefined],
      [new Request(`${url}${path}`, POST), { body }],
    ];
    for (const [input, init] of forms) {
      const response = await wrapped()(input, init);
      expect(await response.text()).toBe('{"n":12345678901234567890,  "usage":{"input_tokens":3}}');
      expect(response.headers.get("request-id")).toBe("r1");
    }
    expect(bodies.map(String)).toEqual(forms.map(() => body));
  });

  it("leaves out screenshots that a model has seen, and changes nothing else", async () => {
    const sent: string[] = [];
    const inner: typeof fetch = async (input, init) => {
      sent.push(await new Request(input, init).text());
      return Response.json({});
    };
    const agent = agents.find(({ wire }) => wire === name) as (typeof agents)[number];
    const { path, field, beside } = speeches[name](conversation(1, 50));
    const body = JSON.stringify({ ...beside, [field]: turnsOf(agent, 30).flat() }, null, 1);
    const send = wrapped({ fetch: inner, window: 40_000 });
    for (let time = 0; time < 2; time++) await send(`http://127.0.0.1${path}`, { ...POST, body });
    const [shown = "", again] = sent;
    expect(again === shown).toBe(true);
    expect([has(body, 3), has(shown, 3), has(shown, 27), has(shown, 29)]).toEqual([true, false, true, true]);
    // The images that stay, and all around them, are the bytes that came.
    expect(shown.endsWith(body.slice(body.lastIndexOf("call_27")))).toBe(true);
    const id = /artifact ([a-z2-7]{12})/.exec(shown)?.[1] ?? "";
    expect((await spillway.artifact(id)).bytes).toBe(screenshot(0).length);
    expect(shown.split("left out: it was shown before").length - 1).toBeGreaterThan(10);
  });

  it("changes only the texts of results that are over their limits, and keeps them", async () => {
    const sent: string[] = [];
    const inner: typeof fetch = async (input, init) => {
      sent.push(await new Request(input, init).text());
      return Response.json({});
    };
    const { path, body } = asked(name, conversation(3, 90_000));
    await wrapped({ fetch: inner })(`http://127.0.0.1${path}`, { ...POST, body });
    const shown = sent[0] ?? "";
    expect(shown).not.toBe(body);
    expect(shown.length).toBeLessThan(200_000);
    expect(shown.startsWith('{"seed":12345678901234567890,"temperature":1.0,')).toBe(true);
    // With each result's text taken out, both are the same.
    const field = { "openai-chat": "content", "openai-responses": "output", anthropic: "content", gemini: "output" }[
      name
    ];
    const bare = (text: string) =>
      text.replaceAll(new RegExp(`"(${field}|text)": "(?:[^"\\\\]|\\\\.){3000,}"`, "g"), '"$1": ""');
    expect(bare(shown)).toBe(bare(body));
    const id = /artifact ([a-z2-7]{12})/.exec(shown)?.[1] ?? "";
    expect((await spillway.artifact(id)).bytes).toBeGreaterThan(80_000);
    expect(shown).not.toMatch(/recall\(/);
    // The next request shows the same.
    await wrapped({ fetch: inner })(`http://127.0.0.1${path}`, { ...POST, body });
    expect(sent[1]).toBe(shown);
  });
});

describe("counting", () => {
  it.each([
    ["anthropic", "/v1/messages/count_tokens"],
    ["openai-responses", "/v1/responses/input_tokens"],
    ["gemini", "/v1beta/models/fake:countTokens"],
  ] as const)("of %s gets the same pruning as the request", async (name, path) => {
    const provider = await start({ speaks: name });
    const given = conversation(4, 90_000);
    const ask = asked(name, given);
    await (await wrapped()(`${provider.url}${path}`, { ...POST, body: ask.body })).text();
    await (await wrapped()(`${provider.url}${ask.path}`, { ...POST, body: ask.body })).text();
    expect(provider.requests[0]?.body).toEqual(provider.requests[1]?.body);
    expect(JSON.stringify(provider.requests[0]?.body).length).toBeLessThan(200_000);
    await answered();
    expect(kinds().filter((kind) => kind === "request-answered")).toHaveLength(1);
  });
});

describe("the event of an answer", () => {
  const usages = {
    anthropic: { input_tokens: 5, cache_read_input_tokens: 70, cache_creation_input_tokens: 20, output_tokens: 3 },
    "openai-chat": { prompt_tokens: 95, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 70 } },
  };

  it.each(Object.entries(usages))(
    "of %s says what the cache gave, and what the request was made of",
    async (name, usage) => {
      const events = `data: ${JSON.stringify({ type: "message_start", message: { usage } })}\n\ndata: ${JSON.stringify({ usage })}\n\n`;
      for (const isStreamed of [false, true]) {
        const url = await serve((request, response) => {
          request.resume().on("end", () => {
            response.writeHead(200, { "content-type": isStreamed ? "text/event-stream" : "application/json" });
            response.end(isStreamed ? events : JSON.stringify({ usage, content: [{ type: "text", text: "ok" }] }));
          });
        });
        const tools = [{ name: "look", description: textOf(1, 8000, 1) }];
        const ask = asked(name as "anthropic", conversation(4, 2000), { tools });
        await (await wrapped()(`${url}${ask.path}`, { ...POST, body: ask.body })).text();
        const more = await answered(isStreamed ? 2 : 1);
        expect(more).toMatchObject({ inputTokens: 95, outputTokens: 3, cacheReadTokens: 70, isStreamed });
        expect(more?.["cacheWriteTokens"]).toBe(name === "anthropic" ? 20 : undefined);
        const request = (more?.["request"] ?? {}) as Record<string, number>;
        const { tokens, systemAndToolsTokens, resultTokens, windowTokens } = request;
        expect(resultTokens).toBeGreaterThan(0);
        expect(systemAndToolsTokens).toBeGreaterThan(1000);
        expect(tokens).toBeGreaterThan((resultTokens ?? 0) + (systemAndToolsTokens ?? 0));
        expect(windowTokens).toBeGreaterThan(tokens ?? 0);
      }
    },
  );
});

it("a text without a type stays a text when it is changed, whatever else came as bytes", async () => {
  const sent: unknown[] = [];
  const inner: typeof fetch = async (_to, init) => {
    sent.push(init?.body);
    return Response.json({});
  };
  const { path, body } = asked("anthropic", conversation(2, 90_000));
  const ask = (init: RequestInit) => wrapped({ fetch: inner })(`http://127.0.0.1${path}`, { method: "POST", ...init });
  await ask({ body });
  await ask({ body, headers: POST.headers });
  await ask({ body: new TextEncoder().encode(body) });
  expect(sent.map((each) => typeof each)).toEqual(["string", "object", "object"]);
  for (const each of sent) expect(Buffer.from(each as string).length).toBeLessThan(body.length / 2);
});

it("the body of a Request is read and changed too, its headers and method stay", async () => {
  const sent: Request[] = [];
  const inner: typeof fetch = async (to) => {
    sent.push(to as Request);
    return Response.json({});
  };
  const { path, body } = asked("anthropic", conversation(2, 90_000));
  const headers = { ...POST.headers, "x-own": "kept" };
  await wrapped({ fetch: inner })(new Request(`http://127.0.0.1${path}`, { method: "POST", headers, body }));
  expect(sent.map((request) => [request.method, request.headers.get("x-own")])).toEqual([["POST", "kept"]]);
  const text = await sent[0]?.text();
  expect(text?.length).toBeGreaterThan(0);
  expect(text?.length).toBeLessThan(body.length / 2);
});

describe("what is not ours", () => {
  it.each([
    ["another endpoint", "/v1/embeddings", '{"input":["a"]}', {}],
    ["a body that is not JSON", "/v1/chat/completions", "--boundary", { "content-type": "multipart/form-data" }],
    [
      "a body that is compressed",
      "/v1/chat/completions",
      asked("openai-chat", conversation(2, 90_000)).body,
      { "content-encoding": "br" },
    ],
    ["a body that is broken", "/v1/chat/completions", '{"messages":[', {}],
    ["a prompt that is a text", "/v1/responses", '{"input":"hello"}', {}],
    [
      "what is switched off",
      "/v1/chat/completions",
      asked("openai-chat", conversation(2, 90_000)).body,
      { "x-spillway": "off" },
    ],
  ])("passes as it came: %s", async (_what, path, body, headers) => {
    const seen: { body: string; headers: Record<string, unknown> }[] = [];
    const url = await serve(async (request, response) => {
      let text = "";
      for await (const chunk of request) text += String(chunk);
      seen.push({ body: text, headers: request.headers });
      response.writeHead(418, { "content-type": "text/plain", "x-odd": "1" });
      response.end("no");
    });
    const response = await wrapped()(`${url}${path}`, { ...POST, headers: { ...POST.headers, ...headers }, body });
    expect([response.status, response.statusText, response.headers.get("x-odd"), await response.text()]).toEqual([
      418,
      "I'm a Teapot",
      "1",
      "no",
    ]);
    expect(seen[0]?.body).toBe(body);
    expect(Object.keys(seen[0]?.headers ?? {}).filter((name) => name.startsWith("x-spillway"))).toEqual([]);
  });

  it("errors of other kinds come as they came, after one send", async () => {
    const refusal = {
      status: 429,
      body: { error: { message: "slow down", type: "rate_limit" } },
      headers: { "retry-after": "7" },
      source: "made up",
    };
    const provider = await start({ speaks: "openai-chat", script: [{ refusal }] });
    const { path, body } = asked("openai-chat", conversation(1, 10));
    const response = await wrapped()(`${provider.url}${path}`, { ...POST, body });
    expect([response.status, response.headers.get("retry-after"), response.headers.get("x-should-retry")]).toEqual([
      429,
      "7",
      null,
    ]);
    expect(await response.json()).toEqual(refusal.body);
    expect(provider.requests).toHaveLength(1);
  });

  it("a network that fails throws what the inner fetch threw", async () => {
    const fault = new TypeError("fetch failed");
    const inner: typeof fetch = async () => {
      throw fault;
    };
    const { path, body } = asked("openai-chat", conversation(1, 10));
    await expect(wrapped({ fetch: inner })(`http://127.0.0.1${path}`, { ...POST, body })).rejects.toBe(fault);
  });
});

describe("refusals of all sorts", () => {
  it.each(["cerebras", "deepseek", "openrouter", "vllm", "xai"] as const)(
    "%s is recovered by its own words, with or without an error key",
    async (as) => {
      const provider = await start({ speaks: "openai-chat", as, window: 6000, script: () => "All is well." });
      const { path, body } = asked("openai-chat", conversation());
      const response = await wrapped()(`${provider.url}${path}`, { ...POST, body });
      expect(response.status).toBe(200);
      expect(provider.requests.map(({ refused }) => refused)).toEqual(["window", null]);
    },
  );

  it("an error in place of the first chunk of a stream is recovered too", async () => {
    let sends = 0;
    let isClosed: (() => void) | undefined;
    const closed = new Promise<void>((resolve) => (isClosed = resolve));
    const url = await serve((request, response) => {
      request.resume().on("end", () => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        const message =
          "This endpoint's maximum context length is 6000 tokens. However, you requested about 12000 tokens.";
        const error = { code: 400, message };
        response.write(": PROCESSING\n\n");
        if (sends++ > 0) return void response.end('data: {"choices":[]}\n\n');
        // It stays open until somebody ends it.
        response.on("close", () => isClosed?.());
        response.write(`data: ${JSON.stringify({ error })}\n\n`);
      });
    });
    const { path, body } = asked("openai-chat", conversation(), { stream: true });
    const response = await wrapped()(`${url}${path}`, { ...POST, body });
    expect(await response.text()).toBe(': PROCESSING\n\ndata: {"choices":[]}\n\n');
    expect(sends).toBe(2);
    await closed;
  });

  it("no answer at a full window is taken for one", async () => {
    let sends = 0;
    const url = await serve((request, response) => {
      request.resume().on("end", () => {
        response.writeHead(200, { "content-type": "application/json" });
        const isFull = sends++ === 0;
        const choices = [{ finish_reason: isFull ? "length" : "stop", message: { content: isFull ? "" : "ok" } }];
        response.end(JSON.stringify({ choices, usage: { prompt_tokens: isFull ? 6000 : 3000, completion_tokens: 0 } }));
      });
    });
    const { path, body } = asked("openai-chat", conversation());
    const response = await wrapped({ window: 6000 })(`${url}${path}`, { ...POST, body });
    expect(await response.json()).toMatchObject({ choices: [{ message: { content: "ok" } }] });
    expect(sends).toBe(2);
  });

  it("an error after output has begun is the client's", async () => {
    let sends = 0;
    const frames = [
      'data: {"choices":[{"delta":{"content":"a"}}]}\n\n',
      'data: {"error":{"message":"prompt is too long: 9 tokens > 5 maximum"}}\n\n',
    ];
    const url = await serve((request, response) => {
      request.resume().on("end", () => {
        sends++;
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.end(frames.join(""));
      });
    });
    const { path, body } = asked("openai-chat", conversation(), { stream: true });
    expect(await (await wrapped()(`${url}${path}`, { ...POST, body })).text()).toBe(frames.join(""));
    expect(sends).toBe(1);
  });
});

it("a body may be a part of a buffer that its owner uses again", async () => {
  const sent: string[] = [];
  const inner: typeof fetch = async (_input, init) => {
    sent.push(Buffer.from(init?.body as Uint8Array).toString());
    return Response.json({});
  };
  const send = wrapped({ fetch: inner });
  const bodies = ["first", "other"].map((word) => {
    const given = conversation(2, 10);
    for (const turn of given.turns) for (const call of turn.calls) call.text = `${word} line of a log\n`.repeat(9000);
    return asked("openai-chat", given);
  });
  const buffer = Buffer.alloc(10 + (bodies[0]?.body.length ?? 0));
  for (const { path, body } of bodies) {
    buffer.write(body, 5);
    await send(`http://127.0.0.1:1${path}`, { ...POST, body: buffer.subarray(5, 5 + body.length) });
  }
  expect(sent.map((text) => [text.length < 1e5, /first line/.test(text), /other line/.test(text)])).toEqual([
    [true, true, false],
    [true, false, true],
  ]);
});

it("a body may be a stream of Node, as some libraries have it", async () => {
  const inner = async () =>
    Object.defineProperty(new Response("x"), "body", {
      value: Readable.from([Buffer.from("all "), Buffer.from("well")]),
    });
  const { path, body } = asked("openai-chat", conversation(1, 10));
  const response = await wrapped({ fetch: inner })(`http://127.0.0.1:1${path}`, { ...POST, body });
  expect(await response.text()).toBe("all well");
});

it("no signal is handed to the inner fetch if the caller has none, and the caller's own if it has one", async () => {
  const given: (AbortSignal | null | undefined)[] = [];
  const inner: typeof fetch = async (_input, init) => {
    given.push(init?.signal);
    return Response.json({});
  };
  const { path, body } = asked("openai-chat", conversation(1, 10));
  const { signal } = new AbortController();
  for (const more of [{}, { signal }])
    await wrapped({ fetch: inner })(`http://127.0.0.1:1${path}`, { ...POST, body, ...more });
  expect(given).toEqual([undefined, signal]);
});

it("what is sent a second time has a signal, with which it ends when the time for recovery does", async () => {
  const given: (AbortSignal | null | undefined)[] = [];
  const message =
    "This model's maximum context length is 8000 tokens. However, your messages resulted in 14000 tokens.";
  const inner: typeof fetch = async (_input, init) =>
    given.push(init?.signal) === 1 ? Response.json({ error: { message } }, { status: 400 }) : Response.json({});
  const { path, body } = asked("openai-chat", conversation());
  const { status } = await wrapped({ fetch: inner })(`http://127.0.0.1:1${path}`, { ...POST, body });
  expect([status, given]).toEqual([200, [undefined, expect.any(AbortSignal)]]);
});

it("what only the inner fetch knows of a request reaches it", async () => {
  const given: unknown[] = [];
  const inner = async (_input: unknown, init: unknown) => (given.push(init), Response.json({}));
  const { path, body } = asked("openai-chat", conversation(1, 10));
  const init = { ...POST, body, dispatcher: {}, redirect: "error" as const };
  await wrapped({ fetch: inner as typeof fetch })(`http://127.0.0.1:1${path}`, init);
  expect(given[0]).toMatchObject({ dispatcher: init.dispatcher, redirect: "error" });
});

describe("a reservation for the answer that leaves no room", () => {
  /** Refuses what is over 20,000 tokens together with what it reserves, in words that Anthropic and vLLM use. */
  async function refusing(field: RegExp) {
    const bodies: string[] = [];
    const url = await serve((request, response) => {
      let text = "";
      request.on("data", (chunk) => (text += chunk));
      request.on("end", () => {
        bodies.push(text);
        const reserved = Number(field.exec(text)?.[1] ?? 0);
        const tokens = Math.ceil(text.length / 4);
        const words = `input length and \`max_tokens\` exceed context limit: ${tokens} + ${reserved} > 20000, decrease input length or \`max_tokens\` and try again`;
        const isOver = tokens + reserved > 20_000;
        response.writeHead(isOver ? 400 : 200, { "content-type": "application/json" });
        response.end(JSON.stringify(isOver ? { error: { type: "invalid_request_error", message: words } } : { ok: 1 }));
      });
    });
    return { url, bodies };
  }

  it.each([
    ["anthropic", { max_tokens: 32_000 }, '"max_tokens": 32000', '"max_tokens": 10000'],
    ["openai-chat", { max_completion_tokens: 32_000 }, "32000", "10000"],
    ["openai-chat", { max_tokens: 32_000, max_completion_tokens: null }, "32000", "10000"],
    ["openai-responses", { max_output_tokens: 32_000 }, "32000", "10000"],
    ["gemini", { generationConfig: { topK: 1.0, maxOutputTokens: 32_000 } }, "32000", "10000"],
    ["gemini", { generation_config: { max_output_tokens: 32_000 } }, "32000", "10000"],
  ] as const)("is lowered, and nothing else of the body is written anew: %s %j", async (name, more, from, to) => {
    const { url, bodies } = await refusing(/"max\w+(?:tokens|Tokens)": (\d+)/);
    const { path, body } = asked(name, conversation(1, 1000), more);
    const response = await wrapped()(`${url}${path}`, { ...POST, body });
    expect(response.status).toBe(200);
    expect(body).toContain(from);
    expect(bodies).toEqual([body, body.replace(from, to)]);
  });

  it.each([
    ["over the share that thinking has of it", 2000, 10_000],
    ["to just over the share that thinking has of it", 16_000, 16_001],
  ])("is lowered %s, and never under it", async (_what, budget_tokens, max_tokens) => {
    const { url, bodies } = await refusing(/"max_tokens": (\d+)/);
    const more = { max_tokens: 32_000, thinking: { type: "enabled", budget_tokens } };
    const { path, body } = asked("anthropic", conversation(1, 1000), more);
    expect((await wrapped()(`${url}${path}`, { ...POST, body })).status).toBe(200);
    expect(bodies).toEqual([body, body.replace("32000", String(max_tokens))]);
  });

  it("is left alone where thinking has more than all of it, as between calls of tools it may", async () => {
    const { url, bodies } = await refusing(/"max_tokens": (\d+)/);
    const more = { max_tokens: 32_000, thinking: { type: "enabled", budget_tokens: 64_000 } };
    const { path, body } = asked("anthropic", conversation(1, 1000), more);
    expect((await wrapped()(`${url}${path}`, { ...POST, body })).status).toBe(400);
    expect(bodies).toEqual([body]);
  });

  /** Sends a body to a provider that refuses it once, with these numbers. Returns what was sent. */
  async function refusedOnce(name: Speaks, text: string, [input, output, limit]: readonly number[]) {
    const words = `input length and \`max_tokens\` exceed context limit: ${input} + ${output} > ${limit}, decrease input length or \`max_tokens\` and try again`;
    const sent: string[] = [];
    const inner: typeof fetch = async (_input, init) => {
      sent.push(await new Response(init?.body).text());
      const error = { type: "invalid_request_error", message: words };
      return sent.length === 1 ? Response.json({ error }, { status: 400 }) : Response.json({});
    };
    const { path } = speeches[name](conversation(1, 10));
    await wrapped({ fetch: inner })(`http://127.0.0.1:1${path}`, { ...POST, body: text });
    return sent;
  }

  it.each([
    ["a number that is smaller already", "anthropic", '"max_tokens":10', [1000, 100_000, 100_000], null],
    ["none", "anthropic", '"max_tokens":0', [1000, 100_000, 100_000], null],
    ["several answers at once", "openai-chat", '"max_tokens":3000,"n":4', [1000, 12_000, 8192], null],
    ["the last of two", "anthropic", '"max_tokens":100000,"max_tokens":10', [1000, 100_000, 100_000], null],
    ["a limit of 1", "anthropic", '"max_tokens":100', [0, 100, 1], '"max_tokens":1'],
    [
      "both names",
      "openai-chat",
      '"max_tokens":8000,"max_completion_tokens":7000',
      [1000, 8000, 8192],
      '"max_tokens":4096,"max_completion_tokens":4096',
    ],
    [
      "both names, of which one is small",
      "openai-chat",
      '"max_tokens":8000,"max_completion_tokens":10',
      [1000, 8000, 8192],
      '"max_tokens":4096,"max_completion_tokens":10',
    ],
    [
      "a small share for thinking",
      "gemini",
      '"generationConfig":{"maxOutputTokens":8000,"thinkingConfig":{"thinkingBudget":100}}',
      [1000, 8000, 8192],
      '"generationConfig":{"maxOutputTokens":4096,"thinkingConfig":{"thinkingBudget":100}}',
    ],
    [
      "a large share for thinking",
      "gemini",
      '"generation_config":{"max_output_tokens":8000,"thinking_config":{"thinking_budget":7000}}',
      [1000, 8000, 8192],
      '"generation_config":{"max_output_tokens":7001,"thinking_config":{"thinking_budget":7000}}',
    ],
  ] as const)("becomes as much as fits and was asked for: %s", async (_what, name, more, numbers, then) => {
    const { field, messages } = speeches[name](conversation(1, 10));
    const body = `{"model":"m",${more},"${field}":${JSON.stringify(messages)}}`;
    const sent = await refusedOnce(name, body, numbers);
    // If it is not lowered, the request may come again with shorter messages.
    if (then === null) for (const one of sent) expect(one).toContain(more);
    else expect(sent).toEqual([body, body.replace(more, then)]);
  });

  it("is never raised and never less than 1, whatever was asked for and whatever the refusal says", async () => {
    const number = fc.oneof(fc.nat(3), fc.nat(5000), fc.nat(200_000));
    const names = {
      anthropic: ["max_tokens"],
      "openai-chat": ["max_tokens", "max_completion_tokens"],
      "openai-responses": ["max_output_tokens"],
      gemini: ["maxOutputTokens", "max_output_tokens"],
    };
    let lowered = 0;
    const check = async (name: Speaks, asks: number[], numbers: number[], budget: number) => {
      const { field, messages } = speeches[name](conversation(1, 10));
      const reserved = Object.fromEntries(names[name].map((one, at) => [one, asks[at]]));
      const config = { ...reserved, thinkingConfig: { thinkingBudget: budget } };
      const more = name === "gemini" ? { generationConfig: config } : reserved;
      const sent = await refusedOnce(name, JSON.stringify({ ...more, [field]: messages }), numbers);
      for (const text of sent) {
        const body = JSON.parse(text);
        for (const [key, before] of Object.entries(reserved)) {
          const after = (body.generationConfig ?? body)[key];
          if (after === before) continue;
          lowered++;
          expect(after).toBeLessThan(before as number);
          expect(after).toBeGreaterThan(name === "gemini" ? budget : 0);
        }
      }
    };
    const pair = fc.array(number, { minLength: 2, maxLength: 2 });
    const said = fc.array(number, { minLength: 3, maxLength: 3 });
    await fc.assert(fc.asyncProperty(fc.constantFrom(...NAMES), pair, said, fc.nat(4000), check), { numRuns: 300 });
    expect(lowered).toBeGreaterThan(10);
  });
});

describe("giving up", () => {
  it("the provider's own refusal comes back, and the client's retries are not sent", async () => {
    const provider = await start({ speaks: "openai-chat", tokensPerMinute: 900, now: () => 0 });
    const given = { ...conversation(1, 10), first: textOf(0, 20_000, 1) };
    const { path, body } = asked("openai-chat", given);
    const send = wrapped();
    const first = await send(`${provider.url}${path}`, { ...POST, body });
    expect(first.status).toBe(429);
    expect(first.headers.get("x-should-retry")).toBe("false");
    expect(await first.json()).toMatchObject({ error: { code: "rate_limit_exceeded" } });
    const sends = provider.requests.length;
    const second = await send(`${provider.url}${path}`, { ...POST, body });
    expect([second.status, second.headers.get("x-should-retry")]).toEqual([429, "false"]);
    expect(await second.clone().json()).toMatchObject({ error: { code: "rate_limit_exceeded" } });
    expect(provider.requests).toHaveLength(sends);
    expect([second.url, second.clone().clone().url]).toEqual([first.url, `${provider.url}${path}`]);
    // Who has left already gets no answer.
    const signal = AbortSignal.abort(new Error("left"));
    await expect(send(`${provider.url}${path}`, { ...POST, body, signal })).rejects.toThrow("left");
    expect(kinds()).toContain("overflow-failed");
    // The same body to another address, or as somebody else, is another request.
    const other = await start({ speaks: "openai-chat" });
    expect((await send(`${other.url}${path}`, { ...POST, body })).status).toBe(200);
    await send(`${provider.url}${path}`, { ...POST, headers: { ...POST.headers, authorization: "Bearer b" }, body });
    expect(provider.requests.length).toBeGreaterThan(sends);
  });

  it("a refusal inside a stream comes back whole", async () => {
    const provider = await start({ speaks: "openai-responses", window: 600 });
    const given = { ...conversation(1, 10), first: textOf(0, 20_000, 1) };
    const { path, body } = asked("openai-responses", given, { stream: true });
    const response = await wrapped()(`${provider.url}${path}`, { ...POST, body });
    const text = await response.text();
    expect(response.status).toBe(200);
    expect(text.match(/^event: .*/gm)).toEqual([
      "event: response.created",
      "event: response.in_progress",
      "event: error",
      "event: response.failed",
    ]);
  });
});

describe("streams", () => {
  const FRAMES = [
    'event: message_start\ndata: {"type":"message_start","message":{"usage":{"input_tokens":9}}}\n\n',
    'data: {"type":"content_block_start"}\n\n',
    'data: {"type":"message_delta","usage":{"output_tokens":5}}\n\n',
  ];
  const ask = () => asked("anthropic", conversation(1, 10), { stream: true });

  it("pass byte by byte, each piece when it comes", async () => {
    let go: (() => void) | undefined;
    const url = await serve(async (_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(FRAMES[0]);
      response.write(FRAMES[1]?.slice(0, 20));
      await new Promise((resolve) => setTimeout(resolve, 5));
      response.write(FRAMES[1]?.slice(20));
      await new Promise<void>((resolve) => (go = resolve));
      response.end(FRAMES[2]);
    });
    const { path, body } = ask();
    const response = await wrapped()(`${url}${path}`, { ...POST, body });
    const reader = response.body?.getReader();
    let text = "";
    const decoder = new TextDecoder();
    while (!text.endsWith(FRAMES[1] as string)) text += decoder.decode((await reader?.read())?.value, { stream: true });
    expect(go).toBeDefined();
    go?.();
    for (let next = await reader?.read(); next && !next.done; next = await reader?.read())
      text += decoder.decode(next.value);
    expect(text).toBe(FRAMES.join(""));
    expect(await answered()).toMatchObject({ inputTokens: 9, outputTokens: 5 });
  });

  it.each(["signal", "cancel", "cancel while it waits"])(
    "a client that leaves ends the provider's answer: %s",
    async (how) => {
      let isClosed: (() => void) | undefined;
      const closed = new Promise<void>((resolve) => (isClosed = resolve));
      const url = await serve((_request, response) => {
        response.on("close", () => isClosed?.());
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(FRAMES.slice(0, 2).join(""));
      });
      const { path, body } = ask();
      const stop = new AbortController();
      const response = await wrapped()(`${url}${path}`, { ...POST, body, signal: stop.signal });
      const reader = response.body?.getReader();
      await reader?.read();
      const waiting = how === "cancel while it waits" ? reader?.read() : undefined;
      await new Promise((resolve) => setImmediate(resolve));
      if (how !== "signal") await Promise.all([reader?.cancel(), waiting]);
      else {
        stop.abort();
        await expect(reader?.read()).rejects.toMatchObject({ name: "AbortError" });
      }
      await closed;
      // What it had cost until then is recorded.
      if (how !== "signal") expect(await answered()).toMatchObject({ inputTokens: 9 });
    },
  );

  it("an abort before the answer throws the signal's reason", async () => {
    const url = await serve(() => {});
    const { path, body } = ask();
    const stop = new AbortController();
    const sending = wrapped()(`${url}${path}`, { ...POST, body, signal: stop.signal });
    setTimeout(() => stop.abort(new Error("enough")), 20);
    await expect(sending).rejects.toThrow("enough");
    await expect(wrapped()(`${url}${path}`, { ...POST, body, signal: AbortSignal.abort() })).rejects.toMatchObject({
      name: "AbortError",
    });
  });

  it.each([
    ["before any output", "text/event-stream", FRAMES[0] as string],
    ["that is not streamed", "application/json", '{"content":['],
  ])("an answer that breaks off breaks off for the client too: one %s", async (_what, type, start) => {
    const url = await serve((request, response) => {
      request.resume().on("end", () => {
        response.writeHead(200, { "content-type": type });
        response.write(start, () => response.destroy());
      });
    });
    const { path, body } = ask();
    const response = await wrapped()(`${url}${path}`, { ...POST, body });
    expect(response.status).toBe(200);
    const reader = response.body?.getReader();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe(start);
    await expect(reader?.read()).rejects.toThrow("terminated");
  });

  it("a stream that breaks off breaks off for the client too, after what came", async () => {
    const provider = await start({ speaks: "anthropic", script: [{ text: "one two three four", dropAfterPieces: 3 }] });
    const { path, body } = ask();
    const response = await wrapped()(`${provider.url}${path}`, { ...POST, body });
    let text = "";
    const decoder = new TextDecoder();
    const read = async () => {
      for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) text += decoder.decode(chunk);
    };
    await expect(read()).rejects.toThrow("terminated");
    expect(text).toContain("content_block_delta");
    expect(provider.requests).toHaveLength(1);
  });
});

describe("who reads", () => {
  const shown = async (tools: unknown[] | undefined, options: SpillwayOptions = {}) => {
    spillway = await open(options);
    const { path, body } = asked("anthropic", conversation(2, 90_000), { tools });
    let sent = "";
    const inner: typeof fetch = async (_input, init) => {
      sent = new TextDecoder().decode(init?.body as Uint8Array<ArrayBuffer>);
      return Response.json({});
    };
    await wrapped({ fetch: inner })(`http://127.0.0.1${path}`, { ...POST, body });
    return sent;
  };
  const bash = { name: "Bash", input_schema: {} };

  it("a marker names only a way that this request's tools have", async () => {
    const tool = { by: "tool", recall: "recall", search: "search" } as const;
    expect(await shown(undefined)).toMatch(/which the operator can read/);
    expect(await shown([bash])).toMatch(/which the operator can read/);
    expect(await shown([bash], { reader: { by: "shell" } })).toMatch(/spillway recall [a-z2-7]{12}/);
    expect(await shown([], { reader: { by: "shell" } })).toMatch(/which the operator can read/);
    expect(await shown([bash], { reader: tool })).toMatch(/which the operator can read/);
    expect(await shown([{ name: "recall" }, { name: "search" }], { reader: tool })).toMatch(/ recall\(\{/);
  });

  it("our own tools are known under any name", async () => {
    const { READ_BACK_TOOLS } = await import("../../recall/index.ts");
    const tools = READ_BACK_TOOLS.map(({ name, description }) => ({ name: `mcp__x__${name}`, description }));
    expect(await shown(tools)).toMatch(/mcp__x__recall\(\{/);
  });
});

describe("history that the provider holds", () => {
  it("is not missed: new results are clamped, nothing else is tried", async () => {
    const provider = await start({ speaks: "openai-responses" });
    const body = JSON.stringify({
      model: "fake",
      previous_response_id: "resp_1",
      input: [
        { type: "function_call", call_id: "c1", name: "bash", arguments: "{}" },
        { type: "function_call_output", call_id: "c1", output: textOf(1, 300_000, 1) },
      ],
    });
    await (await wrapped()(`${provider.url}/v1/responses`, { ...POST, body })).text();
    const [{ body: sent, status } = { body: null, status: 0 }] = provider.requests;
    expect(status).toBe(200);
    expect(JSON.stringify(sent).length).toBeLessThan(60_000);
  });

  it.each([
    ["openai-responses", { previous_response_id: "resp_1" }],
    ["openai-responses", { conversation: "conv_1" }],
    ["anthropic", { thread: { type: "continue", id: "t" } }],
  ] as const)("of %s is not pruned, and no turn is left out: %o", async (name, more) => {
    const provider = await start({ speaks: name, window: 6000 });
    const { path, body } = asked(name, conversation(), more);
    const { field, messages } = speeches[name](conversation());
    const response = await wrapped()(`${provider.url}${path}`, { ...POST, body });
    expect(response.status).toBe(200);
    expect(provider.requests.length).toBeGreaterThan(1);
    for (const { body: sent } of provider.requests) {
      expect(sent?.[field]).toHaveLength(messages.length);
      expect(JSON.stringify(sent)).not.toMatch(/content cleared|Tool result trimmed/);
    }
  });
});

it("what is wrong with the options is said at once", () => {
  // @ts-expect-error a Spillway is needed
  expect(() => createFetch({})).toThrow(/needs a Spillway/);
  // @ts-expect-error fetch is a function
  expect(() => createFetch({ spillway, fetch: "x" })).toThrow(/must be a function; got string/);
});

it("a length that the client stated is that of the body that is sent", async () => {
  const provider = await start({ speaks: "openai-chat" });
  const { path, body } = asked("openai-chat", conversation(2, 90_000));
  const headers = { ...POST.headers, "content-length": String(Buffer.byteLength(body)) };
  expect((await wrapped()(`${provider.url}${path}`, { ...POST, headers, body })).status).toBe(200);
  expect(Number(provider.requests[0]?.headers["content-length"])).toBe(provider.requests[0]?.bytes);
});

it("a named session is told in events and kept apart", async () => {
  const provider = await start({ speaks: "openai-chat" });
  const { path, body } = asked("openai-chat", conversation(2, 90_000));
  const headers = { ...POST.headers, "x-spillway-session": "mine" };
  await (await wrapped()(`${provider.url}${path}`, { ...POST, headers, body })).text();
  expect(new Set(events.map(({ session }) => session))).toEqual(new Set(["mine"]));
  expect(provider.requests[0]?.headers["x-spillway-session"]).toBeUndefined();
});
