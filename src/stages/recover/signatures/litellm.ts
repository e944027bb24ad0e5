import type { ProviderSignatures } from "../compile-signatures.ts";

/**
 * LiteLLM is a proxy that adds its own words to a provider's. It is tried after the providers, because their words say
 * more.
 */
export const litellm: ProviderSignatures = {
  provider: "litellm",
  signatures: [
    {
      rule: "litellm-context-window",
      kind: "context-overflow",
      text: ["litellm.contextwindowexceedederror", "contextwindowexceedederror:"],
    },
  ],
};
