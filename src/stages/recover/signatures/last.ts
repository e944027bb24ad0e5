import type { ProviderSignatures } from "../compile-signatures.ts";

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
        "maximum prompt length",
        "reduce the length of the messages",
        "prompt ... exceeds the limit of {limit}",
        "truncating input ... too long",
        "context_overflow",
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
      text: ["maximum allowed number of output tokens", "max_tokens is too large"],
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
