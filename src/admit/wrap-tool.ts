import type { Limits } from "../contract/limits.ts";
import type { ToolOverride } from "../contract/policy.ts";
import type { StrategyName } from "../contract/strategy.ts";
import { badInput } from "../errors.ts";
import type { CustomMarker } from "../stages/mark/forms.ts";
import { isStream } from "../stages/measure/read-chunks.ts";
import { LIMIT_NAMES } from "../stages/policy/check-limits.ts";
import { definedOnly } from "../stages/policy/check-row.ts";
import { NUMBERS } from "../stages/policy/defaults.ts";
import { isRecord, tried } from "../values.ts";
import { statedMeta } from "../wire/mcp.ts";
import {
  admitMessages,
  clampedRunnable,
  modelViewed,
  type ToolClamp,
  type WrapInner,
  wrapServer,
} from "./framework-runs.ts";
import type { Intent } from "./intent.ts";
import {
  type CallFacts,
  clampError,
  factsOf,
  type RUN_NAMES,
  type Run,
  shapeOf,
  type ToolShape,
} from "./tool-shapes.ts";

/**
 * A tool of any framework: an object with what runs it under one of the names that frameworks use, a function that does the
 * same, or a server of MCP, whose tools are wrapped as they are registered. One with no function at all is run by somebody else
 * and stays as it is.
 */
export type Tool = object;

type AnyFunction = (...args: never[]) => unknown;

/** A server at which tools are registered, as MCP has it. */
export interface ToolServer {
  registerTool: AnyFunction;
}

/**
 * A tool as it is once wrapped. What returned its value at once returns a promise of it now, a generator yields its values
 * later, and bytes may come as text; all else is as it was.
 */
export type Wrapped<T> = T extends (...args: infer A) => infer R
  ? IsChanged<R> extends true
    ? (...args: A) => Later<R>
    : T
  : [ChangedName<T>] extends [never]
    ? T
    : Omit<T, ChangedName<T>> & { [K in ChangedName<T>]: Wrapped<T[K]> };

/** What a wrapped function returns in place of a value. */
type Later<R> =
  R extends Generator<infer Y, infer E, infer N> ? AsyncGenerator<Y, E, N> : Promise<ShownBytes<Awaited<R>>>;

/** Which of a tool's functions have another type once they are wrapped. */
type ChangedName<T> = {
  [K in keyof T & (typeof RUN_NAMES)[number]]-?: T[K] extends (...args: never[]) => infer R
    ? IsChanged<R> extends true
      ? K
      : never
    : never;
}[keyof T & (typeof RUN_NAMES)[number]];

/** Bytes, Blobs, Responses and streams come back as they were; where they are cut, as text. */
export type ShownBytes<R> = R extends Bytes | AsyncIterable<unknown> ? R | string : R;

type Bytes = Uint8Array | ArrayBuffer | { arrayBuffer(): unknown } | { getReader(): unknown };

/** The tools of a list or a record, wrapped; a server of MCP. */
export type WrappedTools<T> = T extends ToolServer ? T : { [K in keyof T]: Wrapped<T[K]> };

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
  /** False: lines are not weighed by the last good run of the same command. */
  since?: boolean | undefined;
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
  /**
   * Says what a call is for, where its framework does not pass the conversation: `() => lastQuestion`. Its words are only
   * looked for in the output.
   */
  context?: ((args: readonly unknown[]) => Intent | string | null | undefined) | undefined;
  /** What the host would cut it to without us: that much is not counted as saved. */
  hostLimits?: Limits | undefined;
  /**
   * Bounds `details` and `structuredContent` too, for results that reach a model or a transcript with them; true for tools
   * of MCP, whose `structuredContent` a model may get.
   */
  boundDetails?: boolean | undefined;
}

/** What wrapping needs of a Spillway. */
export interface Wrapping {
  admit(request: WrappedRequest): Promise<{ output: unknown; text: string }>;
  /** The limits that apply. Throws if the request is a mistake, so that it shows when the tool is wrapped. */
  check(request: WrappedRequest): Limits;
}

