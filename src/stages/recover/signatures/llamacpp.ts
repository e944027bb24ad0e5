import type { ProviderSignatures } from "../compile-signatures.ts";

export const llamacpp: ProviderSignatures = {
  provider: "llamacpp",
  signatures: [
    {
      rule: "llamacpp-context-size",
      kind: "context-overflow",
      text: [
        "request ({observed} tokens) exceeds the available context size ({limit} tokens)",
        "exceeds the available context size",
        "exceeds available context size",
      ],
      fields: { observed: "n_prompt_tokens", limit: "n_ctx" },
    },
    {
      rule: "llamacpp-type",
      kind: "context-overflow",
      code: ["exceed_context_size_error"],
      not: ["exceeds the available context size", "exceeds available context size"],
      fields: { observed: "n_prompt_tokens", limit: "n_ctx" },
    },
    {
      rule: "llamacpp-python-window",
      kind: "context-overflow",
      text: ["requested tokens ({observed}) exceed context window of {limit}"],
    },
  ],
};
