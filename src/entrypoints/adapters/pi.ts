import type { CallOptions } from "../../call/call-options.ts";
import { OverflowError } from "../../errors.ts";
import type { Spillway } from "../../spillway.ts";
import { isRecord } from "../../values.ts";

/** What may be said for an agent. */
export type PiOptions = Pick<CallOptions, "session" | "window" | "model" | "pruning">;

interface ToolCallContext {
  toolCall: { id: string; name: string };
  args: unknown;
  result: { content: unknown };
  context: { messages: readonly unknown[]; tools?: readonly { name: string }[] | undefined };
}

/** Hooks for pi's `Agent`, as pi types them. */
export interface PiHooks {
  afterToolCall<Context extends ToolCallContext>(
    context: Context,
  ): Promise<{ content: Context["result"]["content"] } | undefined>;
  transformContext<Message>(messages: Message[]): Promise<Message[]>;
}

/**
 * Hooks for an agent of pi: `new Agent({ ...spillwayHooks(spillway), ... })`. Results of its tools are clamped, and each request
 * is pruned on its way. The agent's own messages stay whole. What goes into a session is bounded by `spillway.guardSession`.
 */
export function spillwayHooks(
  spillway: Pick<Spillway, "admit" | "prepare" | "wrapTool">,
  options: PiOptions = {},
): PiHooks {
  const { session } = options;
  return {
    async afterToolCall({ toolCall, args, result, context }) {
      const tool = context.tools?.find(({ name }) => name === toolCall.name);
      // One that is wrapped, or reads back, is bounded already.
      if (tool !== undefined && spillway.wrapTool(tool) === tool) return undefined;
      const { lastWords } = await import("../../admit/intent.ts");
      const output = { content: result.content };
      const intent = lastWords(context.messages) ?? undefined;
      const request = { tool: toolCall.name, call: toolCall.id, args, intent, session, output };
      const admitted = await spillway.admit(request);
      return admitted.output === output ? undefined : { content: admitted.output.content };
    },
    transformContext: async (messages) => (await spillway.prepare(messages, { wire: "pi", ...options })).messages,
  };
}

/** A function of pi that streams a model's answer. */
type StreamFunction = (model: never, context: never, options?: never) => unknown;

/**
 * `streamFn` of an agent, with requests that the provider refuses for their size made smaller and sent again. What the agent
 * keeps is not changed.
 */
export function recoverStream<Fn extends StreamFunction>(
  spillway: Pick<Spillway, "call">,
  streamFn: Fn,
  options: PiOptions = {},
): Fn {
  const stream = streamFn as unknown as (model: unknown, context: Context, options?: unknown) => unknown;
  const recovering = async (model: unknown, context: Context, given?: unknown): Promise<unknown> => {
    const refused: { error: Error; peeked: object }[] = [];
    try {
      return await spillway.call(
        context.messages,
        async (messages) => {
          const { peeked, fault } = await peek((await stream(model, { ...context, messages }, given)) as Events);
          if (fault === null) return peeked;
          const error = new Error(fault);
          refused.push({ error, peeked });
          throw error;
        },
        // No signal: pi's own function ends with an event if it is aborted.
        { wire: "pi", systemAndTools: besides(context), ...options },
      );
    } catch (error) {
      // pi's failures are events; ours are the last of them.
      const reason = error instanceof OverflowError ? error.cause : error;
      const last = refused.find((each) => each.error === reason);
      if (last === undefined) throw error;
      return last.peeked;
    }
  };
  return recovering as unknown as Fn;
}

interface Context {
  messages: readonly unknown[];
  systemPrompt?: unknown;
  tools?: readonly { name?: unknown; description?: unknown; parameters?: unknown }[] | undefined;
}

/** What is sent beside the messages. A tool of an agent holds more than a provider gets. */
function besides({ systemPrompt, tools = [] }: Context): unknown {
  return [systemPrompt, ...tools.map(({ name, description, parameters }) => ({ name, description, parameters }))];
}

type Events = AsyncIterable<unknown> & object;

/** Reads a stream up to its first output. The stream that it gives has all events, and is else the same. */
async function peek(events: Events): Promise<{ peeked: object; fault: string | null }> {
  const iterator = events[Symbol.asyncIterator]();
  const first: unknown[] = [];
  let fault: string | null = null;
  for (;;) {
    const step = await iterator.next();
    if (step.done) break;
    first.push(step.value);
    const { type, error } = Object(step.value) as { type?: unknown; error?: unknown };
    if (type === "start") continue;
    if (type === "error" && isRecord(error) && typeof error.errorMessage === "string") fault = error.errorMessage;
    break;
  }
  async function* replay() {
    yield* first;
    yield* { [Symbol.asyncIterator]: () => iterator };
  }
  const peeked = new Proxy(events, {
    get(target, key) {
      if (key === Symbol.asyncIterator) return replay;
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === "function" && key !== "constructor" ? value.bind(target) : value;
    },
  });
  return { peeked, fault };
}
