import type { ProviderSignatures } from "../compile-signatures.ts";

/** The words of Qwen on DashScope. */
export const qwen: ProviderSignatures = {
  provider: "qwen",
  hosts: ["aliyuncs.com", "qwen.ai"],
  signatures: [
    {
      rule: "qwen-input-length",
      kind: "context-overflow",
      text: ["range of input length should be [1, {limit}]", "range of input length should be"],
    },
    {
      rule: "qwen-string-length",
      kind: "payload-too-large",
      text: ["string value length ({number}) exceeds the maximum allowed ({number}"],
    },
  ],
};
