import type { CallOptions } from "../../call/call-options.ts";
import type { Spillway } from "../../spillway.ts";
import { isRecord, type JsonRecord } from "../../values.ts";

/** What may be said for the requests of one model. */
export type AgentsModelOptions = Pick<
  CallOptions,
  "session" | "window" | "model" | "pruning" | "answerTokens" | "media"
>;

/** A model of OpenAI Agents, as far as it is needed. */
interface AgentsModel {
  getResponse(request: never): Promise<unknown>;
  getStreamedResponse(request: never): AsyncIterable<unknown>;
}

interface Request {
  input: unknown;
  systemInstructions?: unknown;
  tools?: unknown;
  signal?: AbortSignal | undefined;
  previousResponseId?: unknown;
  conversationId?: unknown;
}

/**
 * A model of OpenAI Agents whose requests are pruned on their way, and recovered if the provider refuses them for their size.
 * Neither the session nor the run's own items are changed. Where the provider keeps the conversation (`previousResponseId`,
 * `conversationId`), requests pass as they are.
 */
export function wrapModel<Model extends AgentsModel>(
  spillway: Pick<Spillway, "call">,
  model: Model,
  options: AgentsModelOptions = {},
): Model {
  const callOptions = ({ systemInstructions, tools, signal }: Request): CallOptions => ({
    wire: "openai-responses",
    systemAndTools: [systemInstructions, tools],
    ...(signal !== undefined && { signal }),
    ...options,
  });
  const target = model as unknown as {
    getResponse(request: Request): Promise<unknown>;
    getStreamedResponse(request: Request): AsyncIterable<unknown>;
  };
  const isOurs = (request: Request): request is Request & { input: unknown[] } =>
    Array.isArray(request.input) && !request.previousResponseId && !request.conversationId;
  const own = {
    getResponse(request: Request): Promise<unknown> {
      if (!isOurs(request)) return target.getResponse(request);
      const items = new Items(request.input);
      const send = (messages: unknown[]) => target.getResponse({ ...request, input: items.back(messages) });
      return spillway.call(items.messages, send, callOptions(request));
    },
    async *getStreamedResponse(request: Request): AsyncGenerator<unknown> {
      if (!isOurs(request)) {
        yield* target.getStreamedResponse(request);
        return;
      }
      const items = new Items(request.input);
      const { first, rest } = await spillway.call(
        items.messages,
        (messages) => begun(target.getStreamedResponse({ ...request, input: items.back(messages) })),
        callOptions(request),
      );
      try {
        yield* first;
        yield* { [Symbol.asyncIterator]: () => rest };
      } finally {
        await rest.return?.();
      }
    },
  };
  return new Proxy(model, {
    get(instance, key) {
      if (key === "getResponse" || key === "getStreamedResponse") return own[key];
      const value: unknown = Reflect.get(instance, key, instance);
      return typeof value === "function" && key !== "constructor" ? value.bind(instance) : value;
    },
  });
}

/** Waits for the first event of an answer, since a refusal comes before it. */
async function begun(events: AsyncIterable<unknown>): Promise<{ first: unknown[]; rest: AsyncIterator<unknown> }> {
  const iterator = events[Symbol.asyncIterator]();
  const first: unknown[] = [];
  for (;;) {
    const step = await iterator.next();
    if (step.done) break;
    first.push(step.value);
    if (!isRecord(step.value) || step.value.type !== "response_started") break;
  }
  return { first, rest: iterator };
}

/** The items of a run in the words of the Responses API, and back. */
class Items {
  readonly messages: unknown[];
  readonly #items = new Map<unknown, unknown>();
  readonly #results = new Map<unknown, JsonRecord>();
  readonly #calls = new Map<unknown, JsonRecord>();

  constructor(items: readonly unknown[]) {
    this.messages = items.map((item) => {
      const message = this.#messageOf(item);
      this.#items.set(message, item);
      return message;
    });
  }

  #messageOf(item: unknown): unknown {
    if (!isRecord(item)) return item;
    const { type, callId, name, output } = item;
    if (type === "function_call_result") {
      this.#results.set(callId, item);
      return { type: "function_call_output", call_id: callId, output: isText(output) ? output.text : output };
    }
    if (type !== "function_call") return item;
    this.#calls.set(callId, item);
    return { type, call_id: callId, name, arguments: item.arguments };
  }

  /** The items that stand for these messages: those that came, and changed copies of them. */
  back(messages: readonly unknown[]): unknown[] {
    return messages.map((message) => {
      if (this.#items.has(message)) return this.#items.get(message);
      if (!isRecord(message)) return message;
      const call = message.type === "function_call" ? this.#calls.get(message.call_id) : undefined;
      if (call !== undefined) return { ...call, arguments: message.arguments };
      const result = message.type === "function_call_output" ? this.#results.get(message.call_id) : undefined;
      if (result === undefined) return message;
      const { output } = message;
      return {
        ...result,
        output: isText(result.output) && typeof output === "string" ? { ...result.output, text: output } : output,
      };
    });
  }
}

function isText(output: unknown): output is { type: "text"; text: string } {
  return isRecord(output) && output.type === "text" && typeof output.text === "string";
}
