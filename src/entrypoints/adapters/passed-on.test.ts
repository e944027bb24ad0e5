import { describe, expect, it } from "vitest";
import type { CallOptions } from "../../call/call-options.ts";
import { OverflowError } from "../../errors.ts";
import { resolvePolicy } from "../../stages/policy/resolve-policy.ts";
import { spillwayMiddleware as forAi } from "./ai.ts";
import { contextManagement, spillwayMiddleware as forAnthropic } from "./anthropic.ts";
import { spillwayMiddleware as forLangChain } from "./langchain.ts";
import { spillwayProcessor as forMastra } from "./mastra.ts";
import { wrapModel as forAgents } from "./openai-agents.ts";
import { spillwayHooks as hooksForPi, recoverStream } from "./pi.ts";

// What adapters pass on beside messages: what was said of a request, calls' ids, aborts, and streams as they come.

const { signal } = new AbortController();
const said = { session: "s", media: { keep: 1 } } as never;

/** Sends messages as they are, or others, and notes what it is told of them. */
function sending(instead?: unknown[]) {
  const told: CallOptions[] = [];
  const call = async (messages: unknown[], send: (messages: unknown[]) => unknown, options: CallOptions) => {
    told.push(options);
    return send(instead ?? messages);
  };
  return { told, spillway: { call, store: null, wrapTool: (run: unknown) => run, readBack: () => [] } as never };
}

/** Events, and how many of them were taken, and whether their reader has left them. */
function counted<Event>(events: Event[]) {
  const seen = { taken: 0, isLeft: false };
  async function* each() {
    try {
      for (const event of events) {
        seen.taken += 1;
        yield event;
      }
    } finally {
      seen.isLeft = true;
    }
  }
  return { seen, events: each() };
}

const types = (...names: string[]) => names.map((type) => ({ type }));

describe("the AI SDK's middleware", () => {
  const model = { modelId: "m", doGenerate: async () => ({}), doStream: async () => ({}) };
  const params = { prompt: ["a"], abortSignal: signal };
  const streamed = (...names: string[]) => {
    const { seen, events } = counted(types(...names));
    const pull = async (controller: ReadableStreamDefaultController) => {
      const { done, value } = await events.next();
      if (done) controller.close();
      else controller.enqueue(value);
    };
    const cancel = async () => void (await events.return(undefined));
    const stream = new ReadableStream({ pull, cancel }, { highWaterMark: 0 });
    return { seen, doStream: async () => ({ stream }) };
  };

  it("says the model, the abort and what the application said", async () => {
    const { told, spillway } = sending();
    const { doStream } = streamed("text-delta");
    await forAi(spillway, said).wrapGenerate({ params, model, doGenerate: model.doGenerate } as never);
    await forAi(spillway, said).wrapStream({ params, model, doStream } as never);
    expect(told).toHaveLength(2);
    for (const options of told) expect(options).toMatchObject({ wire: "ai-sdk", model: "m", signal, ...Object(said) });
  });

  it("takes of a stream no more than its first output, and leaves it when its reader does", async () => {
    const { seen, doStream } = streamed("stream-start", "text-start", "text-delta", "text-delta", "finish");
    const { stream } = await forAi(sending().spillway).wrapStream({ params, model, doStream } as never);
    expect(seen).toEqual({ taken: 2, isLeft: false });
    await (stream as ReadableStream).cancel();
    expect(seen).toEqual({ taken: 2, isLeft: true });
  });

  it("passes on a stream whose first part is an error that is not about size", async () => {
    const { doStream } = streamed("stream-start", "error", "finish");
    const { stream } = await forAi(sending().spillway).wrapStream({ params, model, doStream } as never);
    const parts = [];
    for await (const part of stream as unknown as AsyncIterable<unknown>) parts.push(part);
    expect(parts).toEqual(types("stream-start", "error", "finish"));
  });
});

