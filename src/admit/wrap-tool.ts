import type { Limits } from "../contract/limits.ts";
import type { ToolOverride } from "../contract/policy.ts";
import type { StrategyName } from "../contract/strategy.ts";
import { SpillwayError } from "../errors.ts";
import type { CustomMarker } from "../stages/mark/forms.ts";
import { isStream } from "../stages/measure/read-chunks.ts";
import { NUMBERS } from "../stages/policy/defaults.ts";
import { clampError } from "./clamp-error.ts";

/**
 * Anything with an `execute`: `execute(id, args, signal, onUpdate)` as agents have it, or any other arguments; or a
 * function that does the same.
 */
export type Tool = ToolObject | ((...args: never[]) => unknown);

/** A tool as an object. */
export interface ToolObject {
  name?: unknown;
  // Methods are compared loosely, so that every framework's own type of tool fits.
  execute?(...args: never[]): unknown;
}

/**
 * A tool as it is once wrapped. What returned its value at once returns a promise of it now, and bytes may come as text;
 * all else is as it was.
 */
export type Wrapped<T> = T extends (...args: infer A) => infer R
  ? IsChanged<R> extends true
    ? (...args: A) => Promise<ShownBytes<Awaited<R>>>
    : T
  : T extends { execute(...args: infer A): infer R }
    ? IsChanged<R> extends true
      ? Omit<T, "execute"> & { execute(...args: A): Promise<ShownBytes<Awaited<R>>> }
      : T
    : T;

/** Bytes, Blobs, Responses and streams come back as they were; where they are cut, as text. */
export type ShownBytes<R> = R extends Bytes | AsyncIterable<unknown> ? R | string : R;

type Bytes = Uint8Array | ArrayBuffer | { arrayBuffer(): unknown } | { getReader(): unknown };

/** The tools of a list or a record, wrapped. */
export type WrappedTools<T> = { [K in keyof T]: Wrapped<T[K]> };

/** False for what may be a promise or an async generator already, unless it has bytes, and for what may be anything. */
type IsChanged<R> = unknown extends R
  ? false
  : [Extract<R, PromiseLike<unknown> | AsyncIterable<unknown>>] extends [never]
    ? true
    : [Extract<Awaited<R>, Bytes>] extends [never]
      ? false
      : true;

/** What one call may ask for: by its caller, or by the model that made it. */
export interface AskOptions {
  /** Which part of the output to keep (head, tail, signal ...). */
  strategy?: StrategyName | undefined;
  /** An older name of `strategy`, and stronger than it. */
  keep?: StrategyName | undefined;
  /** Words, or a pattern (`/timed out after \d+/i`): what matches is kept before what does not. */
  focus?: string | RegExp | undefined;
  /** A smaller size; never more than the policy allows. */
  size?: Limits | undefined;
}

/** What may be said when a tool is wrapped. */
export interface WrapOptions extends AskOptions {
  /** The name its limits are found by; without it a record's key, the tool's `name` or `id`, a function's own name. */
  name?: string | undefined;
  limits?: Limits | undefined;
  headShare?: number | undefined;
  fold?: boolean | undefined;
  /** Over its limits, and over the policy's `triggerChars`, an output is summarised by the model that was handed in. */
  summarize?: boolean | undefined;
  /** Nothing is held back. */
  off?: boolean | undefined;
  /** Replaces our markers; measured like ours. */
  marker?: CustomMarker | undefined;
  session?: string | undefined;
  /**
   * Reads off a call's arguments what the model asks for: `(args) => args[1].output`. What is wrong in it is left out, so
   * that a model's mistake stops no tool.
   */
  ask?: ((args: readonly unknown[]) => AskOptions | null | undefined) | undefined;
  /** What the host would cut it to without us: that much is not counted as saved. */
  hostLimits?: Limits | undefined;
}

/** What wrapping needs of a Spillway. */
export interface Wrapping {
  admit(request: WrappedRequest): Promise<{ output: unknown; text: string }>;
  /** Throws if the request is a mistake, so that it shows when the tool is wrapped. */
  check(request: WrappedRequest): void;
}

