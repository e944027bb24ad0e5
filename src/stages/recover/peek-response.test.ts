import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NUMBERS } from "../policy/defaults.ts";
import { peekResponse } from "./peek-response.ts";

const refusal = { type: "error", error: { code: "context_length_exceeded", message: "too long" } };
const frame = (event: object, name?: string) =>
  `${name === undefined ? "" : `event: ${name}\n`}data: ${JSON.stringify(event)}\n\n`;
const created = frame({ type: "response.created" }, "response.created");

/** Makes a stream that comes in these pieces. */
function stream(pieces: readonly Uint8Array[], type = "text/event-stream; charset=utf-8"): Response {
  const left = [...pieces];
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const next = left.shift();
      if (next === undefined) controller.close();
      else controller.enqueue(next);
    },
  });
  return new Response(body, { headers: { "content-type": type } });
}
const whole = (text: string) => stream([new TextEncoder().encode(text)]);

describe("a stream is looked at until output begins", () => {
  it.each([
    ["an error first", frame(refusal), "context-overflow"],
    ["an error after what comes before output", `: wait\n\n${created}${frame(refusal, "error")}`, "context-overflow"],
    ["an error with no break after it", `${created}data: ${JSON.stringify(refusal)}`, "context-overflow"],
    ["CRLF", frame(refusal).replaceAll("\n", "\r\n"), "context-overflow"],
    [
      "a gateway's error without a type",
      frame({ error: { code: 400, message: "maximum context length is 5 tokens. However, you requested 9 tokens" } }),
      "context-overflow",
    ],
    ["output first", frame({ choices: [{ delta: { content: "prompt is too long" } }] }) + frame(refusal), "other"],
    [
      "output that speaks of an overflow",
      frame({ type: "content_block_delta", delta: { text: "context_length_exceeded" } }),
      "other",
    ],
    ["no event at all", "", "other"],
    ["no JSON", "data: [DONE]\n\n", "other"],
  ])("%s", async (_name, text, kind) => {
    const response = whole(text);
    expect((await peekResponse(response)).kind).toBe(kind);
    expect(await response.text()).toBe(text);
  });

  it("is not looked at for longer than a bounded start", async () => {
    const text = frame({ type: "ping", padding: "x".repeat(NUMBERS.recoverPeekBytes.default + 2000) }) + frame(refusal);
    const response = stream([...text.matchAll(/.{1,1000}/gs)].map(([part]) => new TextEncoder().encode(part)));
    expect((await peekResponse(response)).kind).toBe("other");
    expect(await response.text()).toBe(text);
  });

  it("no byte is lost and the verdict is the same, however the stream is cut", async () => {
    const text = `${created}${frame({ type: "ping", note: "grüße \u{1f680}" })}${frame(refusal)}`;
    const bytes = new TextEncoder().encode(text);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 12 }), async (cuts) => {
        const places = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
        const response = stream(places.slice(1).map((to, at) => bytes.slice(places[at], to)));
        expect((await peekResponse(response)).kind).toBe("context-overflow");
        expect(await response.text()).toBe(text);
      }),
      { numRuns: 50 },
    );
  });

  it("tells the request's size where the stream begins with it", async () => {
    const started = { type: "message_start", message: { usage: { input_tokens: 900, cache_read_input_tokens: 100 } } };
    const spoken = { type: "content_block_delta", delta: { text: "Well" } };
    const chunk = { candidates: [{ content: {} }], usageMetadata: { promptTokenCount: 70 } };
    const sizes = [
      [frame(started) + frame(spoken), 1000],
      [frame(chunk), 70],
      [frame(spoken), undefined],
      // A usage of 0 is not taken for an overflow, because gateways make up the first event.
      [frame({ type: "message_start", message: { usage: { input_tokens: 0 } } }) + frame(spoken), undefined],
      [frame(started) + frame(refusal), undefined],
    ] as const;
    for (const [text, observedTokens] of sizes) {
      const response = whole(text);
      const verdict = await peekResponse(response, { window: 50 });
      expect(verdict.observedTokens).toBe(observedTokens);
      expect(verdict.kind).toBe(text.includes("too long") ? "context-overflow" : "other");
      expect(await response.text()).toBe(text);
    }
  });

  it("a stream that breaks is the caller's to see", async () => {
    const body = new ReadableStream({ start: (controller) => controller.error(new Error("reset")) });
    const response = new Response(body, { headers: { "content-type": "text/event-stream" } });
    expect((await peekResponse(response)).kind).toBe("other");
    await expect(response.text()).rejects.toThrow("reset");
  });
});