interface WrappedRequest extends Omit<WrapOptions, "name" | "ask" | "context"> {
  tool: string;
  call?: string;
  args?: unknown;
  intent?: Intent | string;
  declared?: ToolOverride;
  output: unknown;
  /** A partial result: clamped, never spilled, no receipt. */
  isUpdate?: boolean;
}

/** Which Spillway wrapped a tool, and with nothing else said: doing that again changes nothing. */
const wrapped = new WeakMap<object, Wrapping>();

/** A copy of a tool whose results, updates and errors are clamped. A function is wrapped as what runs a tool is. */
export function wrapTool<T extends Tool>(
  tool: T,
  wrapping: Wrapping,
  { name, ask, context, ...options }: WrapOptions = {},
): Wrapped<T> {
  if ((typeof tool !== "object" && typeof tool !== "function") || tool === null) {
    throw badInput(`wrapTool takes a tool, an object or a function; got ${String(tool)}`);
  }
  const isPlain = Object.keys(options).length === 0 && ask === undefined && context === undefined;
  if (options.off || ownTools.has(tool) || (isPlain && wrapped.get(tool) === wrapping)) return tool as Wrapped<T>;
  const wrapInner: WrapInner = (run, named, more) =>
    wrapTool(run, wrapping, { name: named, ask, context, ...more, ...options });
  const limitsOf = (named: string) => wrapping.check({ ...options, tool: named, output: "" });
  if (isServer(tool)) return wrapServer(tool, wrapInner, limitsOf) as Wrapped<T>;
  const shape: ToolShape | null = typeof tool === "function" ? functionShape(tool as Run) : shapeOf(tool);
  if (shape === null) return (withInner(tool, wrapInner) ?? tool) as Wrapped<T>;
  if (wrapRegistered(tool, name ?? nameOf(tool), wrapInner, limitsOf)) return tool as Wrapped<T>;
  const toolName = name ?? nameOf(tool) ?? "tool";
  const declared = declaredBy(tool);
  const request = {
    ...(shape.isMcp && { boundDetails: true }),
    ...options,
    tool: toolName,
    ...(declared && { declared }),
    output: "",
  };
  const limits = wrapping.check(request);
  const asked = (args: readonly unknown[]) => askedBy(args, ask, (part) => wrapping.check({ ...request, ...part }));
  const clamp: ToolClamp<Call> = {
    callOf: (at, args) => {
      const intent = tried(() => context?.(args)) ?? undefined;
      return { ...asked(args), ...factsOf(at, args), ...(intent !== undefined && { intent }) };
    },
    admit: (output, call) =>
      admitMessages(output, async (value) => (await wrapping.admit({ ...request, ...call, output: value })).output),
    thrown: (error, call) => clampError(error, (thrown) => clamp.admit(thrown, call)),
  };
  const clampRun = shape.isRunnable ? clampedRunnable : clamped;
  const runs: Record<string, Run> = {};
  for (const [at, run] of shape.runs) runs[at] = clampRun(at, run, tool, clamp);
  const { execute } = runs;
  if (shape.hasModelView && execute !== undefined)
    Object.assign(runs, modelViewed(tool, shape.runs.get("execute") as Run, execute, clamp));
  const meta = shape.isMcp && "inputSchema" in tool ? statedMeta((tool as { _meta?: unknown })._meta, limits) : {};
  const copy = typeof tool === "function" ? (runs.call as unknown as T) : withRuns(tool, runs, meta, shape.isRunnable);
  if (isPlain) wrapped.set(copy, wrapping);
  return copy as Wrapped<T>;
}

/** Tools of ours: what is read back is bounded already, and is never cut or spilled again. */
const ownTools = new WeakSet<object>();

/** Says of the tools of a list or a record that they are not to be wrapped. */
export function leaveAsTheyAre(tools: unknown): void {
  for (const tool of Object.values(Object(tools))) if (typeof tool === "object" && tool !== null) ownTools.add(tool);
}

/** Where functions of OpenAI's Agents stand one level down, in a shell or in what edits files. */
const INNER = { shell: ["run"], editor: ["createFile", "updateFile", "deleteFile"] };

