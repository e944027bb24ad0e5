import { badInput } from "../errors.ts";
import { isRecord, parsedJson, tried } from "../values.ts";
import { type Intent, lastWords } from "./intent.ts";

/** What runs a tool. */
export type Run = (...args: unknown[]) => unknown;

/**
 * Names under which frameworks keep what runs a tool: `execute` (AI SDK, Mastra, pi), `handler` (Claude Agent SDK, MCP),
 * `run` (Anthropic), `invoke` and `func` (LangChain, OpenAI Agents), `call`.
 */
export const RUN_NAMES = ["execute", "handler", "run", "invoke", "func", "call"] as const;

/** Functions that tools have besides: they describe, check or watch, and give a model nothing. */
const OTHER_NAMES = new Set(
  (
    "constructor description inputSchema outputSchema schema parameters toModelOutput onInputStart onInputDelta " +
    "onInputAvailable onOutput onApproval onSafetyCheck customDataExtractor needsApproval requireApproval isEnabled errorFunction timeoutErrorFunction parse close " +
    "transform toJSON toString valueOf toLocaleString"
  ).split(" "),
);

/** What runs a tool, and what else decides how its results are clamped. */
export interface ToolShape {
  /** The functions to clamp, by their names. */
  runs: ReadonlyMap<string, Run>;
  /** An instance of LangChain: other methods of it call the one that is clamped, and its results may be messages. */
  isRunnable: boolean;
  /** Its results are MCP's, whose `structuredContent` a model may get too. */
  isMcp: boolean;
  /** Its framework asks `toModelOutput` what the model gets; the application gets the value itself. */
  hasModelView: boolean;
}

/** Finds out what runs a tool. Null if nothing does: the provider or the client runs it. */
export function shapeOf(tool: object): ToolShape | null {
  const own = tool as Record<string, unknown>;
  const isRunnable = own.lc_runnable === true;
  // All ways into a structured tool of LangChain lead through its `_call`.
  const names = isRunnable ? [typeof own._call === "function" ? "_call" : "invoke"] : RUN_NAMES;
  const runs = new Map<string, Run>();
  for (const name of names) {
    const run = own[name];
    if (typeof run === "function") runs.set(name, run as Run);
  }
  if (runs.size > 0) {
    const hasModelView = runs.has("execute") && isSchema(own.inputSchema) && !isRunnable;
    return { runs, isRunnable, isMcp: runs.has("handler"), hasModelView };
  }
  const unknown = functionNames(tool).filter((name) => !OTHER_NAMES.has(name));
  if (unknown.length === 0) return null;
  const called = typeof own.name === "string" && own.name !== "" ? ` "${own.name}"` : "";
  throw badInput(
    `the tool${called} has none of ${RUN_NAMES.join(", ")}; which of its functions runs it is not known: ${unknown.join(", ")}. ` +
      `Wrap that function itself: { ...tool, ${unknown[0]}: spillway.wrapTool(tool.${unknown[0]}, { name }) }. ` +
      "Leave the tool out if the provider runs it.",
  );
}

function isSchema(value: unknown): boolean {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

/** The functions of an object and of its classes; no getter is asked. */
function functionNames(tool: object): string[] {
  const names = new Set<string>();
  for (let at: object | null = tool; at !== null && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(at)))
      if (typeof value === "function") names.add(name);
  }
  return [...names];
}

/** A call's id and arguments, and what it is for. */
export interface CallFacts {
  call?: string;
  args?: unknown;
  intent?: Intent | string;
}

/**
 * A call's id and arguments, as frameworks pass them: beside the arguments in an object (`toolCallId`, `toolCall.id`,
 * `toolUse.id` ...), as a text before an object of them, or around them (LangChain's `tool_call`). An only text is an
 * argument.
 */
export function factsOf(name: string, given: readonly unknown[]): CallFacts {
  const intent = given.map(intentIn).find((found) => found !== null);
  const call = tried(() => callOf(name, given)) ?? { args: given[0] };
  return { ...call, ...(intent && { intent }) };
}

/** Frameworks that pass a call's conversation have it beside the arguments. */
function intentIn(given: unknown, at: number): Intent | null {
  if (at === 0) return null;
  return tried(() => {
    const { messages, agent, state } = Object(given) as Record<string, unknown>;
    const held = [messages, agent, state].find((each) => each !== undefined && each !== null);
    return lastWords(Array.isArray(held) ? held : (Object(held) as Record<string, unknown>).messages);
  });
}

function callOf(name: string, given: readonly unknown[]): CallFacts {
  const [first, ...rest] = given;
  // OpenAI Agents: invoke(runContext, inputJson, details).
  if (name === "invoke" && typeof rest[0] === "string") return facts(callIdIn(rest[1]), parsedJson(rest[0]) ?? rest[0]);
  if (name === "invoke" && isRecord(first) && first.type === "tool_call") return facts(idIn(first.id), first.args);
  // A tool of an MCP server without arguments gets only what goes along with them.
  if (rest.length === 0 && isRecord(first) && (first.signal instanceof AbortSignal || isRecord(first.mcpReq)))
    return facts(callIdIn(first), undefined);
  const isBefore = typeof first === "string" && typeof rest[0] === "object" && rest[0] !== null;
  const call = rest.map(callIdIn).find((id) => id !== undefined) ?? (isBefore ? first : undefined);
  return facts(call, isBefore && call === first ? rest[0] : first);
}

function facts(call: string | undefined, args: unknown): CallFacts {
  return { ...(call !== undefined && { call }), args };
}

function callIdIn(given: unknown): string | undefined {
  const call = tried(() => {
    const of = (value: unknown) => Object(value) as Record<string, unknown>;
    const { toolCallId, toolCall, toolUse, toolUseBlock, agent, mcpReq, requestId, _meta } = of(given);
    const found = [
      toolCallId,
      of(toolCall).id,
      of(toolCall).callId,
      of(toolUse).id,
      of(toolUseBlock).id,
      of(agent).toolCallId,
      of(_meta)["claudecode/toolUseId"],
      of(mcpReq).id,
      requestId,
    ];
    return found.map(idIn).find((id) => id !== undefined);
  });
  return call ?? undefined;
}

function idIn(value: unknown): string | undefined {
  return (typeof value === "string" && value !== "") || Number.isSafeInteger(value) ? String(value) : undefined;
}

/**
 * A thrown value as the model may see it. Within its limits the error itself; else a new one of the same prototype and
 * with the same own properties, its message clamped and its stack without the text. The thrown one is not changed.
 */
export async function clampError(thrown: unknown, clamp: (thrown: unknown) => Promise<unknown>): Promise<unknown> {
  if (!(thrown instanceof Error)) return clamp(thrown);
  const message = String(thrown.message);
  const clamped = String(await clamp(message));
  return clamped === message ? thrown : errorWith(thrown, clamped);
}

/** A copy of an error with another message. */
export function errorWith(thrown: Error, message: string): Error {
  // Its fields are not its own: a copy would have none of them.
  if (typeof DOMException === "function" && thrown instanceof DOMException)
    return new DOMException(message, thrown.name);
  const own = Object.getOwnPropertyDescriptors(thrown);
  const hidden = (value: string) => ({ value, writable: true, enumerable: false, configurable: true });
  return Object.create(Object.getPrototypeOf(thrown), {
    ...own,
    message: hidden(message),
    stack: hidden(`${thrown.name}: ${message}`),
  });
}
