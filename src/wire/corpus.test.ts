import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, it, type TestContext } from "vitest";
import { corpusFolder } from "../../test/corpus.ts";
import type { Wire } from "../contract/wire.ts";
import { pairResults } from "./pair-results.ts";
import { detectWire, wireNamed } from "./registry.ts";

function textsIn(folder: string, context: TestContext): string[] {
  const path = corpusFolder(folder, context);
  return readdirSync(path).map((name) => gunzipSync(readFileSync(join(path, name))).toString("utf8"));
}

function checkConversation(wire: Wire, messages: readonly unknown[]): number {
  const views = messages.map((message) => wire.read(message));
  expect(views.filter(({ malformed }) => malformed > 0)).toEqual([]);
  const pairs = pairResults(views);
  expect(pairs.filter(({ callMessage, message }) => callMessage === null || callMessage > message)).toEqual([]);
  for (const { message: at, result } of pairs) {
    const message = messages[at];
    expect(wire.write(message, [{ at: result.at, texts: result.texts }])).toBe(message);
    const texts = result.texts.map((text) => `cut ${text.length}`);
    const written = wire.write(message, [{ at: result.at, texts }]);
    expect(wire.read(written)).toEqual({ ...views[at], results: [{ ...result, texts }] });
    expect(JSON.stringify(wire.write(written, [{ at: result.at, texts: result.texts }]))).toBe(JSON.stringify(message));
  }
  return pairs.length;
}

describe("recorded conversations", () => {
  it("tau-bench is OpenAI chat, and every result has its call", (context) => {
    for (const text of textsIn("tau-bench", context)) {
      for (const { traj } of JSON.parse(text) as { traj: unknown[] }[]) {
        const wire = detectWire(traj);
        const hasCalls = JSON.stringify(traj).includes('"tool_call_id"');
        expect(wire?.name ?? null).toBe(hasCalls ? "openai-chat" : null);
        if (wire !== null) expect(checkConversation(wire, traj)).toBeGreaterThan(0);
      }
    }
  });

  it("a pi transcript is known line by line, and every result has its call", (context) => {
    for (const text of textsIn("pi-sessions", context)) {
      const entries = text
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line) as { message?: unknown });
      const messages = entries.flatMap(({ message }) => (message === undefined ? [] : [message]));
      for (const lines of [entries, messages]) {
        const wire = detectWire(lines);
        expect(wire?.name).toBe("pi");
        if (wire !== null) expect(checkConversation(wire, lines)).toBeGreaterThan(100);
      }
      expect(detectWire(entries.slice(0, 1))?.name).toBe("pi");
    }
  });

  it("mini-swe has no calls to know a format by, and reads as chat all the same", (context) => {
    const chat = wireNamed("openai-chat");
    for (const text of textsIn("mini-swe", context)) {
      const { messages } = JSON.parse(text) as { messages: unknown[] };
      expect(detectWire(messages)).toBeNull();
      expect(chat && checkConversation(chat, messages)).toBe(0);
    }
  });
});
