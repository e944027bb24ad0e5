import { describe, expect, it } from "vitest";
import type { TokenCounter } from "../../contract/token-counter.ts";
import type { Wire } from "../../contract/wire.ts";
import { wireNamed } from "../../wire/index.ts";
import { countAll, weighMessage, weightOf } from "./weight.ts";

const byLetter: TokenCounter = { name: "letters", exact: true, maxBytesPerToken: 1, count: (text) => text.length };
const tokensOf = (message: unknown, wire = "anthropic", counter = byLetter) =>
  weightOf(weighMessage(wireNamed(wire) as Wire, message, countAll(counter))).tokens;

describe("what no model reads as text", () => {
  it.each([
    "signature",
    "thoughtSignature",
    "thought_signature",
    "encrypted_content",
    "media_type",
    "mimeType",
    "mime_type",
  ])("%s counts the same however long it is", (name) => {
    const turn = (chars: number) => ({
      role: "assistant",
      content: [{ type: "x", text: "y", [name]: "s".repeat(chars) }],
    });
    expect(tokensOf(turn(4000))).toBe(tokensOf(turn(1)));
  });

  it("nor is a cache's mark", () => {
    const turn = (mark: object) => ({ role: "user", content: [{ type: "text", text: "y", cache_control: mark }] });
    expect(tokensOf(turn({ type: "ephemeral", ttl: "1h" }))).toBe(tokensOf(turn({})));
  });
});

describe("text without a space", () => {
  const said = (content: string) => ({ role: "user", content });
  const result = (content: string) => ({ role: "user", content: [{ type: "tool_result", tool_use_id: "a", content }] });

  it("is counted like any other", () => {
    for (const text of ["汉".repeat(20_000), "deadbeef".repeat(2500)])
      expect(tokensOf(said(text)) - tokensOf(said(""))).toBe(text.length);
  });

  it("is counted by even samples where it is very long", () => {
    let asked = 0;
    const halves: TokenCounter = {
      ...byLetter,
      count: (text) => {
        asked += text.length;
        return text.replaceAll("b", "").length;
      },
    };
    const text = "a".repeat(500_000) + "b".repeat(500_000);
    for (const message of [said(text), result(text)]) {
      asked = 0;
      expect(tokensOf(message, "anthropic", halves)).toBeGreaterThan(480_000);
      expect(tokensOf(message, "anthropic", halves)).toBeLessThan(520_000);
      expect(asked).toBeLessThan(400_000);
    }
  });
});

it("a long number is more than one token", () => {
  const call = (n: number) => ({
    role: "assistant",
    content: [{ type: "tool_use", id: "a", name: "x", input: { n } }],
  });
  expect(tokensOf(call(0.123456789012345)) - tokensOf(call(1))).toBe(5);
});