describe("the middleware of Anthropic's client", () => {
  const request = (body: object, path = "/v1/messages") => ({
    url: `http://127.0.0.1${path}`,
    method: "POST",
    headers: new Headers({ "content-length": "99", "x-mine": "1" }),
    body: JSON.stringify(body),
  });
  const next = async (_noted?: unknown) => new Response("{}");

  it("prunes nothing where the provider clears or compacts, and passes on what the application said", async () => {
    const { told, spillway } = sending();
    for (const more of [{}, { context_management: {} }, { compaction: {} }])
      await forAnthropic(spillway, said)(request({ messages: [], ...more }), next);
    expect(told.map(({ pruning }) => pruning)).toEqual([undefined, { mode: "off" }, { mode: "off" }]);
    for (const options of told) expect(options).toMatchObject(said);
  });

  it("does not touch requests for anything but an answer", async () => {
    const { told, spillway } = sending(["b"]);
    for (const path of ["/v1/messages/count_tokens", "/v1/messages/batches", "/v1/models"]) {
      const given = request({ messages: ["a"] }, path);
      const got: unknown[] = [];
      await forAnthropic(spillway)(given, async (sent) => next(void got.push(sent)));
      expect(got[0]).toBe(given);
    }
    expect(told).toEqual([]);
  });

  it("sends a changed body without the length of the one before, and changes nothing that it was given", async () => {
    const given = request({ messages: ["a"] });
    const got: (typeof given)[] = [];
    await forAnthropic(sending(["b"]).spillway)(given, async (sent) => next(void got.push(sent)));
    expect(got[0]?.body).toBe('{"messages":["b"]}');
    expect(Object.fromEntries(got[0]?.headers ?? [])).toEqual({ "x-mine": "1" });
    expect(given).toEqual(request({ messages: ["a"] }));
  });
});

describe("a second send that fails", () => {
  const lost = new TypeError("fetch failed");
  /** Is refused once, and then asks for more, or gives up. */
  const refusedOnce = (then: (send: () => unknown, refusal: unknown) => unknown) => {
    const call = async (messages: unknown[], send: (messages: unknown[]) => Promise<unknown>) => {
      const refusal = await send(messages).catch((error) => error);
      return then(() => send(messages), refusal);
    };
    return { call } as never;
  };
  const again = refusedOnce((send) => send());
  const givesUp = refusedOnce((_, cause) => {
    throw new OverflowError("too long", {} as never, { cause });
  });
  const body = { url: "http://127.0.0.1/v1/messages", method: "POST", headers: new Headers(), body: '{"messages":[]}' };
  const answers = () => {
    const left = [new Response('{"error":"prompt is too long"}', { status: 400 }), lost];
    return async () => {
      const next = left.shift();
      if (next instanceof Response) return next;
      throw next;
    };
  };

  it("is an error of its own to Anthropic's client; one that is not made shows the refusal", async () => {
    await expect(forAnthropic(again)(body, answers())).rejects.toBe(lost);
    expect((await forAnthropic(givesUp)(body, answers())).status).toBe(400);
  });

  it("is an error of its own to pi; one that is not made shows the refusal", async () => {
    const refusal = { type: "error", error: { errorMessage: "prompt is too long" } };
    const streams = () => {
      const left = [counted([refusal]).events];
      return () => {
        const next = left.shift();
        if (next === undefined) throw lost;
        return next;
      };
    };
    const ask = (spillway: never) =>
      (recoverStream(spillway, streams()) as (...args: unknown[]) => unknown)({}, { messages: [] });
    await expect(ask(again)).rejects.toBe(lost);
    const parts = [];
    for await (const part of (await ask(givesUp)) as AsyncIterable<unknown>) parts.push(part);
    expect(parts).toEqual([refusal]);
  });
});