interface WrappedRequest extends Omit<WrapOptions, "name" | "ask"> {
  tool: string;
  call?: string;
  args?: unknown;
  declared?: ToolOverride;
  output: unknown;
  /** A partial result: clamped, never spilled, no receipt. */
  isUpdate?: boolean;
}

/** Which Spillway wrapped a tool, and with nothing else said: doing that again changes nothing. */
const wrapped = new WeakMap<object, Wrapping>();

/** A copy of a tool whose results, updates and errors are clamped. A function is wrapped as the tool's `execute` is. */
export function wrapTool<T extends Tool>(
  tool: T,
  wrapping: Wrapping,
  { name, ask, ...options }: WrapOptions = {},
): Wrapped<T> {
  if ((typeof tool !== "object" && typeof tool !== "function") || tool === null) {
    throw new SpillwayError(
      "bad-input",
      `wrapTool takes a tool, an object with execute() or a function; got ${String(tool)}`,
    );
  }
  const isPlain = Object.keys(options).length === 0 && ask === undefined;
  if (options.off || (isPlain && wrapped.get(tool) === wrapping)) return tool as Wrapped<T>;
  const isFunction = typeof tool === "function";
  const execute: unknown = isFunction ? tool : tool.execute;
  // A tool that somebody else runs has none.
  if (typeof execute !== "function") return tool as Wrapped<T>;
  const toolName = name ?? nameOf(tool) ?? "tool";
  const declared = declaredBy(tool);
  const request = { ...options, tool: toolName, ...(declared && { declared }), output: "" };
  wrapping.check(request);
  const asked = (args: readonly unknown[]) => askedBy(args, ask, (part) => wrapping.check({ ...request, ...part }));
  const admit: Admit = (output, more) => wrapping.admit({ ...request, ...more, output });
  const run = clamped(execute as Execute, tool, admit, asked);
  const copy = isFunction ? (run as Tool as T) : withExecute(tool, run);
  if (isPlain) wrapped.set(copy, wrapping);
  return copy as Wrapped<T>;
}

/** The first of its name and its id that is a text. A minifier changes a function's name, so whoever can name it otherwise does. */
function nameOf(tool: Tool): string | undefined {
  const { name, id } = tool as { name?: unknown; id?: unknown };
  return [name, id].find((each): each is string => typeof each === "string" && each !== "");
}

type Execute = (...args: unknown[]) => unknown;
type Admit = (output: unknown, more: Call & { isUpdate?: boolean }) => Promise<{ output: unknown }>;

/** What is known of one call. */
interface Call extends AskOptions {
  call?: string;
  args?: unknown;
}

/** What a tool does, with what comes of it clamped. One that yields its results keeps yielding them. */
function clamped(
  execute: Execute,
  tool: unknown,
  admit: Admit,
  asked: (args: readonly unknown[]) => AskOptions,
): Execute {
  const callOf = (args: unknown[]): Call => ({ ...asked(args), ...madeBy(args) });
  const clampThrown = (error: unknown, call: Call) =>
    clampError(error, async (thrown) => (await admit(thrown, call)).output);
  if (execute.constructor.name === "AsyncGeneratorFunction") {
    return async function* (...args: unknown[]) {
      const call = callOf(args);
      try {
        const source = execute.apply(tool, args) as AsyncGenerator<unknown, unknown, unknown>;
        return yield* clampedEach(
          source,
          async (value, isUpdate) => (await admit(value, { ...call, isUpdate })).output,
        );
      } catch (error) {
        throw await clampThrown(error, call);
      }
    };
  }
  return async (...args: unknown[]) => {
    const call = callOf(args);
    const clampUpdate = async (update: unknown) => (await admit(update, { ...call, isUpdate: true })).output;
    const updates = relayUpdates(args[3], clampUpdate, NUMBERS.updateIntervalMs.default);
    if (updates !== null) args[3] = updates.take;
    try {
      return (await admit(await execute.apply(tool, args), call)).output;
    } catch (error) {
      throw await clampThrown(error, call);
    } finally {
      await updates?.end();
    }
  };
}

