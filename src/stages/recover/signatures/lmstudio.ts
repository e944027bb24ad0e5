import type { ProviderSignatures } from "../compile-signatures.ts";

export const lmstudio: ProviderSignatures = {
  provider: "lmstudio",
  signatures: [
    {
      rule: "lmstudio-tokens-to-keep",
      kind: "context-overflow",
      text: [
        "tokens to keep from the initial prompt is greater than the context length (n_keep: {observed}>= n_ctx: {limit})",
        "tokens to keep from the initial prompt is greater than the context length",
        "trying to keep the first {observed} tokens when context the overflows. however, the model is loaded with context length of only {limit} tokens",
        "tokens when context the overflows",
      ],
    },
    { rule: "lmstudio-prompt-template", kind: "other", text: ["error rendering prompt with jinja template"] },
  ],
};