it("Anthropic's own context editing is told no patterns of tools: it knows none, and would refuse the request", () => {
  const policy = resolvePolicy({ pruning: { tools: { deny: ["browser", "mcp__*"] } } });
  const [edit] = contextManagement({ policy }, { window: 200_000 }).edits;
  expect(edit?.exclude_tools).toEqual(["browser"]);
});

it("Mastra's processor has one request sent again six times at most", async () => {
  const prepare = async (messages: unknown[]) => ({ messages });
  const processor = forMastra({ call: async () => undefined, prepare } as never);
  const [state, error] = [{}, new Error("too long")];
  await processor.processLLMRequest({ prompt: ["a"], state });
  const retries: unknown[] = [];
  for (let at = 0; at < 8; at++) retries.push((await processor.processAPIError({ error, state }))?.retry);
  expect(retries.filter(Boolean)).toHaveLength(6);
});

describe("LangChain's middleware", () => {
  const state = { messages: [{ role: "user", content: "why?" }] };
  /** Notes how tools are wrapped, and what each call is given. */
  function wrapping() {
    const names: unknown[] = [];
    const given: unknown[][] = [];
    const wrapTool = (run: (...args: unknown[]) => unknown, { name }: { name: string }) => {
      names.push(name);
      return (...args: unknown[]) => run(...args, void given.push(args));
    };
    return { names, given, spillway: { wrapTool, store: {}, readBack: () => [{ name: "recall" }] } as never };
  }

  it("hands over a call's id, arguments and conversation, and leaves what was read back alone", async () => {
    const { names, given, spillway } = wrapping();
    const { wrapToolCall } = forLangChain(spillway);
    for (const name of ["look", "recall"])
      expect(await wrapToolCall({ toolCall: { name, args: { q: 1 }, id: "c1" }, state }, async () => "seen")).toBe(
        "seen",
      );
    expect(names).toEqual(["look"]);
    expect(given).toEqual([[{ q: 1 }, { toolCallId: "c1", state }]]);
  });

  it("says the abort and what the application said, and does not change the request", async () => {
    const { told, spillway } = sending(["b"]);
    const request = { messages: ["a"], runtime: { signal } };
    const got = await forLangChain(spillway, said).wrapModelCall(request, async ({ messages }) => messages);
    expect(got).toEqual(["b"]);
    expect(request).toEqual({ messages: ["a"], runtime: { signal } });
    expect(told[0]).toMatchObject({ wire: "langchain", signal, ...Object(said) });
  });
});

it("Mastra's processor says the model, leaves out Mastra's own copies, and starts anew with another prompt", async () => {
  const { told, spillway } = sending();
  const prepared: unknown[] = [];
  const prepare = async (messages: unknown[], options: CallOptions) => {
    prepared.push({ messages, options });
    return { messages };
  };
  const processor = forMastra(Object.assign(spillway, { prepare }) as never, said);
  const part = (mastra: object) => ({ type: "tool-result", providerOptions: { mastra, other: {} } });
  const given = { role: "tool", content: [part({ modelOutput: "long", kept: 1 })] };
  const message = { role: "tool", content: [part({ kept: 1 })] };
  const options = { wire: "ai-sdk", model: "m", ...Object(said) };
  const ask = (...prompt: unknown[]) => processor.processLLMRequest({ prompt, model: { modelId: "m" }, state });
  const state = {};
  expect(await ask(given)).toEqual({ prompt: [message] });
  expect(given.content).toEqual([part({ modelOutput: "long", kept: 1 })]);
  expect(prepared).toEqual([{ messages: [message], options }]);
  // An error that is not about size is thrown by what sends.
  expect(await processor.processAPIError({ error: new Error("other"), state })).toBeUndefined();
  expect(told).toEqual([options]);
  const passing = { call: async () => undefined, prepare };
  const again = forMastra(passing as never, said);
  await again.processLLMRequest({ prompt: [given], state });
  expect(await again.processAPIError({ error: new Error("too long"), state })).toEqual({ retry: true });
  await again.processLLMRequest({ prompt: [given], state });
  expect(prepared).toHaveLength(2);
  await again.processLLMRequest({ prompt: [given, given, given], state });
  expect(prepared).toHaveLength(3);
});

