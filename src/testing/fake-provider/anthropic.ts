import type { FakeMinute, FakeRefusal, FakeReply, FakeSizes } from "./fake-provider.ts";
import { event, listOf, pieces, type Speech, type StreamEvent, type Turn } from "./speech.ts";

const FROM_MEMORY = "Anthropic's API, wording from memory";
const THREADS = "https://github.com/anthropics/claude-code/issues/";

/** Speaks Anthropic's Messages API. */
export const anthropic: Speech = {
  route: (path) =>
    path.endsWith("/v1/messages") ? "answer" : path.endsWith("/v1/messages/count_tokens") ? "count" : null,
  model: ({ model }) => String(model),
  wantsStream: ({ stream }) => stream === true,
  reads: ["system", "tools", "messages"],
  maxOutput: ({ max_tokens }) => (typeof max_tokens === "number" ? max_tokens : 0),
  maxRequestBytes: 32 * 1024 * 1024,
  countsOutput: false,

  badJson: (_raw, at) =>
    refusal(
      at === null
        ? "The request body is not valid JSON"
        : `The request body is not valid JSON: no low surrogate in string: line 1 column ${at + 1} (char ${at})`,
      `${THREADS}60394`,
    ),
  pairs: findFault,
  overflow,
  tooManyBytes: () => ({
    status: 413,
    body: { error: { type: "request_too_large", message: "Request exceeds the maximum size" } },
    source: `${THREADS}14567`,
  }),
  tooFast: ({ limit, retryMs }: FakeMinute) => {
    const limited = limit.toLocaleString("en-US");
    const message = `This request would exceed the rate limit for your organization (org_fake) of ${limited} input tokens per minute. For details, refer to: https://docs.anthropic.com/en/api/rate-limits. You can see the response headers for current usage. Please reduce the prompt length or the maximum tokens requested, or try again later. You may also contact sales at https://www.anthropic.com/contact-sales to discuss your options for a rate limit increase.`;
    return {
      ...refusal(message, "https://github.com/OpenHands/OpenHands/issues/9259", "rate_limit_error", 429),
      headers: {
        "retry-after": String(Math.ceil(retryMs / 1000)),
        "anthropic-ratelimit-input-tokens-limit": String(limit),
      },
    };
  },
  counted: (tokens) => ({ input_tokens: tokens }),

  answer: (reply, turn) => ({
    ...opening(turn),
    content: blocks(reply, turn),
    stop_reason: stopOf(reply),
    usage: { input_tokens: turn.inputTokens, output_tokens: turn.outputTokens },
  }),
  stream: (reply, turn) => [
    named({
      type: "message_start",
      message: { ...opening(turn), content: [], usage: { input_tokens: turn.inputTokens, output_tokens: 1 } },
    }),
    ...blocks(reply, turn).flatMap((block, index) => [
      named({ type: "content_block_start", index, content_block: started(block) }),
      ...deltas(block).map((delta) => named({ type: "content_block_delta", index, delta })),
      named({ type: "content_block_stop", index }),
    ]),
    named({
      type: "message_delta",
      delta: { stop_reason: stopOf(reply), stop_sequence: null },
      usage: { output_tokens: turn.outputTokens },
    }),
    named({ type: "message_stop" }),
  ],
};

function refusal(message: string, source: string, type = "invalid_request_error", status = 400): FakeRefusal {
  return { status, body: { type: "error", error: { type, message }, request_id: "req_fake" }, source };
}

function overflow({ inputTokens, outputTokens, window }: FakeSizes): FakeRefusal | null {
  if (inputTokens > window)
    return refusal(
      `prompt is too long: ${inputTokens} tokens > ${window} maximum`,
      "https://github.com/earendil-works/pi/issues/102",
    );
  if (inputTokens + outputTokens <= window) return null;
  const sum = `${inputTokens} + ${outputTokens} > ${window}`;
  const message = `input length and \`max_tokens\` exceed context limit: ${sum}, decrease input length or \`max_tokens\` and try again`;
  return refusal(message, "https://github.com/continuedev/continue/issues/6080");
}

/** Finds results that do not come first in the message after their calls, or that are missing or doubled. */
function findFault(body: Record<string, unknown>): FakeRefusal | null {
  const messages = listOf(body, "messages");
  let open: unknown[] = [];
  for (const [index, message] of [...messages, {}].entries()) {
    const content = listOf(message, "content");
    const first = content.findIndex(({ type }) => type !== "tool_result");
    const leading = content.slice(0, first < 0 ? content.length : first).map(({ tool_use_id }) => tool_use_id);
    const missing = open.filter((id) => !leading.includes(id));
    if (missing.length > 0) {
      const message = `messages.${index - 1}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`;
      return refusal(message, `${THREADS}8612`);
    }
    for (const [place, block] of content.entries()) {
      const at = `messages.${index}.content.${place}`;
      const id = block.tool_use_id;
      if (block.type === "text" && block.text === "")
        return refusal("messages: text content blocks must be non-empty", FROM_MEMORY);
      if (block.type !== "tool_result") continue;
      if (!open.includes(id)) {
        const message = `${at}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`;
        return refusal(message, `${THREADS}13460`);
      }
      if (leading.indexOf(id) !== place) {
        const message = `${at}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`;
        return refusal(message, FROM_MEMORY);
      }
    }
    open = message.role === "assistant" ? content.filter(({ type }) => type === "tool_use").map(({ id }) => id) : [];
  }
  return null;
}

function opening({ index, model }: Turn) {
  return { id: `msg_fake_${index}`, type: "message", role: "assistant", model, stop_reason: null, stop_sequence: null };
}

function stopOf({ calls = [] }: FakeReply): string {
  return calls.length > 0 ? "tool_use" : "end_turn";
}

type Block = { type: "text"; text: string } | { type: "tool_use"; id: string; name: string; input: unknown };

function blocks({ text, calls = [] }: FakeReply, { index }: Turn): Block[] {
  return [
    ...(text === undefined || text === "" ? [] : [{ type: "text" as const, text }]),
    ...calls.map(({ id, tool, input }, place) => ({
      type: "tool_use" as const,
      id: id ?? `toolu_fake_${index}_${place}`,
      name: tool,
      input,
    })),
  ];
}

function started(block: Block) {
  return block.type === "text" ? { type: "text", text: "" } : { ...block, input: {} };
}

function deltas(block: Block) {
  return block.type === "text"
    ? pieces(block.text).map((text) => ({ type: "text_delta", text }))
    : pieces(JSON.stringify(block.input)).map((partial_json) => ({ type: "input_json_delta", partial_json }));
}

function named(data: StreamEvent): string {
  return event(data, data.type);
}
