import type { ProviderSignatures } from "../compile-signatures.ts";

export const xai: ProviderSignatures = {
  provider: "xai",
  hosts: ["x.ai"],
  signatures: [
    {
      rule: "xai-prompt-length",
      kind: "context-overflow",
      text: ["this model's maximum prompt length is {limit} but the request contains {observed} tokens"],
    },
  ],
};
