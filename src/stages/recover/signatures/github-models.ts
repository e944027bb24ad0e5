import type { ProviderSignatures } from "../compile-signatures.ts";

/** GitHub Models answers 413, which elsewhere means bytes, and names tokens. */
export const githubModels: ProviderSignatures = {
  provider: "github-models",
  hosts: ["models.github.ai", "models.inference.ai.azure.com"],
  signatures: [
    {
      rule: "github-models-max-size",
      kind: "context-overflow",
      text: ["body too large for ... max size: {limit} tokens"],
    },
  ],
};
