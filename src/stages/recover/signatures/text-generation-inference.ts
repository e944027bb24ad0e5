import type { ProviderSignatures } from "../compile-signatures.ts";

/** The words of Hugging Face's server, and of servers that pass them on. */
export const textGenerationInference: ProviderSignatures = {
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
};
