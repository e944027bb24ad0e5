import type { ProviderSignatures } from "../compile-signatures.ts";

const EXTRA_USAGE = "extra usage is required for long context";

export const anthropic: ProviderSignatures = {
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
};
