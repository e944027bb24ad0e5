import type { CallOptions } from "../../call/call-options.ts";
import type { Policy } from "../../contract/policy.ts";
import { badInput, OverflowError } from "../../errors.ts";
import type { Spillway } from "../../spillway.ts";
import { isRecord, parsedJson } from "../../values.ts";

/** What may be said for the requests of one client. */
export type AnthropicMiddlewareOptions = Pick<CallOptions, "session" | "window" | "pruning" | "media">;

/** A request as Anthropic's client hands it to its middleware. */
interface ApiRequest {
  url: string;
  method?: string | undefined;
  headers: Headers;
  body?: unknown;
}

/** Middleware for `new Anthropic({ middleware: [...] })`, as the SDK types it. */
export type AnthropicMiddleware = <Request extends ApiRequest>(
  request: Request,
  next: (request: Request) => Promise<Response>,
) => Promise<Response>;

/**
 * Middleware for Anthropic's client, the tool runner included: the messages of each request are pruned on their way, and if
 * the provider refuses them for their size they are made smaller and sent again. Where the provider clears or compacts by
 * itself (`context_management`, `compaction`) nothing is pruned here. The tool runner keeps the conversation at the provider
 * unless it is given `thread: false`; then only new messages are sent, and there is nothing to prune.
 */
export function spillwayMiddleware(
  spillway: Pick<Spillway, "call">,
  options: AnthropicMiddlewareOptions = {},
): AnthropicMiddleware {
  return async (request, next) => {
    const body = bodyOf(request);
    if (body === null) return next(request);
    const isCleared = body.context_management !== undefined || body.compaction !== undefined;
    const refused: { error: Error; response: Response }[] = [];
    try {
      return await spillway.call(
        body.messages,
        async (messages) => {
          const isSame =
            messages.length === body.messages.length && messages.every((each, at) => each === body.messages[at]);
          const response = await next(isSame ? request : changed(request, { ...body, messages }));
          if (response.ok || response.status >= 500) return response;
          const text = await response.clone().text();
          const error = Object.assign(new Error(text), { status: response.status, error: parsedJson(text) });
          refused.push({ error, response });
          throw error;
        },
        {
          wire: "anthropic",
          provider: "anthropic",
          systemAndTools: [body.system, body.tools],
          ...(typeof body.model === "string" && { model: body.model }),
          ...(typeof body.max_tokens === "number" && { answerTokens: body.max_tokens }),
          ...options,
          ...(isCleared && { pruning: { mode: "off" as const } }),
        },
      );
    } catch (error) {
      // The client makes its own error of a refusal. What else failed, such as the second send, is the client's.
      const reason = error instanceof OverflowError ? error.cause : error;
      const last = refused.find((each) => each.error === reason);
      if (last === undefined) throw error;
      return last.response;
    }
  };
}

type Body = Record<string, unknown> & { messages: unknown[] };

/** The body of a request for an answer; null for any other request. */
function bodyOf({ url, method, body }: ApiRequest): Body | null {
  if (method?.toUpperCase() !== "POST" || typeof body !== "string" || !new URL(url).pathname.endsWith("/messages"))
    return null;
  const read = parsedJson(body);
  return isRecord(read) && Array.isArray(read.messages) ? (read as Body) : null;
}

function changed<Request extends ApiRequest>(request: Request, body: Body): Request {
  const headers = new Headers(request.headers);
  headers.delete("content-length");
  return { ...request, headers, body: JSON.stringify(body) };
}

/** The provider's own context editing, with the numbers of our policy: for `context_management` of a request. */
export interface ContextManagement {
  edits: {
    type: "clear_tool_uses_20250919";
    trigger: { type: "input_tokens"; value: number };
    keep: { type: "tool_uses"; value: number };
    clear_at_least: { type: "input_tokens"; value: number };
    exclude_tools: string[];
    clear_tool_inputs: boolean;
  }[];
}

/**
 * Our pruning policy in the words of Anthropic's context editing (beta `context-management-2025-06-27`), for
 * applications whose provider should clear old results. It clears from the same share of the window as ours.
 */
export function contextManagement(spillway: { policy: Policy }, { window }: { window: number }): ContextManagement {
  if (!(Number.isFinite(window) && window > 0))
    throw badInput(`contextManagement needs the model's window in tokens; got ${String(window)}`);
  const { pruning } = spillway.policy;
  const tokens = (count: number) => Math.max(1, Math.floor(count));
  return {
    edits: [
      {
        type: "clear_tool_uses_20250919",
        trigger: { type: "input_tokens", value: tokens(window * pruning.hardClearRatio) },
        keep: { type: "tool_uses", value: Math.max(1, pruning.keepLastAssistants) },
        clear_at_least: {
          type: "input_tokens",
          value: tokens(Math.min(window / 3, Math.max(pruning.clearAtLeastTokens, window * pruning.clearAtLeastShare))),
        },
        // The provider knows no patterns.
        exclude_tools: pruning.tools.deny.filter((name) => !name.includes("*")),
        clear_tool_inputs: pruning.callArguments,
      },
    ],
  };
}
