import { describe, expect, it } from "vitest";
import { aiSdkFixtures } from "../../test/wire/ai-sdk.ts";
import { anthropicFixtures } from "../../test/wire/anthropic.ts";
import { bedrockFixtures } from "../../test/wire/bedrock.ts";
import { geminiFixtures } from "../../test/wire/gemini.ts";
import { langchainFixtures } from "../../test/wire/langchain.ts";
import { mcpFixtures } from "../../test/wire/mcp.ts";
import { openaiChatFixtures } from "../../test/wire/openai-chat.ts";
import { openaiResponsesFixtures } from "../../test/wire/openai-responses.ts";
import { piFixtures } from "../../test/wire/pi.ts";
import type { Wire } from "../contract/wire.ts";
import { testWire } from "../testing/test-wire.ts";
import type { WireFixture } from "../testing/wire-fixture.ts";
import { detectWire, wireNamed, wires } from "./registry.ts";

const FIXTURES = new Map<string, readonly WireFixture[]>([
  ["anthropic", anthropicFixtures],
  ["openai-chat", openaiChatFixtures],
  ["openai-responses", openaiResponsesFixtures],
  ["gemini", geminiFixtures],
  ["bedrock", bedrockFixtures],
  ["ai-sdk", aiSdkFixtures],
  ["langchain", langchainFixtures],
  ["mcp", mcpFixtures],
  ["pi", piFixtures],
]);

for (const wire of wires) testWire(wire, FIXTURES.get(wire.name) ?? [], { describe, it });

describe("registry", () => {
  it("has these formats, each with fixtures", () => {
    expect(wires.map(({ name }) => name)).toEqual([...FIXTURES.keys()]);
    expect(wires.every(({ name }) => wireNamed(name)?.name === name)).toBe(true);
    expect(wireNamed("morse")).toBeNull();
  });
});

describe("a wire told wrongly", () => {
  it.each(wires)("$name does no harm to messages of other formats", (wire) => {
    for (const message of [...FIXTURES.values()].flat().flatMap(({ messages }) => messages)) {
      const { results } = wire.read(message);
      expect(
        wire.write(
          message,
          results.map(({ at, texts }) => ({ at, texts })),
        ),
      ).toBe(message);
    }
  });
});

describe("detectWire", () => {
  const cases = wires.flatMap((wire) => (FIXTURES.get(wire.name) ?? []).map((fixture) => ({ wire, fixture })));

  it.each(cases)("knows $wire.name: $fixture.name", ({ wire, fixture }) => {
    expect(detectWire(fixture.messages)?.name).toBe(wire.name);
    expect(detectWire([null, 7, ...fixture.messages])?.name).toBe(wire.name);
  });

  it.each(cases)("knows $wire.name as soon as there is a call, and is never wrong before: $fixture.name", (one) => {
    const { wire, fixture } = one;
    for (let length = 1; length <= fixture.messages.length; length += 1) {
      const messages = fixture.messages.slice(0, length);
      expect([null, wire.name]).toContain(nameOf(messages));
      if (messages.some((message) => wire.read(message).calls.length > 0)) expect(nameOf(messages)).toBe(wire.name);
    }
  });

  it.each([
    [[]],
    [[{ role: "user", content: "hi" }]],
    [[{ role: "user", content: [{ type: "text", text: "hi" }] }]],
    [[null, 1, "x", {}, { type: "what" }, []]],
  ])("is not sure about %j", (messages) => {
    expect(detectWire(messages)).toBeNull();
  });

  it("looks at few messages of many", () => {
    let reads = 0;
    const message = { role: "tool", tool_call_id: "1", content: "x" };
    const counted = new Proxy(message, {
      get(target, field) {
        reads += 1;
        return Reflect.get(target, field);
      },
    });
    expect(detectWire(Array.from({ length: 100_000 }, () => counted))?.name).toBe("openai-chat");
    expect(reads).toBeLessThan(20_000);
  });
});

function nameOf(messages: readonly unknown[]): Wire["name"] | null {
  return detectWire(messages)?.name ?? null;
}
