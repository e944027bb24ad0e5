import type { ProviderSignatures } from "../compile-signatures.ts";

/** The words of the Gemini API and of Vertex AI. */
export const gemini: ProviderSignatures = {
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
};
