import { expect, it } from "vitest";
import { endpointOf } from "./endpoint.ts";

it.each([
  ["https://api.openai.com/v1/chat/completions", "openai-chat", "answer", null],
  ["/openai/deployments/gpt%204/chat/completions?api-version=2025", "openai-chat", "answer", "gpt 4"],
  ["http://host/any/base/chat/completions/", "openai-chat", "answer", null],
  ["https://api.openai.com/v1/responses", "openai-responses", "answer", null],
  ["https://api.openai.com/v1/responses/input_tokens", "openai-responses", "count", null],
  ["https://api.anthropic.com/v1/messages?beta=true", "anthropic", "answer", null],
  ["https://api.anthropic.com/v1/messages/count_tokens", "anthropic", "count", null],
  [
    "/v1/projects/p/locations/l/publishers/anthropic/models/claude-x:streamRawPredict",
    "anthropic",
    "answer",
    "claude-x",
  ],
  ["https://g.example/v1beta/models/gemini-9:generateContent", "gemini", "answer", "gemini-9"],
  ["/v1/projects/p/locations/l/publishers/google/models/g:streamGenerateContent?alt=sse", "gemini", "answer", "g"],
  ["/v1beta/tunedModels/mine:countTokens", "gemini", "count", "mine"],
])("%s is known", (url, wire, asks, model) => {
  const endpoint = endpointOf("post", url);
  expect([endpoint?.shape.wire, endpoint?.asks, endpoint?.model]).toEqual([wire, asks, model]);
});

it.each([
  ["GET", "/v1/chat/completions"],
  ["POST", "/v1/completions"],
  ["POST", "/v1/embeddings"],
  ["POST", "/v1/responses/resp_1/cancel"],
  ["POST", "/v1/messages/batches"],
  ["POST", "/v1beta/models/g:embedContent"],
  ["POST", "/model/anthropic.claude/invoke"],
])("%s %s is none", (method, url) => {
  expect(endpointOf(method, url)).toBeNull();
});

it("Gemini streams a list where no events are asked for", () => {
  const listed = (query: string) => endpointOf("POST", `/v1beta/models/g:streamGenerateContent${query}`)?.isList;
  expect([listed(""), listed("?alt=json"), listed("?alt=sse"), listed("?key=k&alt=sse")]).toEqual([
    true,
    true,
    false,
    false,
  ]);
  expect(endpointOf("POST", "/v1/messages")?.isList).toBe(false);
});
