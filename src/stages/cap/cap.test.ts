import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cap } from "./cap.ts";
import { CUT_MARKER, lightenMessage } from "./lighten-message.ts";

const KIB = 1024;
const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value)).length;
const OMITTED = [{ role: "assistant", content: "[sessions_history omitted: message too large]" }];
const call = (id: string, more = "") => ({
  role: "assistant",
  content: [{ type: "toolCall", id, name: "bash", arguments: { command: `ls ${more}` } }],
  stopReason: "toolUse",
  timestamp: 1,
});
const result = (id: string, text: string) => ({
  role: "toolResult",
  toolCallId: id,
  toolName: "bash",
  content: [{ type: "text", text }],
  isError: false,
  timestamp: 2,
});
const user = (text: string) => ({ role: "user", content: text, timestamp: 3 });

describe("cap", () => {
  it("80 messages of 5 KB text, 7 KB thinking and 12 KB details: all flags, at most 80 KiB, not empty", () => {
    const messages = Array.from({ length: 80 }, (_, index) => ({
      role: "assistant",
      content: [
        { type: "text", text: `${index} ${"x".repeat(5 * KIB)}` },
        { type: "thinking", thinking: "y".repeat(7 * KIB), thinkingSignature: "s".repeat(4 * KIB) },
      ],
      details: { out: "z".repeat(12 * KIB) },
      usage: { input: 1 },
    }));
    const capped = cap(messages);
    expect(capped).toMatchObject({ truncated: true, droppedMessages: true, contentTruncated: true, total: 80 });
    expect(capped.bytes).toBe(bytesOf(capped.messages));
    expect(capped.bytes).toBeLessThanOrEqual(81_920);
    expect(capped.messages.length).toBeGreaterThan(5);
    expect(JSON.stringify(capped.messages)).not.toMatch(/details|usage|thinkingSignature/);
    expect(capped.messages.at(-1)).toMatchObject({ content: [{ text: expect.stringMatching(/^79 x/) }, {}] });
  });

  it("one 100 KB message that cannot shrink: the placeholder, exactly", () => {
    const messages = [user("before"), { role: "assistant", content: [], odd: { blob: "x".repeat(100 * KIB) } }];
    expect(cap(messages)).toEqual({
      messages: OMITTED,
      truncated: true,
      droppedMessages: true,
      contentTruncated: false,
      bytes: bytesOf(OMITTED),
      offset: 0,
      next: 1,
      total: 2,
    });
  });

  it("leaves a small history as it is, and says so", () => {
    const messages = [user("a"), call("1"), result("1", "ok")];
    const capped = cap(messages);
    expect(capped.messages).toEqual(messages);
    expect(capped).toMatchObject({ truncated: false, droppedMessages: false, contentTruncated: false, next: null });
    expect(cap([])).toMatchObject({ messages: [], bytes: 2, total: 0, truncated: false });
  });

  it("cuts a text to 4,000 characters and puts the marker behind it, never inside a pair", () => {
    const text = `${"a".repeat(3999)}😀${"b".repeat(100)}`;
    const { messages, contentTruncated } = cap([user("x".repeat(5000)), user(text)]);
    expect(contentTruncated).toBe(true);
    const [first, second] = messages as { content: string }[];
    expect(first?.content).toBe(`${"x".repeat(4000)}\n…(truncated)…`);
    expect(first?.content).toHaveLength(4014);
    expect(second?.content).toBe(`${"a".repeat(3999)}${CUT_MARKER}`);
    expect(cap(messages).messages).toEqual(messages);
    expect(cap([user("x".repeat(4000))])).toMatchObject({ contentTruncated: false, truncated: false });
  });

  it("usage and cost go without a word; details, a signature or image data make it truncated", () => {
    const flags = (message: object) => cap([{ role: "assistant", content: "x", ...message }]).truncated;
    expect(flags({ usage: { input: 9 }, cost: 1 })).toBe(false);
    expect(flags({ details: { a: 1 } })).toBe(true);
    expect(flags({ content: [{ type: "thinking", thinking: "t", thinkingSignature: "s" }] })).toBe(true);
    expect(flags({ content: [{ type: "image", data: "aGVsbG8=", mimeType: "image/png" }] })).toBe(true);
  });

  it("keeps an image's type and true size, in several formats", () => {
    const kept = (block: object) =>
      (lightenMessage({ role: "user", content: [block] }).value as { content: unknown[] }).content[0];
    const data = btoa("x".repeat(1000));
    expect(kept({ type: "image", data, mimeType: "image/png" })).toEqual({
      type: "image",
      mimeType: "image/png",
      bytes: 1000,
      omitted: true,
    });
    expect(kept({ type: "image", source: { type: "base64", media_type: "image/png", data } })).toMatchObject({
      source: { type: "base64", media_type: "image/png", bytes: 1000, omitted: true },
    });
    expect(kept({ type: "image_url", image_url: { url: `data:image/png;base64,${data}` } })).toMatchObject({
      image_url: { bytes: 1000, omitted: true },
    });
    expect(kept({ image: { format: "png", source: { bytes: new Uint8Array(1000) } } })).toMatchObject({
      image: { format: "png", source: { bytes: 1000, omitted: true } },
    });
  });

  it("cuts results and removes details in every format", () => {
    const long = "x".repeat(9000);
    const formats: object[] = [
      { role: "user", content: [{ type: "tool_result", tool_use_id: "1", content: [{ type: "text", text: long }] }] },
      { role: "tool", tool_call_id: "1", content: long },
      { type: "function_call_output", call_id: "1", output: long },
      { role: "user", parts: [{ functionResponse: { name: "f", response: { stdout: { deep: long } } } }] },
      {
        role: "user",
        content: [{ toolResult: { toolUseId: "1", content: [{ json: { out: long } }, { text: long }] } }],
      },
      {
        role: "tool",
        content: [
          { type: "tool-result", toolCallId: "1", toolName: "f", output: { type: "json", value: { out: long } } },
        ],
      },
      { lc: 1, type: "constructor", id: ["ToolMessage"], kwargs: { content: long, artifact: { out: long } } },
      { content: [{ type: "text", text: long }], structuredContent: { out: long } },
      {
        type: "message",
        id: "e",
        message: { role: "toolResult", content: [{ type: "text", text: long }], details: { out: long } },
      },
    ];
    for (const message of formats) {
      const { messages, contentTruncated } = cap([message]);
      expect(contentTruncated, JSON.stringify(message).slice(0, 80)).toBe(true);
      expect(JSON.stringify(messages)).not.toContain("x".repeat(4001));
    }
  });

  it("does not look for texts inside what a call was given", () => {
    const input = { text: "x".repeat(9000), details: "kept", usage: 1 };
    const messages = [{ role: "assistant", content: [{ type: "tool_use", id: "1", name: "write", input }] }];
    expect(cap(messages)).toMatchObject({ messages, truncated: false });
  });

  it("limit is the first layer and counts as no loss", () => {
    const messages = Array.from({ length: 9 }, (_, index) => user(String(index)));
    expect(cap(messages, { limit: 2 })).toMatchObject({
      messages: messages.slice(-2),
      droppedMessages: false,
      truncated: false,
      next: 2,
    });
    expect(cap(messages, { limit: 0 })).toMatchObject({ messages: [], droppedMessages: false, next: null });
  });

  it("drops a result together with its call", () => {
    const messages = [user("go"), call("1", "x".repeat(1000)), result("1", "a"), result("1b", "orphan"), user("end")];
    const capped = cap(messages, { maxBytes: 600 });
    expect(capped.messages).toEqual(messages.slice(3));
    // The hard cap is the exception: one message is better than none.
    expect(cap(messages.slice(0, 3), { maxBytes: 400 }).messages).toEqual([messages[2]]);
  });

  it("pages back through everything, each message once", () => {
    const messages = Array.from({ length: 50 }, (_, index) => [
      user(`${index} ${"u".repeat(index * 7)}`),
      call(`c${index}`),
      result(`c${index}`, "r".repeat(index * 11)),
    ]).flat();
    const read: unknown[] = [];
    let pages = 0;
    for (let offset: number | null = 0; offset !== null && pages < 200; pages++) {
      const page = cap(messages, { maxBytes: 2000, offset });
      read.unshift(...page.messages);
      offset = page.next;
    }
    expect(read).toEqual(messages);
    expect(pages).toBeGreaterThan(5);
  });

  it("grows around a message, both ways, within the room", () => {
    const messages = Array.from({ length: 40 }, (_, index) => ({
      ...user(`m${index}`),
      __openclaw: { id: `id${index}` },
    }));
    const page = cap(messages, { around: "id20", limit: 5 });
    expect(page.messages).toEqual(messages.slice(18, 23));
    expect(page).toMatchObject({ offset: 17, next: 22, total: 40 });
    expect(cap(messages, { around: 39, maxBytes: 300 }).messages.at(-1)).toEqual(messages[39]);
    expect(() => cap(messages, { around: "gone" })).toThrow(/no message "gone"/);
    const paired = [user("a"), call("1"), result("1", "r"), user("b"), call("2"), result("2", "s"), user("c")];
    expect(cap(paired, { around: 3, limit: 3 }).messages).toEqual([paired[3]]);
    expect(cap(paired, { around: 2, limit: 1 }).messages).toEqual([paired[2]]);
  });

  it("leaves messages of results out when asked", () => {
    const messages = [user("a"), call("1"), result("1", "r"), user("b")];
    expect(cap(messages, { includeTools: false })).toMatchObject({ total: 3, droppedMessages: false });
    expect(cap(messages, { includeTools: false }).messages).toEqual([messages[0], messages[1], messages[3]]);
  });

  it("refuses options that mean nothing", () => {
    expect(() => cap([], { maxBytes: 10 })).toThrow(/maxBytes must be a whole number from 128/);
    expect(() => cap([], { limit: -1 })).toThrow(/limit must be/);
    expect(() => cap([], { offset: 0.5 })).toThrow(/offset must be/);
  });

  it("reads no more of a huge message than it needs", () => {
    const huge = { role: "assistant", content: "x".repeat(64 * KIB * KIB) };
    const odd = { role: "assistant", content: [], odd: Array.from({ length: 300_000 }, (_, index) => ({ index })) };
    expect(cap([odd, huge])).toMatchObject({ droppedMessages: true, contentTruncated: true, next: 1 });
  });

  it("bytes is the JSON's true size and within the limit, whatever the messages are; nothing is changed", () => {
    const block = fc.oneof(
      fc.record({ type: fc.constant("text"), text: fc.string({ unit: "binary", maxLength: 200 }) }),
      fc.record({
        type: fc.constant("text"),
        text: fc.integer({ min: 3990, max: 4020 }).map((size) => "é\n".repeat(size / 2)),
      }),
      fc.record({ type: fc.constant("thinking"), thinking: fc.string(), thinkingSignature: fc.string() }),
      fc.record({ type: fc.constant("image"), data: fc.base64String(), mimeType: fc.constant("image/png") }),
      fc.anything({
        withBigInt: true,
        withDate: true,
        withMap: true,
        withSet: true,
        withTypedArray: true,
        withNullPrototype: true,
      }),
    );
    const message = fc.oneof(
      fc.record({
        role: fc.constantFrom("user", "assistant", "toolResult"),
        content: fc.array(block, { maxLength: 4 }),
      }),
      fc.record({ role: fc.constant("toolResult"), toolCallId: fc.constantFrom("a", "b"), content: fc.string() }),
      fc.anything(),
    );
    fc.assert(
      fc.property(fc.array(message, { maxLength: 12 }), fc.integer({ min: 128, max: 3000 }), (messages, maxBytes) => {
        const capped = cap(messages, { maxBytes });
        expect(capped.bytes).toBe(bytesOf(capped.messages));
        expect(capped.bytes).toBeLessThanOrEqual(maxBytes);
        expect(capped.messages.length === 0).toBe(messages.length === 0);
        expect(capped.truncated || !(capped.droppedMessages || capped.contentTruncated)).toBe(true);
        expect(JSON.parse(JSON.stringify(capped.messages))).toEqual(capped.messages);
      }),
      { numRuns: 150 },
    );
  });

  it.each<[string, (text: string) => Record<string, unknown>, (message: never) => string]>([
    [
      "pi",
      (content) => ({ role: "assistant", content: [{ type: "toolCall", id: "w", arguments: { path: "a", content } }] }),
      (message: { content: [{ arguments: object }] }) => JSON.stringify(message.content[0].arguments),
    ],
    [
      "anthropic",
      (content) => ({ role: "assistant", content: [{ type: "tool_use", id: "w", input: { path: "a", content } }] }),
      (message: { content: [{ input: object }] }) => JSON.stringify(message.content[0].input),
    ],
    [
      "openai-chat",
      (content) => ({
        role: "assistant",
        tool_calls: [{ id: "w", function: { name: "write", arguments: JSON.stringify({ path: "a", content }) } }],
      }),
      (message: { tool_calls: [{ function: { arguments: string } }] }) => message.tool_calls[0].function.arguments,
    ],
    [
      "openai-responses",
      (content) => ({ type: "function_call", call_id: "w", arguments: JSON.stringify({ path: "a", content }) }),
      (message: { arguments: string }) => message.arguments,
    ],
    [
      "gemini",
      (content) => ({ role: "model", parts: [{ functionCall: { name: "write", args: { path: "a", content } } }] }),
      (message: { parts: [{ functionCall: { args: object } }] }) => JSON.stringify(message.parts[0].functionCall.args),
    ],
    [
      "bedrock",
      (content) => ({ role: "assistant", content: [{ toolUse: { toolUseId: "w", input: { path: "a", content } } }] }),
      (message: { content: [{ toolUse: { input: object } }] }) => JSON.stringify(message.content[0].toolUse.input),
    ],
    [
      "langchain",
      (content) => ({ type: "ai", content: "", tool_calls: [{ id: "w", args: { path: "a", content } }] }),
      (message: { tool_calls: [{ args: object }] }) => JSON.stringify(message.tool_calls[0].args),
    ],
  ])("one long call costs its arguments, not the history: %s", (_format, write, read) => {
    const [before, after] = [
      { role: "user", content: "write it" },
      { role: "user", content: "thanks" },
    ];
    const capped = cap([before, write("x".repeat(200_000)), after]);
    expect(capped.messages).toHaveLength(3);
    expect(capped).toMatchObject({ droppedMessages: false, contentTruncated: true, truncated: true });
    const input = JSON.parse(read(capped.messages[1] as never)) as { path: string; content: string };
    expect(input.path).toBe("a");
    expect(input.content).toMatch(/^x{1000,}\n…\(truncated\)…$/);
    // What has room is not cut.
    expect(cap([before, write("x".repeat(20_000)), after]).messages[1]).toEqual(write("x".repeat(20_000)));
  });

  it("takes what JSON cannot say: cycles, getters that throw, no list at all", () => {
    const cycle: Record<string, unknown> = { role: "user", content: "x" };
    cycle.self = cycle;
    const thrower = {
      role: "user",
      get content(): string {
        throw new Error("no");
      },
    };
    const capped = cap([cycle, thrower, null, undefined, 12n, Symbol("s")]);
    expect(capped.bytes).toBe(bytesOf(capped.messages));
    expect(capped.messages[0]).toEqual({ role: "user", content: "x", self: "[circular]" });
    expect(cap("text" as never).messages).toEqual([]);
    const frozen = Object.freeze([Object.freeze({ role: "user", content: "y".repeat(5000), details: {} })]);
    expect(cap(frozen).contentTruncated).toBe(true);
    expect(frozen[0]).toHaveProperty("details");
  });
});
