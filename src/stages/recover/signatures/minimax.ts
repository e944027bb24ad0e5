import type { ProviderSignatures } from "../compile-signatures.ts";

export const minimax: ProviderSignatures = {
  provider: "minimax",
  hosts: ["minimax.io", "minimaxi.com", "minimax.chat"],
  signatures: [
    // The number after these words, "(2013)", is the error's code, not a size.
    { rule: "minimax-context-window", kind: "context-overflow", text: ["context window exceeds limit"] },
  ],
};
