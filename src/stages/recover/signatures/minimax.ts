import type { ProviderSignatures } from "../compile-signatures.ts";

export const minimax: ProviderSignatures = {
  provider: "minimax",
  hosts: ["minimax.io", "minimaxi.com", "minimax.chat"],
  signatures: [
    // The number after these words, "(2013)", is the error's code, not a size.
    // An answer with status 200 carries it, without choices.
    { rule: "minimax-token-limit", kind: "context-overflow", code: ["1039"], text: ["token limit"] },
    { rule: "minimax-context-window", kind: "context-overflow", text: ["context window exceeds limit"] },
  ],
};