/** A copy of a tool whose functions stand one level down; null for any other. */
function withInner(tool: Tool, wrap: WrapInner): object | null {
  for (const [at, names] of Object.entries(INNER)) {
    const inner = Object((tool as Record<string, unknown>)[at]) as Record<string, unknown>;
    const found = names.filter((name) => typeof inner[name] === "function");
    if (found.length === 0) continue;
    const runs = found.map((name) => {
      const value = wrap((inner[name] as Run).bind(inner), nameOf(tool) ?? at, { boundDetails: false });
      return [name, { value, enumerable: true }];
    });
    return { ...tool, [at]: Object.create(inner, Object.fromEntries(runs)) as object };
  }
  return null;
}

function functionShape(run: Run): ToolShape {
  return { runs: new Map([["call", run]]), isRunnable: false, isMcp: false, hasModelView: false };
}

function isServer(tools: object): tools is ToolServer {
  return typeof (tools as Partial<ToolServer>).registerTool === "function";
}

/** A tool as a server of MCP gives it once it is registered: the server keeps calling its own. */
interface RegisteredTool {
  handler: Run;
  outputSchema?: unknown;
  _meta?: unknown;
  update(changes: { callback: Run; _meta?: object }): void;
}

function isRegistered(tool: object): tool is RegisteredTool {
  const { handler, update, enable, disable } = tool as Record<string, unknown>;
  return [handler, update, enable, disable].every((each) => typeof each === "function");
}

/** For a registered tool a copy would change nothing, so the server is told of the wrapped callback. False for any other. */
function wrapRegistered(
  tool: object,
  name: string | undefined,
  wrap: WrapInner,
  limitsOf: (name: string) => Limits,
): boolean {
  if (!isRegistered(tool)) return false;
  if (tool.outputSchema !== undefined || name === undefined) {
    const why =
      name === undefined
        ? "a tool that is registered at a server does not say its name: wrapTool(tool, { name })"
        : `the registered tool "${name}" has an outputSchema, which a shortened result would not fit`;
    throw badInput(`${why}. Or wrap the server, and register tools at that: wrapTools(server)`);
  }
  const callback = wrap(tool.handler, name, { boundDetails: true });
  tool.update({ callback, ...statedMeta(tool._meta, limitsOf(name)) });
  return true;
}

/** The first of its name and its id that is a text. A minifier changes a function's name, so whoever can name it otherwise does. */
function nameOf(tool: Tool): string | undefined {
  const { name, id } = tool as { name?: unknown; id?: unknown };
  return [name, id].find((each): each is string => typeof each === "string" && each !== "");
}

/** What is known of one call. */
interface Call extends AskOptions, CallFacts {
  isUpdate?: boolean;
}

/** What runs a tool, with what comes of it clamped. One that yields its results keeps yielding them. */
function clamped(name: string, run: Run, tool: unknown, { callOf, admit, thrown }: ToolClamp<Call>): Run {
  if (/^(?:Async)?GeneratorFunction$/.test(run.constructor.name)) {
    return async function* (...args: unknown[]) {
      const call = callOf(name, args);
      try {
        const source = run.apply(tool, args) as AnyGenerator;
        return yield* clampedEach(source, (value, isUpdate) => admit(value, { ...call, isUpdate }));
      } catch (error) {
        throw await thrown(error, call);
      }
    };
  }
  return async (...args: unknown[]) => {
    const call = callOf(name, args);
    const clampUpdate = (update: unknown) => admit(update, { ...call, isUpdate: true });
    const updates = relayUpdates(args[3], clampUpdate, NUMBERS.updateIntervalMs.default);
    if (updates !== null) args[3] = updates.take;
    try {
      const output = await run.apply(tool, args);
      // A tool that returns a stream is still at work. What any other says from here on comes too late.
      if (!tried(() => isStream(output))) await updates?.end();
      return await admit(output, call);
    } catch (error) {
      throw await thrown(error, call);
    } finally {
      await updates?.end();
    }
  };
}

/**
 * Passes on what a generator yields and returns, clamped. If its reader stops early, the generator is ended. Only the last
 * value that it yields is saved. If that one was cut, it is yielded once more, with a marker that says where the rest is.
 */
