import type { ProviderSignatures } from "../compile-signatures.ts";

const THROTTLED = [
  "too many tokens, please wait before trying again",
  "too many tokens per day, please wait",
  "too many requests, please wait before trying again",
];

export const bedrock: ProviderSignatures = {
  provider: "bedrock",
  hosts: ["amazonaws.com"],
  signatures: [
    {
      rule: "bedrock-prompt-too-long",
      kind: "context-overflow",
      text: ["the model returned the following errors: prompt is too long: {observed} tokens > {limit} maximum"],
    },
    {
      rule: "bedrock-input-too-long",
      kind: "context-overflow",
      text: ["input is too long for requested model"],
    },
    {
      rule: "bedrock-validation",
      kind: "context-overflow",
      code: ["validationexception", "modelstreamerrorexception"],
      text: ["max input token", "input token ... exceed", "too many input tokens", "input tokens ... exceed"],
      not: ["input is too long for requested model"],
    },
    {
      rule: "bedrock-body-length",
      kind: "payload-too-large",
      text: [
        "value at 'body' failed to satisfy constraint: member must have length less than or equal to",
        "malformed input request: ... expected maxlength: {number}, actual: {number}",
        "malformed input request: expected maxlength: {number}, actual: {number}",
      ],
      // One text of a request for embeddings, which no cut of a conversation helps.
      not: ["#/texts/"],
    },
    {
      rule: "bedrock-throttling",
      kind: "rate-limit",
      code: ["throttlingexception"],
      not: THROTTLED,
    },
    {
      rule: "bedrock-throttling-words",
      kind: "rate-limit",
      text: THROTTLED,
    },
    {
      rule: "bedrock-max-tokens",
      kind: "output-limit",
      text: [
        "the maximum tokens you requested exceeds the model limit of {limit}",
        "the maximum tokens you requested exceed the model limit of {limit}",
      ],
    },
  ],
};
