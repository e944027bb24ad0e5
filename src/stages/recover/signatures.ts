import type { ProviderSignatures } from "./compile-signatures.ts";

const EXTRA_USAGE = "extra usage is required for long context";
const OPENAI_TPM = [
  "request too large for ... on tokens per min (tpm): limit {limit}, requested {total}",
  "rate limit reached for ... on tokens per min (tpm): limit {limit}, used {number}, requested {total}",
];
const THROTTLED = [
  "too many tokens, please wait before trying again",
  "too many tokens per day, please wait",
  "too many requests, please wait before trying again",
];
const GROQ_TPM = [
  "request too large for model ... on tokens per minute (tpm): limit {limit}, requested {total}",
  "rate limit reached for model ... on tokens per minute (tpm): limit {limit}, used {number}, requested {total}",
];

/** Every provider whose refusals are known. A new provider is a row of this list. */
export const providers: readonly ProviderSignatures[] = [
  {
    provider: "anthropic",
    hosts: ["anthropic.com"],
    signatures: [
      {
        rule: "anthropic-prompt-too-long",
        kind: "context-overflow",
        text: ["prompt is too long: {observed} tokens > {limit} maximum"],
        not: ["the model returned the following errors"],
      },
      {
        rule: "anthropic-input-and-output",
        kind: "context-overflow",
        text: ["input length and max_tokens exceed context limit ... {input} + {output} > {limit}"],
      },
      {
        // Without extra usage a plan takes the standard window, whatever the model's own is.
        rule: "anthropic-extra-usage",
        kind: "context-overflow",
        text: [EXTRA_USAGE],
        limitTokens: 200_000,
      },
      { rule: "anthropic-window-reached", kind: "context-overflow", stop: ["model_context_window_exceeded"] },
      { rule: "anthropic-request-too-large", kind: "payload-too-large", code: ["request_too_large"] },
      {
        rule: "anthropic-tokens-per-minute-ceiling",
        kind: "request-ceiling",
        text: ["exceed ... rate limit ... of {limit} input tokens per minute"],
        over: true,
      },
      {
        rule: "anthropic-tokens-per-minute",
        kind: "rate-limit",
        text: ["exceed ... rate limit ... of {limit} input tokens per minute"],
        over: false,
      },
      {
        rule: "anthropic-rate-limit",
        kind: "rate-limit",
        code: ["rate_limit_error"],
        not: ["input tokens per minute", EXTRA_USAGE],
      },
      {
        rule: "anthropic-max-tokens",
        kind: "output-limit",
        text: ["max_tokens: {output} > {limit}, which is the maximum allowed number of output tokens"],
      },
      { rule: "anthropic-credit", kind: "other", text: ["credit balance is too low"] },
    ],
  },
  {
    provider: "openai",
    hosts: ["api.openai.com"],
    signatures: [
      {
        rule: "openai-context-length",
        kind: "context-overflow",
        code: ["context_length_exceeded"],
        text: [
          "maximum context length is {limit} tokens. however, your messages resulted in {observed} tokens ({number} in the messages, {tools} in the functions)",
          "maximum context length is {limit} tokens. however, your messages resulted in {observed} tokens",
          "maximum context length is {limit} tokens. however, you requested {observed} tokens ({number} in the messages, {output} in the completion)",
          "maximum context length is {limit} tokens. however, you requested {observed} tokens",
        ],
      },
      {
        rule: "openai-completion-length",
        kind: "context-overflow",
        text: [
          "maximum context length is {limit} tokens, however you requested {observed} tokens ({number} in your prompt; {output} for the completion)",
          "maximum context length is {limit} tokens, however you requested {observed} tokens ({number} in your prompt, {output} for the completion)",
        ],
      },
      {
        rule: "openai-configured-limit",
        kind: "context-overflow",
        text: [
          "input tokens exceed the configured limit of {limit} tokens. your messages resulted in {observed} tokens",
          "input tokens exceed the configured limit of {limit} tokens",
        ],
      },
      {
        rule: "openai-responses-window",
        kind: "context-overflow",
        text: ["your input exceeds the context window of this model"],
      },
      {
        rule: "openai-string-length",
        kind: "payload-too-large",
        code: ["string_above_max_length"],
        text: ["content': string too long", "output': string too long", "text': string too long"],
      },
      { rule: "openai-tokens-per-minute-ceiling", kind: "request-ceiling", text: OPENAI_TPM, over: true },
      { rule: "openai-tokens-per-minute", kind: "rate-limit", text: OPENAI_TPM, over: false },
      {
        rule: "openai-rate-limit",
        kind: "rate-limit",
        text: [
          "rate limit reached for ... on requests per min (rpm)",
          "rate limit reached for ... on requests per day (rpd)",
          "rate limit reached for ... on tokens per day (tpd)",
        ],
        not: ["rate limit reached for model"],
      },
      { rule: "openai-quota", kind: "other", code: ["insufficient_quota"] },
      {
        rule: "openai-max-tokens",
        kind: "output-limit",
        text: ["max_tokens is too large: {output}. this model supports at most {limit} completion tokens"],
      },
    ],
  },
  // Azure refuses for size in OpenAI's own words. The address tells the two apart.
  {
    provider: "azure",
    hosts: ["openai.azure.com", "services.ai.azure.com", "cognitiveservices.azure.com"],
    signatures: [
      {
        rule: "azure-rate-limit",
        kind: "rate-limit",
        text: ["have exceeded ... rate limit of your current", "have exceeded the ... rate limit for your current"],
      },
      {
        rule: "azure-peak-load",
        kind: "rate-limit",
        text: ["exceeds the maximum usage size allowed during peak load"],
      },
    ],
  },
  {
    provider: "bedrock",
    hosts: ["amazonaws.com"],
    signatures: [
      {
        rule: "bedrock-prompt-too-long",
        kind: "context-overflow",
        text: ["the model returned the following errors: prompt is too long: {observed} tokens > {limit} maximum"],
      },
      { rule: "bedrock-input-too-long", kind: "context-overflow", text: ["input is too long for requested model"] },
      {
        rule: "bedrock-validation",
        kind: "context-overflow",
        code: ["validationexception", "modelstreamerrorexception"],
        text: [
          "max input tokens: {limit}, request input token count: {observed}",
          "max input token",
          "input token ... exceed",
          "too many input tokens",
          "input tokens ... exceed",
        ],
        not: ["input is too long for requested model"],
      },
      {
        rule: "bedrock-body-length",
        kind: "payload-too-large",
        text: [
          "value at 'body' failed to satisfy constraint: member must have length less than or equal to",
          "malformed input request: ... expected maxlength: {number}, actual: {number}",
          "malformed input request: expected maxlength: {number}, actual: {number}",
        ],
        // One text of a request for embeddings, which no cut of a conversation helps.
        not: ["#/texts/"],
      },
      { rule: "bedrock-throttling", kind: "rate-limit", code: ["throttlingexception"], not: THROTTLED },
      { rule: "bedrock-throttling-words", kind: "rate-limit", text: THROTTLED },
      {
        rule: "bedrock-max-tokens",
        kind: "output-limit",
        text: [
          "the maximum tokens you requested exceeds the model limit of {limit}",
          "the maximum tokens you requested exceed the model limit of {limit}",
        ],
      },
    ],
  },
  // The words of the Gemini API and of Vertex AI.
  {
    provider: "gemini",
    hosts: ["generativelanguage.googleapis.com", "aiplatform.googleapis.com", "cloudcode-pa.googleapis.com"],
    signatures: [
      {
        rule: "gemini-input-token-count",
        kind: "context-overflow",
        text: [
          "input token count ({observed}) exceeds the maximum number of tokens allowed ({limit})",
          "input token count exceeds the maximum number of tokens allowed ({limit})",
          "input token count exceeds the maximum number of tokens allowed {limit}",
          "input token count is {observed} but ... only supports up to {limit}",
          "input token count ... exceeds the maximum number of",
          "cannot truncate to {limit}, required {observed}",
        ],
      },
      {
        rule: "gemini-payload-size",
        kind: "payload-too-large",
        text: [
          "request payload size exceeds the limit",
          "maximum request body size {number} exceeded, actual body size {number}",
        ],
      },
      {
        rule: "gemini-tokens-per-minute-ceiling",
        kind: "request-ceiling",
        code: ["resource_exhausted"],
        text: ["input_token_count, limit: {limit}"],
        over: true,
      },
      {
        rule: "gemini-tokens-per-minute",
        kind: "rate-limit",
        code: ["resource_exhausted"],
        text: ["input_token_count, limit: {limit}"],
        over: false,
      },
      {
        rule: "gemini-quota",
        kind: "rate-limit",
        code: ["resource_exhausted"],
        not: ["input_token_count, limit: {limit}"],
      },
    ],
  },
  {
    provider: "openrouter",
    hosts: ["openrouter.ai"],
    signatures: [
      {
        rule: "openrouter-endpoint-length",
        kind: "context-overflow",
        text: [
          "this endpoint's maximum context length is {limit} tokens. however, you requested about {observed} tokens ({number} of text input, {output} in the output)",
          "this endpoint's maximum context length is {limit} tokens. however, you requested about {observed} tokens ({number} of text input, {tools} of tool input, {output} in the output)",
          "this endpoint's maximum context length is {limit} tokens. however, you requested about {observed} tokens",
        ],
      },
      {
        rule: "openrouter-credits",
        kind: "other",
        text: ["requires more credits, or fewer max_tokens", "prompt tokens limit exceeded: {number} > {number}"],
      },
    ],
  },
  {
    provider: "deepseek",
    hosts: ["deepseek.com"],
    signatures: [
      {
        rule: "deepseek-context-length",
        kind: "context-overflow",
        code: ["invalid_request_error"],
        text: [
          "maximum context length is {limit} tokens. however, you requested {observed} tokens ({number} in the messages, {output} in the completion)",
        ],
        not: ["context_length_exceeded"],
      },
    ],
  },
  {
    provider: "mistral",
    hosts: ["mistral.ai"],
    signatures: [
      {
        rule: "mistral-prompt-tokens",
        kind: "context-overflow",
        text: [
          "prompt contains {observed} tokens ... too large for model with {limit} maximum context length",
          "too large for model with {limit} maximum context length",
        ],
      },
    ],
  },
  {
    provider: "groq",
    hosts: ["groq.com"],
    signatures: [
      {
        rule: "groq-context-length",
        kind: "context-overflow",
        code: ["context_length_exceeded"],
        text: ["please reduce the length of the messages or completion"],
        not: ["maximum context length", "current length is"],
      },
      { rule: "groq-tokens-per-minute-ceiling", kind: "request-ceiling", text: GROQ_TPM, over: true },
      { rule: "groq-tokens-per-minute", kind: "rate-limit", text: GROQ_TPM, over: false },
      {
        rule: "groq-rate-limit",
        kind: "rate-limit",
        text: [
          "rate limit reached for model ... on tokens per day (tpd)",
          "rate limit reached for model ... on requests per",
        ],
      },
      {
        rule: "groq-max-tokens",
        kind: "output-limit",
        text: ["max_tokens must be less than or equal to {limit}, the maximum value for max_tokens"],
      },
    ],
  },
  {
    provider: "xai",
    hosts: ["x.ai"],
    signatures: [
      {
        rule: "xai-prompt-length",
        kind: "context-overflow",
        text: [
          "this model's maximum prompt length is {limit} but the request contains {observed} tokens",
          "current message ({observed} tokens) exceeds budget ({limit} tokens)",
        ],
      },
    ],
  },
  // The words of Together and of other providers that run SGLang.
  {
    provider: "together",
    hosts: ["together.xyz", "together.ai"],
    signatures: [
      {
        rule: "together-context-length",
        kind: "context-overflow",
        text: [
          "the input ({observed} tokens) is longer than the model's context length ({limit} tokens)",
          "input ({observed} tokens) is longer than the model's context length",
          "input ({observed} tokens) is longer than model's context length",
        ],
      },
    ],
  },
  // The words of Hugging Face's server, and of servers that pass them on.
  {
    provider: "text-generation-inference",
    hosts: ["huggingface.co", "huggingface.cloud"],
    signatures: [
      {
        rule: "text-generation-inference-tokens",
        kind: "context-overflow",
        text: [
          "inputs tokens + max_new_tokens must be <= {limit}. given: {input} inputs tokens and {output} max_new_tokens",
          "inputs tokens + max_new_tokens must be",
        ],
      },
    ],
  },
  {
    provider: "cerebras",
    hosts: ["cerebras.ai"],
    signatures: [
      {
        rule: "cerebras-current-length",
        kind: "context-overflow",
        text: ["current length is {total} while limit is {limit}"],
      },
      { rule: "cerebras-no-body", kind: "context-overflow", status: [400, 413], empty: true, named: true },
    ],
  },
  {
    provider: "copilot",
    hosts: ["githubcopilot.com"],
    signatures: [
      {
        rule: "copilot-prompt-token-count",
        kind: "context-overflow",
        text: ["prompt token count of {observed} exceeds the limit of {limit}"],
      },
      { rule: "copilot-unparsed", kind: "payload-too-large", status: [413], text: ["failed to parse request"] },
    ],
  },
  // GitHub Models answers 413, which elsewhere means bytes, and names tokens.
  {
    provider: "github-models",
    hosts: ["models.github.ai", "models.inference.ai.azure.com"],
    signatures: [
      {
        rule: "github-models-max-size",
        kind: "context-overflow",
        text: ["body too large for ... max size: {limit} tokens"],
      },
    ],
  },
  {
    provider: "kimi",
    hosts: ["moonshot.ai", "moonshot.cn", "kimi.com"],
    signatures: [
      {
        rule: "kimi-token-limit",
        kind: "context-overflow",
        text: ["exceeded model token limit: {limit} (requested: {total})", "exceeded model token limit"],
      },
      {
        rule: "kimi-message-size",
        kind: "payload-too-large",
        text: ["total message size {number} exceeds limit {number}"],
      },
      {
        rule: "kimi-max-length",
        kind: "context-overflow",
        text: ["model max length exceeded, max length:{limit}", "model max length exceeded, max length: {limit}"],
      },
      {
        // The words for a request over what the plan includes. The status is that of a wrong key.
        rule: "kimi-plan-context",
        kind: "context-overflow",
        status: [401],
        text: ["supports only 256k context", "supports only ... 256k context"],
        limitTokens: 262_144,
      },
    ],
  },
  {
    provider: "minimax",
    hosts: ["minimax.io", "minimaxi.com", "minimax.chat"],
    signatures: [
      // The number after these words, "(2013)", is the error's code, not a size.
      // An answer with status 200 carries it, without choices.
      { rule: "minimax-token-limit", kind: "context-overflow", code: ["1039"], text: ["token limit"] },
      { rule: "minimax-context-window", kind: "context-overflow", text: ["context window exceeds limit"] },
    ],
  },
  // The words of Z.AI and Zhipu. Zhipu also answers without an error if a request is over its window; `silentOverflow`
  // finds that.
  {
    provider: "zai",
    hosts: ["z.ai", "bigmodel.cn"],
    signatures: [
      {
        rule: "zai-prompt-length",
        kind: "context-overflow",
        text: ["prompt exceeds max length", "prompt exceeds maximum length"],
      },
      { rule: "zai-code", kind: "context-overflow", code: ["1261"], not: ["prompt exceeds max"] },
    ],
  },
  // The words of Qwen on DashScope.
  {
    provider: "qwen",
    hosts: ["aliyuncs.com", "qwen.ai"],
    signatures: [
      {
        rule: "qwen-input-length",
        kind: "context-overflow",
        text: ["range of input length should be [1, {limit}]", "range of input length should be"],
      },
      {
        rule: "qwen-string-length",
        kind: "payload-too-large",
        text: ["string value length ({number}) exceeds the maximum allowed ({number}"],
      },
    ],
  },
  {
    provider: "volcengine",
    hosts: ["volces.com", "byteplus.com"],
    signatures: [
      {
        rule: "volcengine-input-length",
        kind: "context-overflow",
        text: [
          "input length {observed} exceeds the maximum length {limit}",
          "total tokens of image and text exceed max message tokens",
        ],
      },
    ],
  },
  {
    provider: "vllm",
    signatures: [
      {
        rule: "vllm-requested-tokens",
        kind: "context-overflow",
        code: ["badrequesterror"],
        text: [
          "maximum context length is {limit} tokens. however, you requested {observed} tokens ({number} in the messages, {output} in the completion)",
          "maximum context length is {limit} tokens. however, you requested {observed} tokens",
        ],
        not: ["context_length_exceeded"],
      },
      {
        rule: "vllm-input-tokens",
        kind: "context-overflow",
        text: [
          "maximum context length is {limit} tokens. however, your request has {input} input tokens plus {output} 'max_tokens'",
          "maximum context length is {limit} tokens. however, your request has {observed} input tokens",
          // vLLM stops counting at the first token over the limit, so "at least" does not say the size.
          "maximum context length is {limit} tokens. however, you requested {output} output tokens and your prompt contains at least {number} input tokens, for a total of at least {number} tokens",
          "maximum context length is {limit} tokens. however, you requested {output} output tokens and your prompt contains {number} characters",
          "maximum context length is {limit} tokens and your request has {input} input tokens ({output} > ",
          "maximum context length is {limit} tokens and your request has {input} input tokens",
          "you passed {input} input tokens and requested {output} output tokens. however, the model's context length is only {limit} tokens",
        ],
      },
      {
        rule: "vllm-prompt-length",
        kind: "context-overflow",
        text: [
          "the prompt (total length {observed}) is too long to fit into the model (context length {limit})",
          "input prompt ({observed} tokens) is too long and exceeds limit of {limit}",
        ],
      },
      {
        rule: "vllm-negative-max-tokens",
        kind: "context-overflow",
        text: ["max_tokens must be at least 1, got -{number}"],
      },
    ],
  },
  {
    provider: "llamacpp",
    signatures: [
      {
        rule: "llamacpp-context-size",
        kind: "context-overflow",
        text: [
          "request ({observed} tokens) exceeds the available context size ({limit} tokens)",
          "exceeds the available context size",
          "exceeds available context size",
        ],
        fields: { observed: "n_prompt_tokens", limit: "n_ctx" },
      },
      {
        rule: "llamacpp-type",
        kind: "context-overflow",
        code: ["exceed_context_size_error"],
        not: ["exceeds the available context size", "exceeds available context size"],
        fields: { observed: "n_prompt_tokens", limit: "n_ctx" },
      },
      {
        rule: "llamacpp-python-window",
        kind: "context-overflow",
        text: ["requested tokens ({observed}) exceed context window of {limit}"],
      },
    ],
  },
  {
    provider: "lmstudio",
    signatures: [
      {
        rule: "lmstudio-tokens-to-keep",
        kind: "context-overflow",
        text: [
          "tokens to keep from the initial prompt is greater than the context length (n_keep: {observed}>= n_ctx: {limit})",
          "tokens to keep from the initial prompt is greater than the context length",
          "trying to keep the first {observed} tokens when context the overflows. however, the model is loaded with context length of only {limit} tokens",
          "tokens when context the overflows",
        ],
      },
      { rule: "lmstudio-prompt-template", kind: "other", text: ["error rendering prompt with jinja template"] },
    ],
  },
  // Most Ollama servers drop the start of a long prompt without an error. `silentOverflow` finds that.
  {
    provider: "ollama",
    hosts: ["ollama.com"],
    signatures: [
      {
        rule: "ollama-prompt-too-long",
        kind: "context-overflow",
        text: [
          "prompt too long; exceeded max context length by {number} tokens",
          "prompt too long; exceeded max context length",
        ],
      },
      {
        rule: "ollama-context-length",
        kind: "context-overflow",
        text: ["ollama error: context length exceeded", "ollama error: ... context length exceeded"],
      },
    ],
  },
];

