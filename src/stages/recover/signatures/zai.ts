import type { ProviderSignatures } from "../compile-signatures.ts";

/** Z.AI and Zhipu, which also answers past its window without an error: see the silent rules. */
export const zai: ProviderSignatures = {
  provider: "zai",
  hosts: ["z.ai", "bigmodel.cn"],
  signatures: [
    {
      rule: "zai-prompt-length",
      kind: "context-overflow",
      text: ["prompt exceeds max length", "prompt exceeds maximum length"],
    },
    { rule: "zai-code", kind: "context-overflow", code: ["1261"], not: ["prompt exceeds max"] },
  ],
};
