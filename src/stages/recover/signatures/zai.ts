import type { ProviderSignatures } from "../compile-signatures.ts";

/**
 * The words of Z.AI and Zhipu. Zhipu also answers without an error if a request is over its window; `silentOverflow`
 * finds that.
 */
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
