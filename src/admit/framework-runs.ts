import type { Limits } from "../contract/limits.ts";
import { isRecord, setNewest, tried } from "../values.ts";
import { statedMeta } from "../wire/mcp.ts";
import { type CallFacts, type Run } from "./tool-shapes.ts";

/** Clamps what comes of a tool. */
export interface ToolClamp<Call extends CallFacts = CallFacts> {
  /** What is known of a call. */
  callOf(name: string, args: readonly unknown[]): Call;
  /** A result, as the model may see it. */
  admit(output: unknown, call: Call): Promise<unknown>;
  /** The same of what was thrown. */
  thrown(error: unknown, call: Call): Promise<unknown>;
}

// LangChain. A message stays an instance of its class, and what only the application gets is not cut.

/** What runs a tool of LangChain, clamped. */
export function clampedRunnable(name: string, run: Run, tool: object, clamp: ToolClamp): Run {
  const { responseFormat } = tool as { responseFormat?: unknown };
  return async (...args) => {
    const call = clamp.callOf(name, args);
    const admit = (output: unknown) => clamp.admit(output, call);
    const shown = (result: unknown): Promise<unknown> =>
      responseFormat === "content_and_artifact" && Array.isArray(result) && result.length === 2
        ? admit(result[0]).then((content) => [content, result[1]])
        : admit(result);
    const failed = async (error: unknown) => {
      // An interrupt or another signal to the graph is no output.
      const isSignal = tried(() => isRecord(error) && error.is_bubble_up === true);
      return isSignal ? error : clamp.thrown(error, call);
    };
    try {
      const result = await run.apply(tool, args);
      return isGenerator(result) ? clampedReturn(result, shown, failed) : await shown(result);
    } catch (error) {
      throw await failed(error);
    }
  };
}

type Admit = (output: unknown) => Promise<unknown>;

/** Admits a message of LangChain, or the messages of a command, by what they say; any other value as it is. */
export async function admitMessages(result: unknown, admit: Admit): Promise<unknown> {
  try {
    if (isToolMessage(result)) return await clampedMessage(result, admit);
    if (isRecord(result) && result.lg_name === "Command") return await clampedCommand(result, admit);
  } catch {
    // A strict proxy throws for a field that it does not have: it is neither.
  }
  return admit(result);
}

async function clampedCommand(command: Record<string, unknown>, admit: Admit): Promise<unknown> {
  const update = await clampedUpdate(command.update, admit);
  return update === command.update ? command : copyWith(command, { update });
}

async function clampedUpdate(update: unknown, admit: Admit): Promise<unknown> {
  if (Array.isArray(update)) {
    const pairs = await Promise.all(
      update.map(async (pair: unknown) =>
        Array.isArray(pair) && pair[0] === "messages" ? [pair[0], await clampedMessages(pair[1], admit)] : pair,
      ),
    );
    return pairs;
  }
  return isRecord(update) && "messages" in update
    ? { ...update, messages: await clampedMessages(update.messages, admit) }
    : update;
}

async function clampedMessages(messages: unknown, admit: Admit): Promise<unknown> {
  if (isToolMessage(messages)) return clampedMessage(messages, admit);
  if (!Array.isArray(messages)) return messages;
  return Promise.all(
    messages.map((message: unknown) => (isToolMessage(message) ? clampedMessage(message, admit) : message)),
  );
}

function isToolMessage(value: unknown): value is Record<string, unknown> {
  return isRecord(value) && "tool_call_id" in value && "content" in value;
}

async function clampedMessage(message: Record<string, unknown>, admit: Admit): Promise<unknown> {
  const given = { content: message.content };
  const shown = await admit(given);
  if (shown === given || !isRecord(shown)) return message;
  const { content } = shown;
  // What it is serialised from has the content once more.
  const kwargs = tried(() => message.lc_kwargs);
  return copyWith(message, { content, ...(isRecord(kwargs) && { lc_kwargs: { ...kwargs, content } }) });
}

/** An instance of the same class with other fields; the one that came is not changed. */
function copyWith(instance: object, fields: Record<string, unknown>): object {
  const descriptors: PropertyDescriptorMap = Object.getOwnPropertyDescriptors(instance);
  for (const [key, value] of Object.entries(fields)) {
    const { enumerable = true } = descriptors[key] ?? {};
    descriptors[key] = { value, enumerable, writable: true, configurable: true };
  }
  return Object.create(Object.getPrototypeOf(instance), descriptors);
}

function isGenerator(value: unknown): value is AsyncGenerator<unknown, unknown, unknown> {
  return isAsyncIterable(value) && tried(() => typeof (value as { next?: unknown }).next === "function") === true;
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return tried(() => isRecord(value) && Symbol.asyncIterator in value) === true;
}

