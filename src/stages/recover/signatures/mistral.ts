import type { ProviderSignatures } from "../compile-signatures.ts";

export const mistral: ProviderSignatures = {
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
};
