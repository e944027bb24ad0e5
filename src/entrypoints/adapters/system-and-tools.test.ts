import { expect, it } from "vitest";
import type { CallOptions } from "../../call/call-options.ts";
import { spillwayMiddleware as forAi } from "./ai.ts";
import { spillwayMiddleware as forAnthropic } from "./anthropic.ts";
import { spillwayMiddleware as forLangChain } from "./langchain.ts";
import { spillwayProcessor } from "./mastra.ts";
import { wrapModel as forAgents } from "./openai-agents.ts";
import { recoverStream } from "./pi.ts";

// What is sent beside the messages takes room in the window, and each adapter knows it.

const tool = { name: "look", description: "Looks.", input_schema: { type: "object", properties: { path: {} } } };

/** Notes what it is told of a request, and answers it. */
function listening() {
  const told: unknown[] = [];
  const call = async (_messages: readonly unknown[], _send: unknown, { systemAndTools }: CallOptions = {}) => {
    told.push(systemAndTools);
    return { first: [], rest: [][Symbol.iterator]() } as never;
  };
  return { told, spillway: { call, store: null, wrapTool: (run: unknown) => run, readBack: () => [] } as never };
}

it("Anthropic's client, the AI SDK and OpenAI Agents say their system prompt and tools", async () => {
  const { told, spillway } = listening();
  const body = JSON.stringify({ model: "m", system: "Be brief.", tools: [tool], messages: [] });
  const request = { url: "http://127.0.0.1/v1/messages", method: "POST", headers: {}, body };
  await forAnthropic(spillway)(request as never, (async () => new Response("{}")) as never);
  // Its system prompt is one of the messages.
  const params = { prompt: [], tools: [tool] };
  const given = { params, model: { modelId: "m" }, doGenerate: async () => ({}), doStream: async () => ({}) };
  await forAi(spillway).wrapGenerate(given as never);
  const model = forAgents(spillway, { getResponse: async () => ({}), getStreamedResponse: () => [] } as never);
  const asked = { input: [], systemInstructions: "Be brief.", tools: [tool] };
  await (model as { getResponse(request: unknown): Promise<unknown> }).getResponse(asked);
  for await (const _ of (
    model as { getStreamedResponse(request: unknown): AsyncIterable<unknown> }
  ).getStreamedResponse(asked));
  expect(told).toEqual([["Be brief.", [tool]], [tool], ["Be brief.", [tool]], ["Be brief.", [tool]]]);
});

it("Mastra says what a provider gets of the tools that are on offer, before a request and after a refusal", async () => {
  const told: unknown[] = [];
  const take = async (messages: unknown[], { systemAndTools }: CallOptions) => {
    told.push(systemAndTools);
    return { messages };
  };
  const spillway = {
    prepare: take,
    call: (messages: unknown[], _send: unknown, options: CallOptions) => take(messages, options),
  };
  const processor = spillwayProcessor(spillway as never);
  const jsonSchema = { type: "object", properties: { path: {} } };
  const look = { description: "Looks.", parameters: { jsonSchema, validate: () => true }, execute: () => "" };
  const state = {};
  await processor.processInputStep({ tools: { look, other: look }, activeTools: ["look"], state });
  await processor.processLLMRequest({ prompt: [], state });
  await processor.processAPIError({ error: new Error("too long"), state });
  // A run that offers none.
  await processor.processLLMRequest({ prompt: [], state: {} });
  const sent = [{ name: "look", description: "Looks.", inputSchema: jsonSchema }];
  expect(told).toEqual([sent, sent, undefined]);
});

it("Anthropic's client says its model and the tokens for the answer, as far as they are what they should be", async () => {
  const told: CallOptions[] = [];
  const call = async (_messages: readonly unknown[], _send: unknown, options: CallOptions) => void told.push(options);
  const spillway = { call } as never;
  for (const about of [{ model: "m", max_tokens: 500 }, { model: 7, max_tokens: "500" }, {}]) {
    const body = JSON.stringify({ ...about, messages: [] });
    const request = { url: "http://127.0.0.1/v1/messages", method: "POST", headers: {}, body };
    await forAnthropic(spillway)(request as never, (async () => new Response("{}")) as never);
  }
  expect(told.map(({ model, answerTokens }) => ({ model, answerTokens }))).toEqual([
    { model: "m", answerTokens: 500 },
    { model: undefined, answerTokens: undefined },
    { model: undefined, answerTokens: undefined },
  ]);
});

it("Anthropic's client gets the refusal with which it ended, where there were others", async () => {
  const call = async (_messages: readonly unknown[], send: (messages: unknown[]) => Promise<unknown>) => {
    const errors = [];
    for (const messages of [["a"], ["b"], ["c"]]) errors.push(await send(messages).catch((error: unknown) => error));
    throw errors[1];
  };
  const request = { url: "http://127.0.0.1/v1/messages", method: "POST", headers: {}, body: '{"messages":[]}' };
  const refuse = (async ({ body }: { body: string }) => new Response(body, { status: 400 })) as never;
  const answer = await forAnthropic({ call } as never)(request as never, refuse);
  expect(await answer.text()).toBe('{"messages":["b"]}');
});

it("LangChain offers nothing to read back with where nothing is saved, or where nobody wants it", () => {
  const spillway = (store: object | null) =>
    ({ store, readBack: () => [{ name: "recall" }], wrapTool: (run: unknown) => run }) as never;
  expect(forLangChain(spillway({})).tools).toHaveLength(1);
  expect(forLangChain(spillway(null)).tools).toEqual([]);
  expect(forLangChain(spillway({}), { readBack: false }).tools).toEqual([]);
});

it("LangChain says what a provider gets of its tools, and nothing else that they hold", async () => {
  const { told, spillway } = listening();
  class Tool {
    readonly name = "look";
    readonly description = "Looks.";
    readonly run = { of: this };
    readonly schema: unknown;
    constructor(schema: unknown) {
      this.schema = schema;
    }
  }
  const json = { type: "object", properties: { path: { type: "string" } } };
  class NotJson {
    readonly self = this;
  }
  const tools = [new Tool(json), new Tool(new NotJson()), { type: "web_search", max_uses: 3 }];
  const request = { messages: [], systemMessage: { content: "Be brief." }, tools };
  await forLangChain(spillway).wrapModelCall(request, async () => ({}));
  const { name, description } = new Tool(json);
  expect(told).toEqual([
    ["Be brief.", { name, description, schema: json }, { name, description }, { type: "web_search", max_uses: 3 }],
  ]);
});

it("pi says its system prompt and what a provider gets of its tools", async () => {
  const { told, spillway } = listening();
  const { input_schema: parameters, ...about } = tool;
  const tools = [{ ...about, parameters, label: "Look", execute: () => {} }];
  const stream = recoverStream(spillway, (() => {}) as () => unknown) as (...given: unknown[]) => unknown;
  await stream({ id: "m" }, { systemPrompt: "Be brief.", messages: [], tools });
  await stream({ id: "m" }, { messages: [] });
  expect(told).toEqual([["Be brief.", { ...about, parameters }], [undefined]]);
});
