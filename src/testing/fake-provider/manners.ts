import type { FakeMinute, FakeProviderOptions, FakeRefusal, FakeSizes, SpeaksAs } from "./fake-provider.ts";

type Refuse = NonNullable<FakeProviderOptions["refuse"]>;

/** A refusal that was seen in a thread on GitHub. */
const seen = (thread: string, body: unknown, status = 400): FakeRefusal => ({
  status,
  body,
  source: `https://github.com/${thread}`,
});

/** Says how providers with OpenAI's API refuse in their own words. */
export const manners = {
  cerebras: overWindow(({ window }, total) =>
    seen("anomalyco/opencode/issues/1551", {
      message: `Please reduce the length of the messages or completion. Current length is ${total} while limit is ${window}`,
      type: "invalid_request_error",
      param: "messages",
      code: "context_length_exceeded",
    }),
  ),
  copilot: overPrompt(({ inputTokens, window }) =>
    seen("microsoft/vscode/issues/289514", {
      error: {
        message: `prompt token count of ${inputTokens} exceeds the limit of ${window}`,
        code: "model_max_prompt_tokens_exceeded",
      },
    }),
  ),
  deepseek: overWindow(({ inputTokens, outputTokens, window }, total) =>
    seen("Anxcye/anx-reader/issues/710", {
      error: {
        message: `This model's maximum context length is ${window} tokens. However, you requested ${total} tokens (${inputTokens} in the messages, ${outputTokens} in the completion). Please reduce the length of the messages or completion.`,
        type: "invalid_request_error",
        param: null,
        code: "invalid_request_error",
      },
    }),
  ),
  groq: (why, { minute }) =>
    minute !== undefined
      ? groqTooFast(minute)
      : why === "window"
        ? seen("thepersonalaicompany/amurex-backend/issues/51", {
            error: {
              message: "Please reduce the length of the messages or completion.",
              type: "invalid_request_error",
              param: "messages",
              code: "context_length_exceeded",
            },
          })
        : null,
  kimi: overWindow(({ window }, total) =>
    seen("MoonshotAI/kimi-cli/issues/2011", {
      error: {
        message: `Invalid request: Your request exceeded model token limit: ${window} (requested: ${total})`,
        type: "invalid_request_error",
      },
    }),
  ),
  llamacpp: overPrompt(({ inputTokens, window }) =>
    seen("oobabooga/textgen/issues/7257", {
      error: {
        code: 400,
        message:
          "the request exceeds the available context size. try increasing the context size or enable context shift",
        type: "exceed_context_size_error",
        n_prompt_tokens: inputTokens,
        n_ctx: window,
      },
    }),
  ),
  openrouter: overWindow(({ inputTokens, outputTokens, window }, total) =>
    seen("Aider-AI/aider/issues/3721", {
      error: {
        message: `This endpoint's maximum context length is ${window} tokens. However, you requested about ${total} tokens (${inputTokens} of text input, ${outputTokens} in the output). Please reduce the length of either one, or use the "middle-out" transform to compress your prompt automatically.`,
        code: 400,
      },
    }),
  ),
  vllm: overWindow(({ inputTokens, outputTokens, window }, total) =>
    seen("vllm-project/vllm/issues/20409", {
      object: "error",
      message: `This model's maximum context length is ${window} tokens. However, you requested ${total} tokens (${inputTokens} in the messages, ${outputTokens} in the completion). Please reduce the length of the messages or completion. None`,
      type: "BadRequestError",
      param: null,
      code: 400,
    }),
  ),
  xai: overPrompt(({ inputTokens, window }) =>
    seen("cline/cline/issues/3120", {
      code: "Client specified an invalid argument",
      error: `This model's maximum prompt length is ${window} but the request contains ${inputTokens} tokens.`,
    }),
  ),
  zai: overWindow(() =>
    seen("zeroclaw-labs/zeroclaw/issues/4124", { error: { code: "1261", message: "Prompt exceeds max length" } }),
  ),
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
    return seen("HunorLaczko/ha-groq-cloud-api/issues/27", body(message), 413);
  }
  const seconds = Math.ceil(retryMs / 1000);
  const message = `Rate limit reached ${where}: Limit ${limit}, Used ${used}, Requested ${requested}. Please try again in ${seconds}s.`;
  return { ...seen("elizaOS/eliza/issues/4040", body(message), 429), headers: { "retry-after": String(seconds) } };
}

function overWindow(refusal: (sizes: FakeSizes, total: number) => FakeRefusal): Refuse {
  return (why, sizes) => (why === "window" ? refusal(sizes, sizes.inputTokens + sizes.outputTokens) : null);
}

/** Refuses by the prompt alone. These providers do not count the tokens that are reserved for the answer. */
function overPrompt(refusal: (sizes: FakeSizes) => FakeRefusal): Refuse {
  return (why, sizes) => (why === "window" && sizes.inputTokens > sizes.window ? refusal(sizes) : null);
}
