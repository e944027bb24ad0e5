import type { FakeMinute, FakeProviderOptions, FakeRefusal, FakeSizes, SpeaksAs } from "./fake-provider.ts";

type Refuse = NonNullable<FakeProviderOptions["refuse"]>;

const THREADS = "https://github.com/";

/** Says how providers with OpenAI's API refuse in their own words. */
export const manners = {
  cerebras: overWindow(({ window }, total) => ({
    status: 400,
    body: {
      message: `Please reduce the length of the messages or completion. Current length is ${total} while limit is ${window}`,
      type: "invalid_request_error",
      param: "messages",
      code: "context_length_exceeded",
    },
    source: `${THREADS}anomalyco/opencode/issues/1551`,
  })),
  copilot: overPrompt(({ inputTokens, window }) => ({
    status: 400,
    body: {
      error: {
        message: `prompt token count of ${inputTokens} exceeds the limit of ${window}`,
        code: "model_max_prompt_tokens_exceeded",
      },
    },
    source: `${THREADS}microsoft/vscode/issues/289514`,
  })),
  deepseek: overWindow(({ inputTokens, outputTokens, window }, total) => ({
    status: 400,
    body: {
      error: {
        message: `This model's maximum context length is ${window} tokens. However, you requested ${total} tokens (${inputTokens} in the messages, ${outputTokens} in the completion). Please reduce the length of the messages or completion.`,
        type: "invalid_request_error",
        param: null,
        code: "invalid_request_error",
      },
    },
    source: `${THREADS}Anxcye/anx-reader/issues/710`,
  })),
  groq: (why, { minute }) =>
    minute !== undefined
      ? groqTooFast(minute)
      : why === "window"
        ? {
            status: 400,
            body: {
              error: {
                message: "Please reduce the length of the messages or completion.",
                type: "invalid_request_error",
                param: "messages",
                code: "context_length_exceeded",
              },
            },
            source: `${THREADS}thepersonalaicompany/amurex-backend/issues/51`,
          }
        : null,
  kimi: overWindow(({ window }, total) => ({
    status: 400,
    body: {
      error: {
        message: `Invalid request: Your request exceeded model token limit: ${window} (requested: ${total})`,
        type: "invalid_request_error",
      },
    },
    source: `${THREADS}MoonshotAI/kimi-cli/issues/2011`,
  })),
  llamacpp: overPrompt(({ inputTokens, window }) => ({
    status: 400,
    body: {
      error: {
        code: 400,
        message:
          "the request exceeds the available context size. try increasing the context size or enable context shift",
        type: "exceed_context_size_error",
        n_prompt_tokens: inputTokens,
        n_ctx: window,
      },
    },
    source: `${THREADS}oobabooga/textgen/issues/7257`,
  })),
  openrouter: overWindow(({ inputTokens, outputTokens, window }, total) => ({
    status: 400,
    body: {
      error: {
        message: `This endpoint's maximum context length is ${window} tokens. However, you requested about ${total} tokens (${inputTokens} of text input, ${outputTokens} in the output). Please reduce the length of either one, or use the "middle-out" transform to compress your prompt automatically.`,
        code: 400,
      },
    },
    source: `${THREADS}Aider-AI/aider/issues/3721`,
  })),
  vllm: overWindow(({ inputTokens, outputTokens, window }, total) => ({
    status: 400,
    body: {
      object: "error",
      message: `This model's maximum context length is ${window} tokens. However, you requested ${total} tokens (${inputTokens} in the messages, ${outputTokens} in the completion). Please reduce the length of the messages or completion. None`,
      type: "BadRequestError",
      param: null,
      code: 400,
    },
    source: `${THREADS}vllm-project/vllm/issues/20409`,
  })),
  xai: overPrompt(({ inputTokens, window }) => ({
    status: 400,
    body: {
      code: "Client specified an invalid argument",
      error: `This model's maximum prompt length is ${window} but the request contains ${inputTokens} tokens.`,
    },
    source: `${THREADS}cline/cline/issues/3120`,
  })),
  zai: overWindow(() => ({
    status: 400,
    body: { error: { code: "1261", message: "Prompt exceeds max length" } },
    source: `${THREADS}zeroclaw-labs/zeroclaw/issues/4124`,
  })),
} satisfies Record<SpeaksAs, Refuse>;

/** If one request is over the whole minute's limit, Groq answers with 413, because waiting does not help. */
function groqTooFast({ limit, used, requested, retryMs }: FakeMinute): FakeRefusal {
  const where = "for model `fake` in organization `org_fake` service tier `on_demand` on tokens per minute (TPM)";
  const more = "Need more tokens? Upgrade to Dev Tier today at https://console.groq.com/settings/billing";
  const body = (message: string) => ({
    error: { message: `${message} ${more}`, type: "tokens", code: "rate_limit_exceeded" },
  });
  if (requested > limit) {
    const message = `Request too large ${where}: Limit ${limit}, Requested ${requested}, please reduce your message size and try again.`;
    return { status: 413, body: body(message), source: `${THREADS}HunorLaczko/ha-groq-cloud-api/issues/27` };
  }
  const seconds = Math.ceil(retryMs / 1000);
  const message = `Rate limit reached ${where}: Limit ${limit}, Used ${used}, Requested ${requested}. Please try again in ${seconds}s.`;
  return {
    status: 429,
    body: body(message),
    headers: { "retry-after": String(seconds) },
    source: `${THREADS}elizaOS/eliza/issues/4040`,
  };
}

function overWindow(refusal: (sizes: FakeSizes, total: number) => FakeRefusal): Refuse {
  return (why, sizes) => (why === "window" ? refusal(sizes, sizes.inputTokens + sizes.outputTokens) : null);
}

/** Refuses by the prompt alone. These providers do not count the tokens that are reserved for the answer. */
function overPrompt(refusal: (sizes: FakeSizes) => FakeRefusal): Refuse {
  return (why, sizes) => (why === "window" && sizes.inputTokens > sizes.window ? refusal(sizes) : null);
}
