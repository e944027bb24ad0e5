import type { ProviderSignatures } from "../compile-signatures.ts";

/** Most Ollama servers drop the start of a long prompt without an error. `silentOverflow` finds that. */
export const ollama: ProviderSignatures = {
  provider: "ollama",
  hosts: ["ollama.com"],
  signatures: [
    {
      rule: "ollama-prompt-too-long",
      kind: "context-overflow",
      text: [
        "prompt too long; exceeded max context length by {number} tokens",
        "prompt too long; exceeded max context length",
      ],
    },
    {
      rule: "ollama-context-length",
      kind: "context-overflow",
      text: ["ollama error: context length exceeded", "ollama error: ... context length exceeded"],
    },
  ],
};
