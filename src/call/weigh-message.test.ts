import { describe, expect, it } from "vitest";
import type { TokenCounter } from "../contract/token-counter.ts";
import type { Wire } from "../contract/wire.ts";
import { wireNamed } from "../wire/index.ts";
import { weighMessage } from "./weigh-message.ts";

const byLetter: TokenCounter = { name: "letters", exact: true, maxBytesPerToken: 1, count: (text) => text.length };
const tokensOf = (message: unknown, wire = "anthropic", counter = byLetter) =>
  weighMessage(wireNamed(wire) as Wire, message, counter).weight.tokens;

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
