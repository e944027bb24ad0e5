import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NUMBERS } from "../policy/defaults.ts";
import { forDisplay, MAX_DISPLAY_BLOCKS } from "./for-display.ts";

const MAX_CHARS = NUMBERS.displayTextChars.default;
const image = Buffer.alloc(1001, 7);
const base64 = image.toString("base64");
const omitted = { bytes: 1001, omitted: true };

function deepFreeze<Value>(value: Value): Value {
  if (typeof value === "object" && value !== null && !ArrayBuffer.isView(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}

describe("forDisplay", () => {
  it("passes small results as they are", () => {
    const result = deepFreeze({
      content: [
        { type: "text", text: "hello", annotations: { audience: ["user"] } },
        { type: "resource_link", uri: "file:///a", name: "a" },
      ],
      details: { exitCode: 0 },
      structuredContent: { rows: [1, 2] },
      isError: false,
      _meta: { a: null },
    });
    expect(forDisplay(result)).toStrictEqual(result);
    expect(forDisplay("hello")).toBe("hello");
    expect(forDisplay(null)).toBeNull();
    expect(forDisplay(undefined)).toBeUndefined();
    expect(forDisplay(["a", { type: "text", text: "b" }, 3])).toStrictEqual(["a", { type: "text", text: "b" }, 3]);
  });

  it("shows at most 8,000 characters of a text, the true count of those left out among them", () => {
    fc.assert(
      fc.property(fc.integer({ min: MAX_CHARS - 50, max: MAX_CHARS + 5000 }), fc.nat(3), (length, shift) => {
        const text = "a".repeat(shift) + "\u{1f600}".repeat(Math.ceil(length / 2));
        const shown = forDisplay(text) as string;
        expect(shown.length).toBeLessThanOrEqual(MAX_CHARS);
        expect(shown.isWellFormed()).toBe(true);
        if (text.length <= MAX_CHARS) {
          expect(shown).toBe(text);
          return;
        }
        const note = /\n\.\.\. \[([\d,]+) characters omitted\]$/.exec(shown) as RegExpExecArray;
        const start = shown.slice(0, note.index);
        expect(text.startsWith(start)).toBe(true);
        expect(start.length + Number(note[1]?.replace(",", ""))).toBe(text.length);
        expect(shown.length).toBeGreaterThan(MAX_CHARS - 8);
      }),
    );
    expect(forDisplay("a\ud800")).toBe("a\ufffd");
  });

  it("shortens text wherever a result holds it", () => {
    const long = "x".repeat(20_000);
    const short = forDisplay(long);
    const result = deepFreeze({
      content: [
        { type: "text", text: long, extra: 1 },
        { type: "tool_result", tool_use_id: "t1", content: [{ type: "text", text: long }], is_error: true },
        { type: "tool_result", content: long },
        { type: "resource", resource: { uri: "file:///a", text: long } },
        { type: "document", source: { type: "text", media_type: "text/plain", data: long } },
      ],
    });
    expect(forDisplay(result)).toStrictEqual({
      content: [
        { type: "text", text: short, extra: 1 },
        { type: "tool_result", tool_use_id: "t1", content: [{ type: "text", text: short }], is_error: true },
        { type: "tool_result", content: short },
        { type: "resource", resource: { uri: "file:///a", text: short } },
        { type: "document", source: { type: "text", media_type: "text/plain", data: short } },
      ],
    });
    expect(forDisplay({ success: true, content: long, metadata: { n: 1 } })).toStrictEqual({
      success: true,
      content: short,
      metadata: { n: 1 },
    });
  });

  it.each<[string, object, object]>([
    ["MCP image", { type: "image", data: base64, mimeType: "image/png" }, { mimeType: "image/png", ...omitted }],
    ["MCP audio", { type: "audio", data: base64, mimeType: "audio/wav" }, { mimeType: "audio/wav", ...omitted }],
    ["image as bytes", { type: "image", data: new Uint8Array(image) }, omitted],
    [
      "MCP resource",
      { type: "resource", resource: { uri: "a:b", blob: base64 } },
      { resource: { uri: "a:b", ...omitted } },
    ],
    [
      "Anthropic",
      {
        type: "image",
        source: { type: "base64", media_type: "image/png", data: base64 },
        cache_control: { type: "x" },
      },
      { source: { type: "base64", media_type: "image/png", ...omitted }, cache_control: { type: "x" } },
    ],
    [
      "Gemini",
      { inlineData: { mimeType: "image/png", data: base64 } },
      { inlineData: { mimeType: "image/png", ...omitted } },
    ],
    [
      "OpenAI chat",
      { type: "image_url", image_url: { url: `data:image/png;base64,${base64}`, detail: "low" } },
      { image_url: { detail: "low", ...omitted } },
    ],
    ["OpenAI responses", { type: "input_image", image_url: `data:image/png;base64,${base64}` }, omitted],
    [
      "OpenAI audio",
      { type: "input_audio", input_audio: { data: base64, format: "wav" } },
      { input_audio: { format: "wav", ...omitted } },
    ],
    [
      "AI SDK file",
      { type: "file", data: base64, mediaType: "application/pdf" },
      { mediaType: "application/pdf", ...omitted },
    ],
    ["AI SDK image", { type: "image", image: base64 }, omitted],
    ["Bedrock", { image: { format: "png", source: { bytes: image } } }, { image: { format: "png", source: omitted } }],
  ])("takes the data out of a block: %s", (_, block, shown) => {
    const type = "type" in block ? { type: block.type } : {};
    expect(forDisplay(deepFreeze({ content: [block] }))).toStrictEqual({ content: [{ ...type, ...shown }] });
  });

  it("leaves links, and data that is no media", () => {
    const content = [
      { type: "image_url", image_url: { url: "https://example.com/a.png" } },
      { type: "image", source: { type: "url", url: "https://example.com/a.png" } },
      { type: "image", image: "https://example.com/a.png" },
      { type: "json", data: "abcd" },
      { type: "blob", data: { a: 1 }, mimeType: "application/json" },
    ];
    expect(forDisplay({ content })).toStrictEqual({ content });
  });

  it("bounds details, structuredContent and unknown fields", () => {
    const huge = { log: "x".repeat(1_000_000), code: 7 };
    const shown = forDisplay({
      content: [{ type: "text", text: "t", raw: huge.log }],
      details: huge,
      structuredContent: huge,
      unknown: huge.log,
      kept: 1,
    }) as Record<string, { code?: number }>;
    expect(shown).toMatchObject({ details: { code: 7 }, structuredContent: { code: 7 }, kept: 1 });
    for (const part of [shown.details, shown.structuredContent, shown.unknown, shown.content]) {
      expect(JSON.stringify(part).length).toBeLessThan(8300);
    }
  });

  it("shows the first and the last blocks of very many", () => {
    const content = Array.from({ length: 1000 }, (_, index) => ({ type: "text", text: `${index}` }));
    const { content: shown } = forDisplay({ content }) as { content: { text: string }[] };
    expect(shown).toHaveLength(MAX_DISPLAY_BLOCKS + 1);
    expect(shown[0]?.text).toBe("0");
    expect(shown.at(-1)?.text).toBe("999");
    expect(shown[MAX_DISPLAY_BLOCKS / 2]?.text).toBe("... [800 blocks omitted]");
  });

  it("survives circles, getters that throw and thousands of fields", () => {
    const circle: Record<string, unknown> = { type: "text", text: "t" };
    circle.content = [circle, circle];
    circle.source = circle;
    expect(JSON.stringify(forDisplay(circle)).length).toBeLessThan(10_000_000);
    const bad = {
      get content() {
        throw new Error("no");
      },
      ok: 1,
    };
    expect(forDisplay(bad)).toStrictEqual({ content: "[unreadable]", ok: 1 });
    const wide = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`k${index}`, index]));
    expect(JSON.stringify(forDisplay(wide)).length).toBeLessThan(9000);
    expect(forDisplay(new Map([["a", new Date(0)]]))).toStrictEqual({ a: "1970-01-01T00:00:00.000Z" });
    const prototype = forDisplay(JSON.parse('{"__proto__":{"x":1},"content":"c"}'));
    expect(JSON.stringify(prototype)).toBe('{"__proto__":{"x":1},"content":"c"}');
  });

  it("gives plain JSON data for anything, the same each time, and changes nothing", () => {
    const block = fc.record(
      {
        type: fc.constantFrom("text", "image", "resource"),
        text: fc.oneof(fc.string(), fc.anything()),
        data: fc.oneof(fc.base64String(), fc.anything()),
        source: fc.anything(),
        content: fc.anything(),
      },
      { requiredKeys: [] },
    );
    const result = fc.oneof(
      fc.anything({ withBigInt: true, withMap: true, withSet: true, withDate: true, withTypedArray: true }),
      fc.record({ content: fc.array(block), details: fc.anything(), other: fc.anything() }, { requiredKeys: [] }),
    );
    fc.assert(
      fc.property(result, (given) => {
        const before = structuredClone(given);
        const shown = forDisplay(given);
        if (shown !== undefined) expect(JSON.parse(JSON.stringify(shown))).toStrictEqual(shown);
        expect(forDisplay(given)).toStrictEqual(shown);
        expect(given).toEqual(before);
      }),
      { numRuns: 300 },
    );
  });
});
