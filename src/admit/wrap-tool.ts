import type { Limits } from "../contract/limits.ts";
import type { ToolOverride } from "../contract/policy.ts";
import type { CustomMarker } from "../stages/mark/forms.ts";
import { NUMBERS } from "../stages/policy/defaults.ts";
import { clampError } from "./clamp-error.ts";
import { relayUpdates } from "./relay-updates.ts";

/** Anything with an `execute`: `execute(id, args, signal, onUpdate)` as agents have it, or any other arguments. */
export interface Tool {
  name?: unknown;
  // Methods are compared loosely, so that every framework's own type of tool fits.
  execute?(...args: never[]): unknown;
}

/** What may be said when a tool is wrapped. */
export interface WrapOptions {
  /** The name its limits are found by, if the tool has none. */
  name?: string;
  limits?: Limits;
  strategy?: string;
  headShare?: number;
  fold?: boolean;
  /** Leaves the tool as it is. */
  off?: boolean;
  marker?: CustomMarker;
  session?: string;
}

/** What wrapping needs of a Spillway. */
export interface Wrapping {
  admit(request: WrappedRequest): Promise<{ output: unknown; text: string }>;
  /** Throws if the request is a mistake, so that it shows when the tool is wrapped. */
  check(request: WrappedRequest): void;
}

interface WrappedRequest extends Omit<WrapOptions, "name"> {
  tool: string;
  call?: string;
  declared?: ToolOverride;
  output: object | string;
  /** A partial result: clamped, never spilled, no receipt. */
  isUpdate?: boolean;
}

const wrapped = new WeakSet<object>();

/** A copy of a tool whose results, updates and errors are clamped. Wrapping twice is wrapping once. */
export function wrapTool<T extends Tool>(tool: T, wrapping: Wrapping, { name, ...options }: WrapOptions = {}): T {
  const { execute } = tool;
  if (options.off || typeof execute !== "function" || wrapped.has(tool)) return tool;
  const toolName = typeof tool.name === "string" ? tool.name : (name ?? "tool");
  const declared = declaredBy(tool);
  const request = { ...options, tool: toolName, ...(declared && { declared }), output: "" };
  wrapping.check(request);

  async function executeClamped(...args: unknown[]): Promise<unknown> {
    const call = typeof args[0] === "string" ? { call: args[0] } : {};
    const admit = async (output: unknown, isUpdate = false) =>
      (await wrapping.admit({ ...request, ...call, output: output as object, isUpdate })).output;
    const updates = relayUpdates(args[3], (update) => admit(update, true), NUMBERS.updateIntervalMs.default);
    if (updates !== null) args[3] = updates.take;
    try {
      const result = await (execute as (...args: unknown[]) => unknown).apply(tool, args);
      return await admit(result);
    } catch (error) {
      throw await clampError(error, async (message) => String(await admit(message)));
    } finally {
      await updates?.end();
    }
  }

  const copy = Object.create(Object.getPrototypeOf(tool), {
    ...Object.getOwnPropertyDescriptors(tool),
    execute: { value: executeClamped, writable: true, enumerable: true, configurable: true },
  }) as T;
  wrapped.add(copy);
  return copy;
}

/** The same for a list, or for a record, whose keys name the tools that have no name. */
export function wrapTools<T extends readonly Tool[] | Record<string, Tool>>(
  tools: T,
  wrapping: Wrapping,
  options?: WrapOptions,
): T {
  if (Array.isArray(tools)) return tools.map((tool: Tool) => wrapTool(tool, wrapping, options)) as unknown as T;
  const entries = Object.entries(tools as Record<string, Tool>);
  return Object.fromEntries(entries.map(([name, tool]) => [name, wrapTool(tool, wrapping, { name, ...options })])) as T;
}

/** Limits and strategy that a tool states on itself, in our names or as seed 001's BaseTool has them. */
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
