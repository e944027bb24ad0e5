import { describe, expect, it } from "vitest";
import { anthropicFixtures } from "../../test/wire/anthropic.ts";
import { bedrockFixtures } from "../../test/wire/bedrock.ts";
import { geminiFixtures } from "../../test/wire/gemini.ts";
import { openaiChatFixtures } from "../../test/wire/openai-chat.ts";
import { openaiResponsesFixtures } from "../../test/wire/openai-responses.ts";
import { readRequest } from "./registry.ts";

const HELLO = [{ role: "user", content: "hi" }];

function nameOf(body: unknown): string | null {
  return readRequest(body)?.wire.name ?? null;
}

describe("readRequest", () => {
  it.each([
    ["anthropic", "messages", anthropicFixtures],
    ["openai-chat", "messages", openaiChatFixtures],
    ["openai-responses", "input", openaiResponsesFixtures],
    ["gemini", "contents", geminiFixtures],
    ["bedrock", "messages", bedrockFixtures],
  ] as const)("finds %s under %s, and puts messages back in place", (name, field, fixtures) => {
    for (const { messages } of fixtures) {
      const body = Object.freeze({ model: "m", [field]: messages, x: { y: 1 } });
      const found = readRequest(body);
      expect(found?.wire.name).toBe(name);
      expect(found?.messages).toBe(messages);
      expect(found?.put(messages)).toBe(body);
      const put = found?.put([]);
      expect(JSON.stringify(put)).toBe(JSON.stringify({ ...body, [field]: [] }));
      expect((put as typeof body).x).toBe(body.x);
    }
  });

  it("knows short conversations by the other fields of the body", () => {
    expect(nameOf({ messages: HELLO, system: "Be brief.", max_tokens: 9 })).toBe("anthropic");
    expect(nameOf({ messages: HELLO, tools: [{ name: "a", input_schema: { type: "object" } }] })).toBe("anthropic");
    expect(nameOf({ messages: HELLO, tools: [{ type: "function", function: { name: "a" } }] })).toBe("openai-chat");
    expect(nameOf({ messages: HELLO, max_completion_tokens: 9 })).toBe("openai-chat");
    expect(nameOf({ input: HELLO })).toBe("openai-responses");
    expect(nameOf({ contents: [{ parts: [{ text: "hi" }] }] })).toBe("gemini");
    expect(nameOf({ messages: [{ role: "user", content: [{ text: "hi" }] }] })).toBe("bedrock");
    expect(nameOf({ prompt: [{ role: "user", content: [{ type: "text", text: "hi" }] }] })).toBe("ai-sdk");
  });

  it("is not sure, or finds none", () => {
    const trap = Object.defineProperty({}, "messages", {
      get() {
        throw new Error("no");
      },
    });
    const bodies = [
      null,
      7,
      "x",
      [],
      {},
      { messages: HELLO },
      { messages: "hi" },
      { input: "hi" },
      { messages: [] },
      trap,
    ];
    for (const body of bodies) expect(readRequest(body)).toBeNull();
    expect(nameOf({ input: ["embed", "this"] })).toBeNull();
    expect(nameOf({ prompt: ["complete", "this"] })).toBeNull();
  });
});
