import type { ProviderSignatures } from "../compile-signatures.ts";

export const volcengine: ProviderSignatures = {
  provider: "volcengine",
  hosts: ["volces.com", "byteplus.com"],
  signatures: [
    {
      rule: "volcengine-input-length",
      kind: "context-overflow",
      text: ["input length {observed} exceeds the maximum length {limit}"],
    },
  ],
};
