import type { ProviderSignatures } from "../compile-signatures.ts";

export const copilot: ProviderSignatures = {
  provider: "copilot",
  hosts: ["githubcopilot.com"],
  signatures: [
    {
      rule: "copilot-prompt-token-count",
      kind: "context-overflow",
      text: ["prompt token count of {observed} exceeds the limit of {limit}"],
    },
    { rule: "copilot-unparsed", kind: "payload-too-large", status: [413], text: ["failed to parse request"] },
  ],
};
