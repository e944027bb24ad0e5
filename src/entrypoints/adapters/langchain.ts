import type { CallOptions } from "../../call/call-options.ts";
import { loadPackage } from "../../load-package.ts";
import type { ReadBackKinds, ReadBackOptions } from "../../recall/index.ts";
import type { Spillway } from "../../spillway.ts";
import { isRecord } from "../../values.ts";

/** What may be said for an agent. */
export interface LangChainMiddlewareOptions
  extends Pick<CallOptions, "session" | "window" | "model" | "pruning" | "media"> {
  /** True if the agent gets the tools with which it reads back, or their names; true by default. */
  readBack?: boolean | ReadBackOptions | undefined;
  /**
   * What becomes of an error that a tool throws. "tell": the model is told, as LangChain does where no middleware wraps its
   * tools. "throw": it is thrown, as LangChain does where one does.
   */
  toolErrors?: "tell" | "throw" | undefined;
}

interface ToolRequest {
  toolCall: { name: string; args: unknown; id?: string | undefined };
  state: unknown;
}

interface ModelRequest {
  messages: readonly unknown[];
  systemMessage?: unknown;
  tools?: readonly unknown[] | undefined;
  runtime?: unknown;
}

type Handler<Request, Result> = (request: Request) => Result | Promise<Result>;

/** Middleware for `createAgent`, as LangChain types it. */
export interface LangChainMiddleware {
  name: string;
  tools: ReadBackKinds["langchain"];
  wrapToolCall<Request extends ToolRequest, Result>(
    request: Request,
    handler: Handler<Request, Result>,
  ): Promise<Result>;
  wrapModelCall<Request extends ModelRequest, Reply>(
    request: Request,
    handler: Handler<Request, Reply>,
  ): Promise<Reply>;
}

/** LangChain knows its middleware by this. */
const BRAND = Symbol.for("AgentMiddleware");

/**
 * Middleware for an agent of LangChain: results are clamped, each request is pruned on its way and recovered if the provider
 * refuses it for its size, and the model can read back. The agent's state is not changed by any of it. It stands first in the
 * list, so that errors reach other middleware before it tells the model of them.
 */
export function spillwayMiddleware(
  spillway: Pick<Spillway, "call" | "wrapTool" | "readBack" | "store">,
  { readBack = true, toolErrors = "tell", ...options }: LangChainMiddlewareOptions = {},
): LangChainMiddleware {
  const isAsked = readBack !== false && spillway.store !== null;
  const tools = isAsked ? spillway.readBack("langchain", readBack === true ? {} : readBack) : [];
  const own = new Set(tools.map(({ name }) => name));
  const middleware: LangChainMiddleware = {
    name: "SpillwayMiddleware",
    tools,
    async wrapToolCall<Request extends ToolRequest, Result>(request: Request, handler: Handler<Request, Result>) {
      const { toolCall, state } = request;
      const run = async (_args: unknown, _call: object): Promise<unknown> => handler(request);
      const clamped = own.has(toolCall.name) ? run : spillway.wrapTool(run, { name: toolCall.name });
      try {
        return (await clamped(toolCall.args, { toolCallId: toolCall.id, state })) as Result;
      } catch (error) {
        if (toolErrors === "throw" || isSignal(error)) throw error;
        const loaded = await loadPackage<MessagesPackage>("@langchain/core/messages").catch(() => null);
        // In a bundle the package is not to be found; then the error stays the application's.
        if (loaded === null) throw error;
        const content = `${error}\n Please fix your mistakes.`;
        // The handler's own results are such messages.
        return new loaded.ToolMessage({
          content,
          name: toolCall.name,
          tool_call_id: toolCall.id ?? "",
          status: "error",
        }) as never;
      }
    },
    wrapModelCall: async (request, handler) =>
      spillway.call(request.messages, async (messages) => handler({ ...request, messages }), {
        wire: "langchain",
        systemAndTools: await besides(request),
        ...signalOf(request),
        ...options,
      }),
  };
  return Object.assign(middleware, { [BRAND]: true });
}

interface MessagesPackage {
  ToolMessage: new (fields: { content: string; name: string; tool_call_id: string; status: "error" }) => unknown;
}

/** Interrupts, aborts, wrong arguments and errors of other middleware are LangChain's to handle. */
function isSignal(error: unknown): boolean {
  const { name, is_bubble_up: bubbles } = Object(error) as { name?: unknown; is_bubble_up?: unknown };
  return bubbles === true || /^(AbortError|MiddlewareError|ToolInvocationError)$/.test(String(name));
}

interface SchemaPackage {
  toJsonSchema(schema: unknown): unknown;
}

let schemas: Promise<SchemaPackage | null> | undefined;

async function besides({ systemMessage, tools = [] }: ModelRequest): Promise<unknown> {
  const { content } = Object(systemMessage) as { content?: unknown };
  schemas ??= loadPackage<SchemaPackage>("@langchain/core/utils/json_schema").catch(() => null);
  const loaded = await schemas;
  return [content, ...tools.map((tool) => sentOf(Object(tool), loaded))];
}

/** What a provider gets of a tool. */
function sentOf(tool: Record<string, unknown>, loaded: SchemaPackage | null): unknown {
  const { name, description, schema } = tool;
  // A provider's own tool is JSON already.
  if (isPlain(tool) && schema === undefined) return tool;
  // Where the package is not to be found, no more is known than what is JSON by itself.
  if (loaded === null) return { name, description, ...(isPlain(schema) && { schema }) };
  try {
    return { name, description, schema: loaded.toJsonSchema(schema) };
  } catch {
    return { name, description };
  }
}

function isPlain(value: unknown): boolean {
  return isRecord(value) && Object.getPrototypeOf(value) === Object.prototype;
}

function signalOf({ runtime }: ModelRequest): { signal?: AbortSignal } {
  const { signal } = Object(runtime) as { signal?: unknown };
  return signal instanceof AbortSignal ? { signal } : {};
}
