import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogle } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, jsonSchema, type LanguageModel, type ModelMessage, streamText, tool } from "ai";
import { describe, expect, it, onTestFinished } from "vitest";
import { createFetch } from "../../../src/entrypoints/fetch/index.ts";
import { createSpillway } from "../../../src/index.ts";
import { memoryLedger } from "../../../src/storage/ledgers/memory.ts";
import { memoryStore } from "../../../src/storage/stores/memory.ts";
import type { Speaks } from "../../../src/testing/fake-provider/fake-provider.ts";
import { startFakeProvider } from "../../../src/testing/fake-provider/start-fake-provider.ts";
import { textOf } from "../../recovery/conversation.ts";

// The providers of AI SDK 7 with a wrapped fetch, before a provider whose window the conversation does not fit.

type Fetch = typeof globalThis.fetch;
const PROVIDERS: [Speaks, (url: string, fetch: Fetch) => LanguageModel][] = [
  ["openai-chat", (url, fetch) => createOpenAI({ baseURL: `${url}/v1`, apiKey: "k", fetch }).chat("fake")],
  ["openai-responses", (url, fetch) => createOpenAI({ baseURL: `${url}/v1`, apiKey: "k", fetch }).responses("fake")],
  ["anthropic", (url, fetch) => createAnthropic({ baseURL: `${url}/v1`, apiKey: "k", fetch })("fake")],
  ["gemini", (url, fetch) => createGoogle({ baseURL: `${url}/v1beta`, apiKey: "k", fetch })("fake")],
];

const messages: ModelMessage[] = [
  { role: "user", content: "What went wrong?" },
  ...Array.from({ length: 6 }, (_, at): ModelMessage[] => [
    {
      role: "assistant",
      content: [{ type: "tool-call", toolCallId: `call_${at}`, toolName: "bash", input: { path: `${at}.log` } }],
    },
    {
      role: "tool",
      content: [
        {
          type: "tool-result",
          toolCallId: `call_${at}`,
          toolName: "bash",
          output: { type: "text", value: textOf(at, 7000, at) },
        },
      ],
    },
  ]).flat(),
];

describe.each(PROVIDERS)("AI SDK 7 with %s", (speaks, modelOf) => {
  it.each([false, true])("recovers without a change of its own code, streamed: %s", async (isStreamed) => {
    const script = () => "All is well.";
    const provider = await startFakeProvider({ speaks, window: 6000, tokenFactor: 1.1, script });
    onTestFinished(() => provider.stop());
    const spillway = await createSpillway({ store: memoryStore(), ledger: memoryLedger(), env: {} });
    const bash = tool({ inputSchema: jsonSchema<{ path: string }>({ type: "object" }) });
    const model = modelOf(provider.url, createFetch({ spillway }));
    const request = { model, messages, tools: { bash }, maxOutputTokens: 100 };
    const text = isStreamed ? await streamText(request).text : (await generateText(request)).text;
    expect(text).toBe("All is well.");
    // The Responses API names no numbers, so that a second step is needed.
    const refusals = speaks === "openai-responses" ? ["window", "window"] : ["window"];
    expect(provider.requests.map(({ refused }) => refused)).toEqual([...refusals, null]);
    const events = (await spillway.ledger?.events()) ?? [];
    expect(events.map(({ kind }) => kind)).toContain("overflow-recovered");
  });
});
