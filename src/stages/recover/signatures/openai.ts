import type { ProviderSignatures } from "../compile-signatures.ts";

const TPM = "on tokens per min (tpm): limit {limit}";

export const openai: ProviderSignatures = {
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
    {
      rule: "openai-tokens-per-minute-ceiling",
      kind: "request-ceiling",
      text: [
        `request too large for ... ${TPM}, requested {total}`,
        `rate limit reached for ... ${TPM}, used {number}, requested {total}`,
      ],
      over: true,
    },
    {
      rule: "openai-tokens-per-minute",
      kind: "rate-limit",
      text: [
        `request too large for ... ${TPM}, requested {total}`,
        `rate limit reached for ... ${TPM}, used {number}, requested {total}`,
      ],
      over: false,
    },
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
};
