import { isRecord } from "../../values.ts";
import type { FakeRefusal, FakeReply, FakeSizes } from "./fake-provider.ts";
import { listOf, pieces, type Speech, type Turn } from "./speech.ts";

const FROM_MEMORY = "Gemini's API, wording from memory";
const THREADS = "https://github.com/google-gemini/gemini-cli/issues/";

/** Speaks Gemini's generateContent. */
export const gemini: Speech = {
  route: (path) =>
    /:(streamG|g)enerateContent$/.test(path) ? "answer" : path.endsWith(":countTokens") ? "count" : null,
  model: (_body, path) => /\/models\/([^/:]+):/.exec(path)?.[1] ?? "unknown",
  wantsStream: (_body, path) => path.endsWith(":streamGenerateContent"),
  reads: ["systemInstruction", "tools", "contents"],
  // The tokens that are reserved for the answer do not count against the limit of the input.
  maxOutput: () => 0,
  maxRequestBytes: 20 * 1024 * 1024,
  countsOutput: false,

  badJson: (_raw, at) =>
    refusal(
      at === null ? "Invalid JSON payload received." : "Invalid JSON payload received. Illegal surrogate in a string.",
      "Gemini's API, the first words from memory, the rest made up",
    ),
  pairs: findFault,
  overflow: ({ inputTokens, window }: FakeSizes) =>
    inputTokens <= window
      ? null
      : refusal(
          `The input token count (${inputTokens}) exceeds the maximum number of tokens allowed (${window}).`,
          `${THREADS}27197`,
        ),
  tooManyBytes: ({ maxBytes }: FakeSizes) =>
    refusal(`Request payload size exceeds the limit: ${maxBytes} bytes.`, FROM_MEMORY),
  tooFast: ({ limit, retryMs }, model) => {
    const seconds = (retryMs / 1000).toFixed(3);
    const metric = "generativelanguage.googleapis.com/generate_content_free_tier_input_token_count";
    const message = `You exceeded your current quota, please check your plan and billing details. For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits. \n* Quota exceeded for metric: ${metric}, limit: ${limit}, model: ${model}\nPlease retry in ${seconds}s.`;
    const details = [
      {
        "@type": "type.googleapis.com/google.rpc.QuotaFailure",
        violations: [
          {
            quotaMetric: metric,
            quotaId: "GenerateContentInputTokensPerModelPerMinute-FreeTier",
            quotaValue: String(limit),
          },
        ],
      },
      { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: `${Math.ceil(retryMs / 1000)}s` },
    ];
    const error = { code: 429, message, status: "RESOURCE_EXHAUSTED", details };
    return { status: 429, body: { error }, source: `${THREADS}13112` };
  },
  counted: (tokens) => ({ totalTokens: tokens }),

  answer: (reply, turn) => chunk(turn, partsOf(reply), true),
  stream: (reply, turn) => {
    const parts = partsOf(reply).flatMap((part): Part[] =>
      "text" in part ? pieces(part.text).map((text) => ({ text })) : [part],
    );
    return parts.map(
      (part, place) => `data: ${JSON.stringify(chunk(turn, [part], place === parts.length - 1))}\r\n\r\n`,
    );
  },
};

function refusal(message: string, source: string): FakeRefusal {
  return { status: 400, body: { error: { code: 400, message, status: "INVALID_ARGUMENT" } }, source };
}

/** Finds a turn whose answers are not as many as the calls of the turn before, in the same order. */
function findFault(body: Record<string, unknown>): FakeRefusal | null {
  let open: unknown[] = [];
  for (const content of [...listOf(body, "contents"), {}]) {
    const names = (field: string) =>
      listOf(content, "parts").flatMap((part) => (isRecord(part[field]) ? [part[field].name] : []));
    const answers = names("functionResponse");
    if (answers.length !== open.length || answers.some((name, place) => name !== open[place])) {
      if (open.length === 0)
        return refusal(
          "Please ensure that function response turn comes immediately after a function call turn.",
          FROM_MEMORY,
        );
      const message =
        "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.";
      return refusal(message, `${THREADS}16543`);
    }
    open = names("functionCall");
  }
  return null;
}

type Part = { text: string } | { functionCall: { id?: string; name: string; args: unknown } };

function partsOf({ text, calls = [] }: FakeReply): Part[] {
  const said = calls.length === 0 ? (text ?? "") : text;
  return [
    ...(said === undefined ? [] : [{ text: said }]),
    ...calls.map(({ id, tool, input }) => ({
      functionCall: { ...(id !== undefined && { id }), name: tool, args: input },
    })),
  ];
}

function chunk({ index, model, inputTokens, outputTokens }: Turn, parts: Part[], isLast: boolean) {
  const usage = {
    promptTokenCount: inputTokens,
    candidatesTokenCount: outputTokens,
    totalTokenCount: inputTokens + outputTokens,
  };
  return {
    candidates: [{ content: { parts, role: "model" }, index: 0, ...(isLast && { finishReason: "STOP" }) }],
    usageMetadata: isLast ? usage : { promptTokenCount: inputTokens, totalTokenCount: inputTokens },
    modelVersion: model,
    responseId: `fake-${index}`,
  };
}
