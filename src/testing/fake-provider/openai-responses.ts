import { isRecord } from "../../values.ts";
import type { FakeMinute, FakeRefusal, FakeReply, FakeSizes } from "./fake-provider.ts";
import { event, listOf, pieces, type Speech, type StreamEvent, type Turn } from "./speech.ts";

/** Makes an error in OpenAI's form. */
export function openaiRefusal(
  message: string,
  source: string,
  { param = null, code = null, type = "invalid_request_error", status = 400 }: Partial<OpenaiError> = {},
): FakeRefusal {
  return { status, body: { error: { message, type, param, code } }, source };
}

interface OpenaiError {
  param: string | null;
  code: string | null;
  type: string;
  status: number;
}

/** Refuses a body that is not JSON. The wording is OpenAI's, which names no place. */
export function openaiBadJson(): FakeRefusal {
  return openaiRefusal(
    "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON.)",
    "OpenAI's API, wording from memory",
  );
}

/**
 * Refuses a request because the account has used its tokens of this minute. If the request alone is over the limit, the
 * text says to shrink it, not to wait.
 */
export function openaiTooFast({ limit, used, requested, retryMs }: FakeMinute, model: string): FakeRefusal {
  const about = "Visit https://platform.openai.com/account/rate-limits to learn more.";
  const where = `for ${model} in organization org-fake on tokens per min (TPM)`;
  const kind = { type: "tokens", code: "rate_limit_exceeded", status: 429 };
  const headers = { "x-ratelimit-limit-tokens": String(limit) };
  if (requested > limit) {
    const message = `Request too large ${where}: Limit ${limit}, Requested ${requested}. The input or output tokens must be reduced in order to run successfully. ${about}`;
    return { ...openaiRefusal(message, "https://github.com/vanderschaarlab/climb/issues/1", kind), headers };
  }
  const message = `Rate limit reached ${where}: Limit ${limit}, Used ${used}, Requested ${requested}. Please try again in ${retryMs}ms. ${about}`;
  return {
    ...openaiRefusal(message, "https://github.com/BuilderIO/micro-agent/issues/86", kind),
    headers: { ...headers, "retry-after-ms": String(retryMs), "x-ratelimit-remaining-tokens": String(limit - used) },
  };
}

/** Refuses a body that is over the limit of the web server in front of the API. */
export function openaiTooManyBytes(): FakeRefusal {
  return {
    status: 413,
    body: "<html><head><title>413 Request Entity Too Large</title></head><body></body></html>",
    source: "what web servers send in front of it",
  };
}

/** Speaks OpenAI's Responses, with the history in the request. */
export const openaiResponses: Speech = {
  route: (path) => (path.endsWith("/responses") ? "answer" : path.endsWith("/responses/input_tokens") ? "count" : null),
  model: ({ model }) => String(model),
  wantsStream: ({ stream }) => stream === true,
  reads: ["instructions", "input", "tools"],
  maxOutput: ({ max_output_tokens }) => (typeof max_output_tokens === "number" ? max_output_tokens : 0),
  maxRequestBytes: 64 * 1024 * 1024,
  countsOutput: true,

  badJson: openaiBadJson,
  pairs: findFault,
  overflow: ({ inputTokens, outputTokens, window }: FakeSizes) => {
    if (inputTokens + outputTokens <= window) return null;
    const message = "Your input exceeds the context window of this model. Please adjust your input and try again.";
    return openaiRefusal(message, "https://github.com/openai/codex/issues/19269", {
      param: "input",
      code: "context_length_exceeded",
    });
  },
  /** The stream begins and then fails, as seen in https://github.com/dyad-sh/dyad/issues/1672. */
  overflowStream: ({ body }, turn) => {
    const error = isRecord(body) ? body.error : null;
    return numbered([
      { type: "response.created", response: response(turn, "in_progress", []) },
      { type: "response.in_progress", response: response(turn, "in_progress", []) },
      { type: "error", error },
      { type: "response.failed", response: { ...response(turn, "failed", []), error } },
    ]);
  },
  tooManyBytes: openaiTooManyBytes,
  tooFast: openaiTooFast,
  counted: (tokens) => ({ object: "response.input_tokens", input_tokens: tokens }),

  answer: (reply, turn) => response(turn, "completed", itemsOf(reply, turn)),
  stream: (reply, turn) => {
    const items = itemsOf(reply, turn);
    return numbered([
      { type: "response.created", response: response(turn, "in_progress", []) },
      { type: "response.in_progress", response: response(turn, "in_progress", []) },
      ...items.flatMap((item, output_index) => eventsOf(item, output_index)),
      { type: "response.completed", response: response(turn, "completed", items) },
    ]);
  },
};

