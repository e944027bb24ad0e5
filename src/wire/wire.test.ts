import { readFileSync } from "node:fs";
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
import { findLong, type WireFixture } from "../testing/wire-checks.ts";
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

  it("has a row for each in the guide, and no other", () => {
    const guide = readFileSync(new URL("../../docs/guide/message-formats.md", import.meta.url), "utf8");
    const rows = [...guide.matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, name]) => name);
    expect(rows).toEqual(wires.map(({ name }) => name));
  });
});

describe("long strings of calls", () => {
  const LONG = "x".repeat(5000);
  const found = (name: string) => {
    const wire = wireNamed(name) as Wire;
    const all = (FIXTURES.get(name) ?? []).flatMap(({ messages }) => messages);
    return all.flatMap((message) => findLong(wire, message, LONG));
  };

  it.each([...FIXTURES.keys()])("%s finds them, unless it holds requests to servers", (name) => {
    expect(found(name).length > 0).toBe(name !== "mcp");
  });

  it.each([
    ["gemini", { role: "model", parts: [{ functionCall: { name: "f", args: { a: LONG } }, thoughtSignature: "s" }] }],
    [
      "openai-chat",
      {
        role: "assistant",
        tool_calls: [
          {
            id: "1",
            type: "function",
            function: { name: "f", arguments: JSON.stringify({ a: LONG }) },
            extra_content: { google: { thought_signature: "s" } },
          },
        ],
      },
    ],
    [
      "openai-chat",
      {
        role: "assistant",
        reasoning_details: [{ type: "reasoning.encrypted", format: "google-gemini-v1", data: "s" }],
        tool_calls: [{ id: "1", type: "function", function: { name: "f", arguments: JSON.stringify({ a: LONG }) } }],
      },
    ],
    [
      "ai-sdk",
      {
        role: "assistant",
        content: [
          {
            type: "tool-call",
            toolCallId: "1",
            toolName: "f",
            input: { a: LONG },
            providerOptions: { google: { thoughtSignature: "s" } },
          },
        ],
      },
    ],
    [
      "pi",
      {
        role: "assistant",
        content: [{ type: "toolCall", id: "1", name: "f", arguments: { a: LONG }, thoughtSignature: "s" }],
      },
    ],
    [
      "langchain",
      {
        type: "ai",
        content: "",
        tool_calls: [{ id: "1", name: "f", args: { a: LONG } }],
        additional_kwargs: { __gemini_function_call_thought_signatures__: { 1: "s" } },
      },
    ],
    [
      "anthropic",
      { role: "assistant", content: [{ type: "server_tool_use", id: "1", name: "f", input: { a: LONG } }] },
    ],
    ["openai-responses", { type: "local_shell_call", call_id: "1", action: { type: "exec", command: [LONG] } }],
    [
      "openai-chat",
      { role: "assistant", tool_calls: [{ id: "1", function: { name: "f", arguments: `{"a":"${LONG}` } }] },
    ],
  ])("%s leaves alone a call that was signed, that the provider ran, or that cannot be read", (name, message) => {
    const wire = wireNamed(name) as Wire;
    expect(wire.read(message).calls.map(({ long }) => long)).toEqual(wire.read(message).calls.map(() => undefined));
    for (const at of ["0", "tool_calls.0", "arguments", "input", "action"])
      expect(wire.write(message, [{ at, texts: ["short"] }])).toBe(message);
  });

  it("langchain writes a call in every place that holds it", () => {
    const wire = wireNamed("langchain") as Wire;
    const message = {
      type: "ai",
      content: [
        { type: "text", text: "I write." },
        { type: "tool_use", id: "1", name: "f", input: { a: LONG } },
      ],
      tool_calls: [{ id: "1", name: "f", args: { a: LONG } }],
      additional_kwargs: { tool_calls: [{ id: "1", function: { name: "f", arguments: JSON.stringify({ a: LONG }) } }] },
    };
    const written = wire.write(message, [{ at: "tool_calls.0", texts: ["short"] }]);
    expect(JSON.stringify(written)).toBe(JSON.stringify(message).replaceAll(LONG, "short"));
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
