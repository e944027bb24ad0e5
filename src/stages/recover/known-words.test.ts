import { describe, expect, it } from "vitest";
import { classify } from "./classify.ts";

// Words that existing agents look for. Each is tested alone and in a body without a code.
const OVERFLOW = [
  "Prompt has 70,000 tokens, but the configured context size is 65,536 tokens",
  "INVALID_ARGUMENT: input exceeds the maximum number of tokens allowed for this model",
  "context length exceeded",
  "This model's maximum context length is 8192 tokens",
  "prompt is too long",
  "Prompt too long",
  "Request exceeds model context window",
  "exceeded model token limit",
  "input exceeds the maximum number of tokens",
  "The context window ran out of room",
  "You have run out of room in the model's context window",
  "The model's context window ran out of space",
  "request size exceeds the model's context window",
  "request size exceeds context length",
  "Context overflow: prompt too large for the model",
  "would exceed context limit",
  "input exceeds the model's maximum context",
  "input exceeds the models maximum context",
  "max_tokens would exceed the model's context",
  "input length of 90000 would exceed the context",
  "input (9000 tokens) is longer than the model's context length",
  "input (9000 tokens) is longer than model's context length",
  "context_window_exceeded",
  "context_overflow",
  "input length 9000 tokens exceeds the model limit",
  "input token count exceeds the maximum number of input tokens",
  "input is too long for this model",
  "ollama error: context length exceeded, too many tokens",
  "total tokens of the request exceeds the model's maximum",
  "total token count exceeds the limit",
  "request (66202 tokens) exceeds the available context size",
  "prompt (66202 tokens) exceeds available context size",
  "context size has been exceeded",
  "input too long for the model",
  "input is too long for the model",
  "your input exceeds the context window",
  "exceeds the model's maximum context length of 8192 tokens",
  "exceeds maximum context length (8192)",
  "input token count of 9000 exceeds the maximum",
  "maximum prompt length is 131072",
  "please reduce the length of the messages",
  "exceeds the maximum allowed input length of 8192 tokens",
  "prompt of 9000 exceeds the limit of 8192",
  "exceeds the available context size",
  "tokens to keep is greater than the context length",
  "context window exceeds limit",
  "tokens in request more than max tokens allowed",
  "prompt exceeds max length",
  "prompt exceeds maximum length",
  "too large for model with 32768 maximum context length",
  "model_context_window_exceeded",
  "exceeded max context length",
  "exceeded context length",
  "context_length_exceeded",
  "too many tokens",
  "token limit exceeded",
  "input length and `max_tokens` exceed context limit: 156321 + 48384 > 200000",
  "Input is too long for requested model",
  "Context window exceeded: too many tokens per request.",
  "litellm.ContextWindowExceededError: no more room",
  "Range of input length should be [1, 30720]",
  "ValidationException: the request has more than the max input tokens",
  "ModelStreamErrorException: too many input tokens",
  "truncating input because it is too long",
  "The total length of all messages is too long.",
  "上下文过长",
];
const PAYLOAD = [
  "request_too_large",
  "Request exceeds the maximum size",
  "413 Request Entity Too Large",
  "413 status code (no body)",
  "API error (413): too large",
];
const NEITHER = [
  "Let's investigate the context overflow bug",
  "request size exceeds upload limit",
  "Context window too small: minimum is 1000 tokens",
  "The context window is 8192, the minimum is 16000",
  "Error applying the prompt template: too long",
  "Reasoning is mandatory for this endpoint",
  "Throttling error: Too many tokens, please wait before trying again.",
  "Service unavailable: try again",
  "rate limit: too many tokens",
  "429 too many requests",
  "Limit of 60 requests per minute reached",
  "You have used all tokens per day: token limit exceeded",
  "Too many tokens per day",
  "402 Payment required: prompt is too long for this plan",
  "quota exceeded: maximum context length",
  "invalid api key",
  "maximum number of images exceeded",
  "fetch failed",
];

const kinds = (text: string) =>
  [new Error(text), { status: 400, body: JSON.stringify({ error: { message: text } }) }].map(
    (one) => classify(one).kind,
  );

describe("known words", () => {
  it.each(OVERFLOW)("overflow: %s", (text) => {
    expect(kinds(text)).toEqual(["context-overflow", "context-overflow"]);
  });

  it.each(PAYLOAD)("bytes: %s", (text) => {
    expect(kinds(text)).toEqual(["payload-too-large", "payload-too-large"]);
  });

  it.each(NEITHER)("neither: %s", (text) => {
    for (const kind of kinds(text)) expect(["rate-limit", "other"]).toContain(kind);
  });
});