/** Finds a call without an output, or an output without a call before it. */
function findFault(body: Record<string, unknown>): FakeRefusal | null {
  const open = new Set<unknown>();
  const known = new Set<unknown>();
  for (const { type, call_id } of listOf(body, "input")) {
    if (type === "function_call") {
      open.add(call_id);
      known.add(call_id);
    }
    if (type !== "function_call_output") continue;
    if (!known.has(call_id)) {
      const message = `No tool call found for function call output with call_id ${call_id}.`;
      return openaiRefusal(message, "https://github.com/microsoft/vscode/issues/320060", { param: "input" });
    }
    open.delete(call_id);
  }
  const [first] = open;
  if (first === undefined) return null;
  const message = `No tool output found for function call ${first}.`;
  return openaiRefusal(message, "https://github.com/symgraph/GhidrAssist/issues/78", { param: "input" });
}

type Item =
  | {
      type: "message";
      id: string;
      status: string;
      role: string;
      content: { type: string; text: string; annotations: unknown[] }[];
    }
  | {
      type: "function_call";
      id: string;
      status: string;
      call_id: string;
      name: string;
      namespace?: string;
      arguments: string;
    };

function itemsOf({ text, calls = [] }: FakeReply, { index }: Turn): Item[] {
  const message = (words: string): Item => ({
    type: "message",
    id: `msg_fake_${index}`,
    status: "completed",
    role: "assistant",
    content: [{ type: "output_text", text: words, annotations: [] }],
  });
  return [
    ...(text === undefined || text === "" ? [] : [message(text)]),
    ...calls.map(
      ({ id, tool, input, namespace }, place): Item => ({
        type: "function_call",
        id: `fc_fake_${index}_${place}`,
        status: "completed",
        call_id: id ?? `call_fake_${index}_${place}`,
        name: tool,
        ...(namespace !== undefined && { namespace }),
        arguments: JSON.stringify(input),
      }),
    ),
  ];
}

function eventsOf(item: Item, output_index: number): StreamEvent[] {
  const at = { item_id: item.id, output_index };
  const added = (started: object) => ({
    type: "response.output_item.added",
    output_index,
    item: { ...started, status: "in_progress" },
  });
  const done = { type: "response.output_item.done", output_index, item };
  if (item.type === "function_call") {
    const name = "response.function_call_arguments";
    return [
      added({ ...item, arguments: "" }),
      ...pieces(item.arguments).map((delta) => ({ type: `${name}.delta`, ...at, delta })),
      { type: `${name}.done`, ...at, name: item.name, arguments: item.arguments },
      done,
    ];
  }
  const part = item.content[0] ?? { type: "output_text", text: "", annotations: [] };
  const inside = { ...at, content_index: 0 };
  return [
    added({ ...item, content: [] }),
    { type: "response.content_part.added", ...inside, part: { ...part, text: "" } },
    ...pieces(part.text).map((delta) => ({ type: "response.output_text.delta", ...inside, delta, logprobs: [] })),
    { type: "response.output_text.done", ...inside, text: part.text, logprobs: [] },
    { type: "response.content_part.done", ...inside, part },
    done,
  ];
}

function response({ index, model, inputTokens, outputTokens }: Turn, status: string, output: Item[]) {
  const usage = {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: inputTokens + outputTokens,
  };
  return {
    id: `resp_fake_${index}`,
    object: "response",
    created_at: 1_700_000_000,
    status,
    error: null,
    incomplete_details: null,
    model,
    output,
    parallel_tool_calls: true,
    usage: status === "completed" ? usage : null,
  };
}

function numbered(events: StreamEvent[]): string[] {
  return events.map((one, sequence_number) => event({ ...one, sequence_number }, one.type));
}