async function* clampedEach(
  source: AnyGenerator,
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

type AnyGenerator = AsyncGenerator<unknown, unknown, unknown> | Generator<unknown, unknown, unknown>;

function isReadOnce(value: unknown): boolean {
  return tried(() => isStream(value) || Object.prototype.toString.call(value) === "[object Response]") === true;
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

function withRuns<T extends object>(tool: T, runs: Record<string, Run>, meta: object, isRunnable: boolean): T {
  const prototype: unknown = Object.getPrototypeOf(tool);
  const isInstance = prototype !== null && prototype !== Object.prototype;
  // An instance may have private members, which no copy has.
  if (isRunnable || (isInstance && !Object.keys(runs).every((name) => Object.hasOwn(tool, name))))
    return standIn(tool, runs, isRunnable);
  const fields = Object.entries({ ...runs, ...meta }).map(([name, value]) => [
    name,
    { value, writable: true, enumerable: true, configurable: true },
  ]);
  return Object.create(Object.getPrototypeOf(tool), {
    ...Object.getOwnPropertyDescriptors(tool),
    ...Object.fromEntries(fields),
  }) as T;
}

/**
 * Stands before an instance: everything is the instance's own, but for what runs it. Where `callsRuns`, its other methods
 * call what runs it, so they have to be called on this.
 */
function standIn<T extends object>(tool: T, runs: Record<string, Run>, callsRuns: boolean): T {
  const bound = new Map<unknown, unknown>();
  return new Proxy(tool, {
    get(target, key) {
      if (typeof key === "string" && Object.hasOwn(runs, key)) return runs[key];
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== "function" || key === "constructor" || callsRuns) return value;
      if (!bound.has(value)) bound.set(value, value.bind(target));
      return bound.get(value);
    },
    set: (target, key, value) => Reflect.set(target, key, value, target),
  });
}

/** The same for a list, for a record, whose keys name the tools, or for a server of MCP. */
export function wrapTools<T extends readonly Tool[] | Record<string, Tool> | ToolServer>(
  tools: T,
  wrapping: Wrapping,
  options?: WrapOptions,
): WrappedTools<T> {
  return wrapAll(tools, (tool, name) =>
    wrapTool(tool, wrapping, { ...(name !== undefined && { name }), ...options }),
  ) as WrappedTools<T>;
}

function wrapAll(
  tools: readonly Tool[] | Record<string, Tool> | ToolServer,
  wrap: (tool: Tool, name?: string) => unknown,
): unknown {
  if (isRecord(tools) && isServer(tools)) return wrap(tools);
  if (Array.isArray(tools)) return tools.map((tool: Tool) => wrap(tool));
  if (!isRecord(tools) || Symbol.iterator in tools) {
    const got = Object.prototype.toString.call(tools).slice(8, -1);
    const way = tools instanceof Map ? " (pass Object.fromEntries(map))" : "";
    throw badInput(`wrapTools takes a list of tools, a record of them or a server of MCP; got: ${got}${way}`);
  }
  return Object.fromEntries(Object.entries(tools).map(([name, tool]) => [name, wrap(tool, name)]));
}

/** Limits and strategy that a tool states on itself, in our names or as constants of its class (`MAX_OUTPUT_CHARS`). */
function declaredBy(tool: object): ToolOverride | undefined {
  const own = tool as { limits?: Limits; strategy?: string; MAX_OUTPUT_CHARS?: number; MAX_OUTPUT_LINES?: number };
  const type = (tool as { constructor?: typeof own }).constructor;
  const maxChars = own.MAX_OUTPUT_CHARS ?? type?.MAX_OUTPUT_CHARS;
  const maxLines = own.MAX_OUTPUT_LINES ?? type?.MAX_OUTPUT_LINES;
  const limits: Limits = { ...definedOnly({ maxChars, maxLines }), ...(isLimits(own.limits) ? own.limits : {}) };
  if (Object.keys(limits).length === 0) return undefined;
  return { limits, ...(typeof own.strategy === "string" && { strategy: own.strategy }) };
}

/** Other libraries' tools may have a field of that name that means something else. */
function isLimits(value: unknown): value is Limits {
  const names = isRecord(value) ? Object.keys(value) : [];
  return names.length > 0 && names.every((name) => (LIMIT_NAMES as readonly string[]).includes(name));
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
