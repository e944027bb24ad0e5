import type { ProviderSignatures } from "../compile-signatures.ts";

const TPM = "on tokens per minute (tpm): limit {limit}";

export const groq: ProviderSignatures = {
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
    {
      rule: "groq-tokens-per-minute-ceiling",
      kind: "request-ceiling",
      text: [
        `request too large for model ... ${TPM}, requested {total}`,
        `rate limit reached for model ... ${TPM}, used {number}, requested {total}`,
      ],
      over: true,
    },
    {
      rule: "groq-tokens-per-minute",
      kind: "rate-limit",
      text: [
        `request too large for model ... ${TPM}, requested {total}`,
        `rate limit reached for model ... ${TPM}, used {number}, requested {total}`,
      ],
      over: false,
    },
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
};