/**
 * Passes on what a generator yields and returns, clamped; it is ended when its reader stops early. Of what it yields only the
 * last is saved. Which is the last shows afterwards: if it was cut it comes once more, and its marker says where the rest is.
 */
async function* clampedEach(
  source: AsyncGenerator<unknown, unknown, unknown>,
  clamp: (value: unknown, isUpdate: boolean) => Promise<unknown>,
): AsyncGenerator<unknown, unknown, unknown> {
  try {
    let last: { value: unknown; shown: unknown } | null = null;
    let step = await source.next();
    while (!step.done) {
      const { value } = step;
      // A stream is read only once, so it cannot be shown first and saved afterwards.
      const isUpdate = !isReadOnce(value);
      const shown = await clamp(value, isUpdate);
      last = isUpdate ? { value, shown } : null;
      step = await source.next(yield shown);
    }
    if (last !== null) {
      const saved = await clamp(last.value, false);
      if (last.shown !== last.value) yield saved;
    }
    return step.value === undefined ? undefined : await clamp(step.value, false);
  } finally {
    await source.return(undefined);
  }
}

function isReadOnce(value: unknown): boolean {
  return isStream(value) || Object.prototype.toString.call(value) === "[object Response]";
}

/**
 * A call's id and arguments, as frameworks pass them: beside the arguments in an object (`toolCallId`, `toolCall.id`,
 * `toolCall.callId`, `requestId`), or as a text before an object of them. An only text is an argument.
 */
function madeBy([first, ...rest]: readonly unknown[]): Pick<Call, "call" | "args"> {
  const isBefore = typeof first === "string" && typeof rest[0] === "object" && rest[0] !== null;
  const call = rest.map(callIdIn).find((id) => id !== undefined) ?? (isBefore ? first : undefined);
  return { ...(call !== undefined && { call }), args: isBefore && call === first ? rest[0] : first };
}

function callIdIn(given: unknown): string | undefined {
  try {
    const { toolCallId, toolCall, requestId } = Object(given) as Record<string, unknown>;
    const { id, callId } = Object(toolCall) as Record<string, unknown>;
    const found = [toolCallId, id, callId, requestId].find(
      (each) => (typeof each === "string" && each !== "") || Number.isSafeInteger(each),
    );
    return found === undefined ? undefined : String(found);
  } catch {
    return undefined; // a getter that throws
  }
}

/** What a call asks for, part by part: one that is wrong is left out. */
function askedBy(args: readonly unknown[], ask: WrapOptions["ask"], check: (part: AskOptions) => void): AskOptions {
  const asked: AskOptions = {};
  try {
    const { keep, strategy = keep, focus, size } = ask?.(args) ?? {};
    for (const part of [{ strategy, keep: undefined }, { focus }, { size }]) {
      // What the call does not ask for stays as it was said when the tool was wrapped.
      if (Object.values(part)[0] === undefined) continue;
      try {
        check(part);
        Object.assign(asked, part);
      } catch {
        // the model's mistake: the policy serves
      }
    }
  } catch {
    // the caller's
  }
  return asked;
}

function withExecute<T extends object>(tool: T, execute: Execute): T {
  const prototype: unknown = Object.getPrototypeOf(tool);
  // An instance may have private members, which no copy has.
  if (prototype !== null && prototype !== Object.prototype && !Object.hasOwn(tool, "execute"))
    return standIn(tool, execute);
  return Object.create(Object.getPrototypeOf(tool), {
    ...Object.getOwnPropertyDescriptors(tool),
    execute: { value: execute, writable: true, enumerable: true, configurable: true },
  }) as T;
}

/** Stands before an instance: everything is the instance's own, but for `execute`. */
function standIn<T extends object>(tool: T, execute: Execute): T {
  const bound = new Map<unknown, unknown>();
  return new Proxy(tool, {
    get(target, key) {
      if (key === "execute") return execute;
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== "function" || key === "constructor") return value;
      if (!bound.has(value)) bound.set(value, value.bind(target));
      return bound.get(value);
    },
    set: (target, key, value) => Reflect.set(target, key, value, target),
  });
}

