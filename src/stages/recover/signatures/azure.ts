import type { ProviderSignatures } from "../compile-signatures.ts";

/** Azure refuses for size in OpenAI's own words. The address tells the two apart. */
export const azure: ProviderSignatures = {
  provider: "azure",
  hosts: ["openai.azure.com", "services.ai.azure.com", "cognitiveservices.azure.com"],
  signatures: [
    {
      rule: "azure-rate-limit",
      kind: "rate-limit",
      text: ["have exceeded ... rate limit of your current", "have exceeded the ... rate limit for your current"],
    },
    { rule: "azure-peak-load", kind: "rate-limit", text: ["exceeds the maximum usage size allowed during peak load"] },
  ],
};