/**
 * LiteLLM is a proxy that adds its own words to a provider's. It is tried after the providers, because their words say
 * more.
 */
export const litellm: ProviderSignatures = {
  provider: "litellm",
  signatures: [
    {
      rule: "litellm-context-window",
      kind: "context-overflow",
      text: ["litellm.contextwindowexceedederror", "contextwindowexceedederror:"],
    },
  ],
};

/**
 * Words of a client whose own request for a summary was refused. Together with a refusal for size they mean a failed
 * compaction.
 */
export const compaction: readonly string[] = [
  "summarization failed",
  "summarisation failed",
  "auto-compaction",
  "compaction failed",
  "during compaction",
  "remote compact task",
  "failed to compress chat history",
];

const BILLING = ["billing", "insufficient_quota", "insufficient credit", "insufficient balance", "more credits"];

/**
 * Error pages of gateways. The status says what such a page means, whatever its text is. They are tried before the
 * guards.
 */
export const pages: ProviderSignatures = {
  provider: null,
  signatures: [{ rule: "page-413", kind: "payload-too-large", status: [413], text: ["<html", "<!doctype html"] }],
};

/**
 * Words that sound like size and mean something else. They are tried after the providers' own words and before `last`.
 */
export const guards: ProviderSignatures = {
  provider: null,
  signatures: [
    { rule: "not-size-billing", kind: "other", text: BILLING },
    { rule: "not-size-payment", kind: "other", status: [402], not: BILLING },
    {
      rule: "not-size-rate",
      kind: "rate-limit",
      text: [
        "rate limit",
        "rate_limit",
        "ratelimit",
        "too many requests",
        "requests per minute",
        "requests per hour",
        "requests per day",
        "tokens per minute",
        "tokens per day",
        "tokens per min (tpm)",
        "for this minute",
        "within a given time frame",
        "per-model limit",
        "quota",
        "throttl",
      ],
      not: BILLING,
    },
    {
      rule: "not-size-batch",
      kind: "other",
      text: [
        "tokens in batch",
        "tokens per submitted batch",
        "max {number} tokens per request",
        "enqueued token limit",
      ],
    },
    { rule: "not-size-template", kind: "other", text: ["prompt template"] },
    {
      rule: "not-size-small-window",
      kind: "other",
      text: ["context window too small", "context window ... minimum is"],
    },
    { rule: "not-size-reasoning", kind: "other", text: ["reasoning is mandatory", "reasoning is required"] },
  ],
};

