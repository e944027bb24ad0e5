import type { ProviderSignatures } from "../compile-signatures.ts";

export const vllm: ProviderSignatures = {
  provider: "vllm",
  signatures: [
    {
      rule: "vllm-requested-tokens",
      kind: "context-overflow",
      code: ["badrequesterror"],
      text: [
        "maximum context length is {limit} tokens. however, you requested {observed} tokens ({number} in the messages, {output} in the completion)",
        "maximum context length is {limit} tokens. however, you requested {observed} tokens",
      ],
      not: ["context_length_exceeded"],
    },
    {
      rule: "vllm-input-tokens",
      kind: "context-overflow",
      text: [
        "maximum context length is {limit} tokens. however, your request has {observed} input tokens",
        // vLLM stops counting at the first token over the limit, so "at least" does not say the size.
        "maximum context length is {limit} tokens. however, you requested {output} output tokens and your prompt contains at least {number} input tokens, for a total of at least {number} tokens",
        "maximum context length is {limit} tokens and your request has {input} input tokens ({output} > ",
        "maximum context length is {limit} tokens and your request has {input} input tokens",
        "you passed {input} input tokens and requested {output} output tokens. however, the model's context length is only {limit} tokens",
      ],
    },
    {
      rule: "vllm-prompt-length",
      kind: "context-overflow",
      text: [
        "the prompt (total length {observed}) is too long to fit into the model (context length {limit})",
        "input prompt ({observed} tokens) is too long and exceeds limit of {limit}",
      ],
    },
    {
      rule: "vllm-negative-max-tokens",
      kind: "context-overflow",
      text: ["max_tokens must be at least 1, got -{number}"],
    },
  ],
};
