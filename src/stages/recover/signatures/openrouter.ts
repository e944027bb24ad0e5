import type { ProviderSignatures } from "../compile-signatures.ts";

export const openrouter: ProviderSignatures = {
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
};
