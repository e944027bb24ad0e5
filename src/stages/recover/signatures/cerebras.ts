import type { ProviderSignatures } from "../compile-signatures.ts";

export const cerebras: ProviderSignatures = {
  provider: "cerebras",
  hosts: ["cerebras.ai"],
  signatures: [
    {
      rule: "cerebras-current-length",
      kind: "context-overflow",
      text: ["current length is {total} while limit is {limit}"],
    },
    { rule: "cerebras-no-body", kind: "context-overflow", status: [400, 413], empty: true, named: true },
  ],
};