const TOOL_OUTPUT = [
  "tool output too large",
  "tool_result too large",
  "tool result too large",
  "tool output is too large",
];
const PAYLOAD = [
  "request_too_large",
  "request too large",
  "request is too large",
  "request exceeds the maximum size",
  "entity too large",
  "payload too large",
  "payload is too large",
  "body too large",
  "body is too large",
  "content too large",
  "message larger than max",
  "request body: length limit exceeded",
  "413 ... too large",
];

/**
 * Words that gateways and smaller providers share and that the families of `size-words.ts` do not have. They are tried
 * after all other words.
 */
export const last: ProviderSignatures = {
  provider: null,
  signatures: [
    {
      rule: "any-context-overflow",
      kind: "context-overflow",
      text: [
        "maximum context length of {limit} tokens. you requested a total of {observed} tokens: {number} tokens from the input messages and {output} tokens for the completion",
        "maximum context length",
        "context limited to {limit} tokens",
        "context window exceeded: {observed} tokens exceeds the limit of {limit} tokens",
        "maximum prompt length",
        "reduce the length of the messages",
        "prompt ... exceeds the limit of {limit}",
        "truncating input ... too long",
        "input token limit is {limit}",
        "text-too-long",
        "inputs must have less than {number} characters",
        "context_overflow",
        "input_length_error",
      ],
      not: TOOL_OUTPUT,
    },
    {
      rule: "any-other-language",
      kind: "context-overflow",
      text: [
        "请压缩上下文",
        "最大コンテキスト長を超え",
        "コンテキストウィンドウを超え",
        "コンテキスト長を超え",
        "최대 컨텍스트 길이를 초과",
        "überschreitet das kontextfenster",
        "überschreitet die maximale kontextlänge",
        "dépasse la fenêtre de contexte",
        "excede la ventana de contexto",
      ],
    },
    { rule: "any-tool-output", kind: "context-overflow", text: TOOL_OUTPUT },
    {
      rule: "any-content-filter",
      kind: "context-overflow",
      code: ["content_filter"],
      text: ["prompt ... too long", "input ... too long", "prompt ... exceed", "input ... exceed"],
      not: ["prompt is too long"],
    },
    { rule: "any-payload", kind: "payload-too-large", text: PAYLOAD },
    {
      rule: "any-max-tokens",
      kind: "output-limit",
      text: [
        "max_tokens ({output}) exceeds model's maximum output tokens ({limit})",
        "maximum allowed number of output tokens",
        "max_tokens is too large",
        "increase maximum token",
      ],
    },
  ],
};

const OVERFLOW_CODES = [
  "context_length_exceeded",
  "context_window_exceeded",
  "contextwindowexceedederror",
  "contextoverflowerror",
  "context_overflow",
  "context_exceeded",
  "tokens_limit_reached",
  "model_max_prompt_tokens_exceeded",
  "content_length_exceeds_threshold",
  "prompt_too_long",
  "input_too_long",
];

/** Codes and statuses without known words. They are tried if nothing else matched. */
export const bare: ProviderSignatures = {
  provider: null,
  signatures: [
    { rule: "bare-overflow-code", kind: "context-overflow", code: OVERFLOW_CODES },
    { rule: "bare-413", kind: "payload-too-large", status: [413], not: OVERFLOW_CODES },
    { rule: "bare-429", kind: "rate-limit", status: [429], not: OVERFLOW_CODES },
  ],
};