/** Yields what a generator yields, which the application watches, and returns its result clamped. */
async function* clampedReturn(
  source: AsyncGenerator<unknown, unknown, unknown>,
  shown: Admit,
  failed: Admit,
): AsyncGenerator<unknown, unknown, unknown> {
  try {
    const result = yield* source;
    return await shown(result);
  } catch (error) {
    throw await failed(error);
  }
}

// AI SDK and Mastra. The application gets the value itself, and `toModelOutput` says what the model gets.

/** Calls whose value is not yet asked for. */
const MAX_WAITING = 100;

/** `execute` and `toModelOutput` of a tool whose application gets the value itself. */
export function modelViewed(
  tool: object,
  execute: Run,
  clampedExecute: Run,
  { callOf, admit, thrown }: ToolClamp,
): { execute: Run; toModelOutput: Run } {
  const waiting = new Map<unknown, CallFacts>();
  const remember = (output: unknown, call: CallFacts) => {
    setNewest(waiting, output, call, MAX_WAITING);
    return output;
  };
  return {
    execute(...args) {
      if (!asksForModelView(args[1])) return clampedExecute(...args);
      const call = callOf("execute", args);
      const failed = async (error: unknown): Promise<never> => {
        throw await thrown(error, call);
      };
      try {
        const result = execute.apply(tool, args);
        if (isAsyncIterable(result)) return watched(result, (last) => remember(last, call), failed);
        return Promise.resolve(result).then((output) => remember(output, call), failed);
      } catch (error) {
        return failed(error);
      }
    },
    async toModelOutput(given) {
      const isNamed = isRecord(given) && typeof given.toolCallId === "string" && "output" in given && "input" in given;
      const output = isNamed ? given.output : given;
      const made = waiting.get(output);
      const call = isNamed ? { ...made, call: String(given.toolCallId), args: given.input } : (made ?? {});
      waiting.delete(output);
      const { toModelOutput: own } = tool as { toModelOutput?: unknown };
      const view: unknown = typeof own === "function" ? await own.call(tool, given) : plainView(output);
      return admitView(view, (value) => admit(value, call));
    },
  };
}

/** An agent of the AI SDK or Mastra called: it will ask `toModelOutput` what its model gets. */
function asksForModelView(given: unknown): boolean {
  const { toolCallId, messages, agent } = Object(given) as Record<string, unknown>;
  const isCall = (id: unknown, list: unknown) => typeof id === "string" && Array.isArray(list);
  return isCall(toolCallId, messages) || (isRecord(agent) && isCall(agent.toolCallId, agent.messages));
}

/** Yields what a tool yields, as it is; the last is its result. */
async function* watched(
  source: AsyncIterable<unknown>,
  ended: (last: unknown) => void,
  failed: (error: unknown) => Promise<never>,
): AsyncGenerator<unknown> {
  let last: unknown;
  try {
    for await (const value of source) {
      last = value;
      yield value;
    }
  } catch (error) {
    await failed(error);
  }
  ended(last);
}

/** What the AI SDK makes of a value by itself. */
function plainView(output: unknown): unknown {
  if (typeof output === "string") return { type: "text", value: output };
  const copy = tried((): [unknown] => [JSON.parse(JSON.stringify(output) ?? "null")]);
  return { type: "json", value: copy === null ? output : copy[0] };
}

/** A model's view of a result with its texts clamped, in the AI SDK's form; any other value is clamped as it is. */
async function admitView(view: unknown, admit: Admit): Promise<unknown> {
  const fields = tried(() => (isRecord(view) ? { type: view.type, value: view.value, ...view } : null));
  if (typeof fields?.type !== "string") return admit(view);
  const { type, value } = fields;
  if (type === "content" && Array.isArray(value)) {
    const shown = await admit({ content: value });
    return isRecord(shown) ? { ...fields, value: shown.content } : view;
  }
  if (!/^(error-)?(text|json)$/.test(type)) return view;
  const shown = await admit(value);
  const isText = typeof shown === "string" && typeof value !== "string";
  return { ...fields, value: shown, ...(isText && { type: type.replace("json", "text") }) };
}

// MCP. Tools are wrapped as they are registered.

/** Wraps a function as a tool of this name. */
export type WrapInner = (run: Run, name: string, more: { boundDetails: boolean }) => Run;

/** Stands before a server: what is registered at it is clamped. All else is the server's own. */
export function wrapServer<T extends object>(server: T, wrap: WrapInner, limitsOf: (name: string) => Limits): T {
  return new Proxy(server, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== "function" || key === "constructor") return value;
      if (key !== "registerTool" && key !== "tool") return value.bind(target);
      return (...args: unknown[]) => {
        const name = String(args[0]);
        const given = args.map((arg) => {
          if (typeof arg === "function") return wrap(arg as Run, name, { boundDetails: true });
          if (key !== "registerTool" || !isRecord(arg)) return arg;
          // What is shortened is not what the schema promises.
          const { outputSchema: _, ...rest } = arg;
          return { ...rest, ...statedMeta(rest._meta, limitsOf(name)) };
        });
        return value.apply(target, given);
      };
    },
  });
}