/** The same for a list, or for a record, whose keys name the tools. */
export function wrapTools<T extends readonly Tool[] | Record<string, Tool>>(
  tools: T,
  wrapping: Wrapping,
  options?: WrapOptions,
): WrappedTools<T> {
  if (Array.isArray(tools)) return tools.map((tool: Tool) => wrapTool(tool, wrapping, options)) as WrappedTools<T>;
  const entries = Object.entries(tools as Record<string, Tool>);
  const copies = entries.map(([name, tool]) => [name, wrapTool(tool, wrapping, { name, ...options })]);
  return Object.fromEntries(copies) as WrappedTools<T>;
}

/** Limits and strategy that a tool states on itself, in our names or as constants of its class (`MAX_OUTPUT_CHARS`). */
function declaredBy(tool: object): ToolOverride | undefined {
  const own = tool as { limits?: Limits; strategy?: string; MAX_OUTPUT_CHARS?: number; MAX_OUTPUT_LINES?: number };
  const type = (tool as { constructor?: typeof own }).constructor;
  const maxChars = own.MAX_OUTPUT_CHARS ?? type?.MAX_OUTPUT_CHARS;
  const maxLines = own.MAX_OUTPUT_LINES ?? type?.MAX_OUTPUT_LINES;
  const limits: Limits = {
    ...(maxChars !== undefined && { maxChars }),
    ...(maxLines !== undefined && { maxLines }),
    ...(isLimits(own.limits) ? own.limits : {}),
  };
  const hasLimits = Object.keys(limits).length > 0;
  const strategy = typeof own.strategy === "string" && hasLimits ? own.strategy : undefined;
  return hasLimits ? { limits, ...(strategy !== undefined && { strategy }) } : undefined;
}

const LIMIT_NAMES = new Set(["maxBytes", "maxChars", "maxLines", "maxTokens"]);

/** Other libraries' tools may have a field of that name that means something else. */
function isLimits(value: unknown): value is Limits {
  return (
    typeof value === "object" &&
    value !== null &&
    Object.keys(value).length > 0 &&
    Object.keys(value).every((key) => LIMIT_NAMES.has(key))
  );
}

/** A tool's partial results on their way to the agent. */
interface UpdateRelay {
  take(update: unknown, ...rest: unknown[]): void;
  /** Delivers the last one, if it is still waiting, and stops. */
  end(): Promise<void>;
}

/**
 * Clamps partial results, at most one each `intervalMs`: within it the latest replaces the one before, and the last is
 * always delivered. Null if there is nobody to tell.
 */
function relayUpdates(
  onUpdate: unknown,
  clamp: (update: unknown) => Promise<unknown>,
  intervalMs: number,
): UpdateRelay | null {
  if (typeof onUpdate !== "function") return null;
  const listener = onUpdate as (...args: unknown[]) => unknown;
  let waiting: unknown[] | null = null;
  let timer: ReturnType<typeof setTimeout> | null = null;
  let ended = false;
  let sentAtMs = Number.NEGATIVE_INFINITY;
  let delivery: Promise<void> = Promise.resolve();

  function deliver(): void {
    timer = null;
    const args = waiting;
    if (args === null) return;
    waiting = null;
    sentAtMs = performance.now();
    delivery = delivery.then(async () => {
      const [update, ...rest] = args;
      // An agent's listener must neither break its tool nor hold it up.
      await clamp(update)
        .then((clamped) => void (async () => listener(clamped, ...rest))().catch(() => {}))
        .catch(() => {});
    });
  }

  return {
    take(...args) {
      if (ended) return;
      waiting = args;
      if (timer !== null) return;
      const waitMs = sentAtMs + intervalMs - performance.now();
      if (waitMs <= 0) deliver();
      else timer = setTimeout(deliver, waitMs);
    },
    async end() {
      if (timer !== null) clearTimeout(timer);
      ended = true;
      deliver();
      await delivery;
    },
  };
}
