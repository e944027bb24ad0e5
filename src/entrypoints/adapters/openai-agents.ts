import type { CallOptions } from "../../call/call-options.ts";
import type { Spillway } from "../../spillway.ts";
import { isRecord } from "../../values.ts";

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
      const send = (input: unknown[]) => target.getResponse({ ...request, input });
      return spillway.call(request.input, send, callOptions(request));
    },
    async *getStreamedResponse(request: Request): AsyncGenerator<unknown> {
      if (!isOurs(request)) {
        yield* target.getStreamedResponse(request);
        return;
      }
      const { first, rest } = await spillway.call(
        request.input,
        (input) => begun(target.getStreamedResponse({ ...request, input })),
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
