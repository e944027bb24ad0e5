import type { ProviderSignatures } from "../compile-signatures.ts";

export const deepseek: ProviderSignatures = {
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
};