describe("a model of OpenAI Agents", () => {
  class Model {
    readonly #name = "m";
    readonly asked: unknown[] = [];
    readonly source = counted(types("response_started", "output_text_delta", "output_text_delta", "response_done"));
    title() {
      return this.#name;
    }
    async getResponse(request: object): Promise<unknown> {
      return this.asked.push(request);
    }
    getStreamedResponse(request: object): AsyncIterable<unknown> {
      this.asked.push(request);
      return this.source.events;
    }
  }

  it("is asked as it was where the provider keeps the conversation", async () => {
    const { told, spillway } = sending(["b"]);
    const base = new Model();
    const model = forAgents(spillway, base);
    const requests = [{ previousResponseId: "r" }, { conversationId: "c" }].map((held) => ({ input: ["a"], ...held }));
    for (const request of requests) {
      await model.getResponse(request);
      for await (const _ of model.getStreamedResponse(request));
    }
    expect(told).toEqual([]);
    for (const [at, request] of base.asked.entries()) expect(request).toBe(requests[at >> 1]);
    expect(model.title()).toBe("m");
  });

  it("is told the abort and what the application said; of a stream no more is taken than is asked for", async () => {
    const { told, spillway } = sending();
    const base = new Model();
    const model = forAgents(spillway, base, said);
    await model.getResponse({ input: [], signal });
    const events = model.getStreamedResponse({ input: [], signal })[Symbol.asyncIterator]();
    await events.next();
    expect(base.source.seen).toEqual({ taken: 2, isLeft: false });
    await events.return?.();
    expect(base.source.seen).toEqual({ taken: 2, isLeft: true });
    for (const options of told) expect(options).toMatchObject({ wire: "openai-responses", signal, ...Object(said) });
  });
});

describe("pi's hooks", () => {
  it("hand over a result with its call, arguments, session and last words; a wrapped tool's is left alone", async () => {
    const requests: unknown[] = [];
    const own = { name: "own" };
    const spillway = {
      wrapTool: (tool: object) => (tool === own ? tool : { ...tool }),
      admit: async (request: { output: object }) => ({ output: request.output, _: requests.push(request) }),
    };
    const { afterToolCall } = hooksForPi(spillway as never, { session: "s" });
    const result = { content: [{ type: "text", text: "seen" }] };
    const context = { messages: [{ role: "user", content: "why?" }], tools: [own, { name: "look" }] };
    for (const name of ["own", "look"])
      await afterToolCall({ toolCall: { id: "c1", name }, args: { q: 1 }, result, context });
    const about = { tool: "look", call: "c1", args: { q: 1 }, intent: { user: "why?" }, session: "s" };
    expect(requests).toEqual([{ ...about, output: result }]);
  });

  it("pass on how a stream is asked for, and take of it no more than its first output", async () => {
    const { seen, events } = counted(types("start", "text_delta", "text_delta", "done"));
    const given: unknown[] = [];
    const streamFn = (...args: unknown[]) => (given.push(...args), events);
    const { told, spillway } = sending();
    const stream = recoverStream(spillway, streamFn as () => unknown, said) as (
      ...args: unknown[]
    ) => Promise<AsyncIterable<unknown>>;
    const how = { signal, temperature: 1 };
    const came = await stream({ id: "m" }, { messages: ["a"] }, how);
    expect(given).toEqual([{ id: "m" }, { messages: ["a"] }, how]);
    expect(seen.taken).toBe(2);
    const parts = [];
    for await (const part of came) parts.push(part);
    expect(parts).toEqual(types("start", "text_delta", "text_delta", "done"));
    expect(told[0]).toMatchObject(said);
  });
});
