import { isRecord } from "../../values.ts";
import type { FakeRefusal, FakeReply, FakeSizes } from "./fake-provider.ts";
import { openaiBadJson, openaiRefusal, openaiTooFast, openaiTooManyBytes } from "./openai-responses.ts";
import { event, listOf, pieces, type Speech, type Turn } from "./speech.ts";

/** Speaks OpenAI's Chat Completions. */
export const openaiChat: Speech = {
  route: (path) => (path.endsWith("/chat/completions") ? "answer" : null),
  model: ({ model }) => String(model),
  wantsStream: ({ stream }) => stream === true,
  reads: ["messages", "tools"],
  maxOutput: ({ max_completion_tokens, max_tokens }) => {
    const most = max_completion_tokens ?? max_tokens;
    return typeof most === "number" ? most : 0;
  },
  maxRequestBytes: 64 * 1024 * 1024,
  countsOutput: true,

  badJson: openaiBadJson,
  pairs: findFault,
  overflow,
  tooManyBytes: openaiTooManyBytes,
  tooFast: openaiTooFast,
  counted: (tokens) => ({ input_tokens: tokens }),

  answer: (reply, turn) => ({
    ...opening(turn, "chat.completion"),
    choices: [
      {
        index: 0,
        message: { role: "assistant", content: reply.text ?? null, ...callsOf(reply, turn) },
        logprobs: null,
        finish_reason: stopOf(reply),
      },
    ],
    usage: usageOf(turn),
  }),
  stream: (reply, turn, body) => {
    const chunk = (delta: object, finish: string | null = null) =>
      event({
        ...opening(turn, "chat.completion.chunk"),
        choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
      });
    const wantsUsage = isRecord(body.stream_options) && body.stream_options.include_usage === true;
    return [
      chunk({ role: "assistant", content: reply.text === undefined ? null : "" }),
      ...pieces(reply.text ?? "").map((content) => chunk({ content })),
      ...(callsOf(reply, turn).tool_calls ?? []).flatMap((call, index) => [
        chunk({ tool_calls: [{ index, ...call, function: { ...call.function, arguments: "" } }] }),
        ...pieces(call.function.arguments).map((part) =>
          chunk({ tool_calls: [{ index, function: { arguments: part } }] }),
        ),
      ]),
      chunk({}, stopOf(reply)),
      ...(wantsUsage ? [event({ ...opening(turn, "chat.completion.chunk"), choices: [], usage: usageOf(turn) })] : []),
      "data: [DONE]\n\n",
    ];
  },
};

function overflow({ inputTokens, toolTokens, outputTokens, window }: FakeSizes): FakeRefusal | null {
  const total = inputTokens + outputTokens;
  if (total <= window) return null;
  const most = `This model's maximum context length is ${window} tokens. However, `;
  const kind = { param: "messages", code: "context_length_exceeded" };
  if (inputTokens > window && toolTokens > 0) {
    const each = `${inputTokens - toolTokens} in the messages, ${toolTokens} in the functions`;
    const message = `${most}your messages resulted in ${inputTokens} tokens (${each}). Please reduce the length of the messages or functions.`;
    return openaiRefusal(message, "https://github.com/Azure/azure-functions-openai-extension/issues/113", kind);
  }
  if (inputTokens > window) {
    const message = `${most}your messages resulted in ${inputTokens} tokens. Please reduce the length of the messages.`;
    return openaiRefusal(message, "https://github.com/ChatGPTNextWeb/NextChat/issues/625", kind);
  }
  const message = `${most}you requested ${total} tokens (${inputTokens} in the messages, ${outputTokens} in the completion). Please reduce the length of the messages or completion.`;
  return openaiRefusal(message, "https://github.com/Chanzhaoyu/chatgpt-web/issues/372", kind);
}

/** Finds tool messages that do not directly follow the calls that they answer, and calls without one. */
function findFault(body: Record<string, unknown>): FakeRefusal | null {
  let open: unknown[] = [];
  let callsAt = 0;
  let follows = false;
  const messages = listOf(body, "messages");
  for (const [index, message] of [...messages, {}].entries()) {
    if (message.role === "tool") {
      if (!follows) {
        const words =
          "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.";
        return openaiRefusal(words, "https://github.com/Nikunj2003/LLaMa-MCP-Streamlit/issues/1", {
          param: `messages.[${index}].role`,
        });
      }
      if (!open.includes(message.tool_call_id)) {
        const words = `Invalid parameter: 'tool_call_id' of '${message.tool_call_id}' not found in 'tool_calls' of previous message.`;
        return openaiRefusal(words, "OpenAI's API, wording from memory", { param: `messages.[${index}].tool_call_id` });
      }
      open = open.filter((id) => id !== message.tool_call_id);
      continue;
    }
    if (open.length > 0) {
      const words = `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${open.join(", ")}`;
      return openaiRefusal(words, "https://github.com/RamiAwar/dataline/issues/172", {
        param: `messages.[${callsAt + 1}].role`,
      });
    }
    open = listOf(message, "tool_calls").map(({ id }) => id);
    callsAt = index;
    follows = open.length > 0;
  }
  return null;
}

function opening({ index, model }: Turn, object: string) {
  return { id: `chatcmpl-fake-${index}`, object, created: 1_700_000_000, model, system_fingerprint: "fp_fake" };
}

function usageOf({ inputTokens, outputTokens }: Turn) {
  return { prompt_tokens: inputTokens, completion_tokens: outputTokens, total_tokens: inputTokens + outputTokens };
}

function stopOf({ calls = [] }: FakeReply): string {
  return calls.length > 0 ? "tool_calls" : "stop";
}

function callsOf({ calls = [] }: FakeReply, { index }: Turn) {
  if (calls.length === 0) return {};
  const tool_calls = calls.map(({ id, tool, input }, place) => ({
    id: id ?? `call_fake_${index}_${place}`,
    type: "function",
    function: { name: tool, arguments: JSON.stringify(input) },
  }));
  return { tool_calls };
}
