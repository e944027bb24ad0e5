import type { ProviderSignatures } from "../compile-signatures.ts";

/** Hugging Face's server, and those that pass its words on. */
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
