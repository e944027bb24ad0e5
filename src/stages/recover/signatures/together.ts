import type { ProviderSignatures } from "../compile-signatures.ts";

/** The words of Together and of other providers that run SGLang. */
export const together: ProviderSignatures = {
  provider: "together",
  hosts: ["together.xyz", "together.ai"],
  signatures: [
    {
      rule: "together-context-length",
      kind: "context-overflow",
      text: [
        "the input ({observed} tokens) is longer than the model's context length ({limit} tokens)",
        "input ({observed} tokens) is longer than the model's context length",
        "input ({observed} tokens) is longer than model's context length",
      ],
    },
  ],
};
