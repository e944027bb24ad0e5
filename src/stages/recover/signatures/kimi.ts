import type { ProviderSignatures } from "../compile-signatures.ts";

export const kimi: ProviderSignatures = {
  provider: "kimi",
  hosts: ["moonshot.ai", "moonshot.cn", "kimi.com"],
  signatures: [
    {
      rule: "kimi-token-limit",
      kind: "context-overflow",
      text: ["exceeded model token limit: {limit} (requested: {total})", "exceeded model token limit"],
    },
    {
      rule: "kimi-message-size",
      kind: "payload-too-large",
      text: ["total message size {number} exceeds limit {number}"],
    },
    {
      rule: "kimi-max-length",
      kind: "context-overflow",
      text: ["model max length exceeded, max length:{limit}", "model max length exceeded, max length: {limit}"],
    },
  ],
};
