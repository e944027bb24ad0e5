import type { ProviderSignatures } from "../compile-signatures.ts";

/** A proxy that puts its own words around a provider's: asked after them, since theirs say more. */
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
