import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSpillway } from "../index.ts";
import { memoryStore } from "../storage/stores/memory.ts";

const make = () => createSpillway({ env: {}, store: memoryStore(), ledger: null, redact: "off" });
const block = (text: string) => ({ type: "text", text });
const numbered = (count: number, line: string) => Array.from({ length: count }, (_, n) => `${n} ${line}`).join("\n");

describe("blocks that share one room", () => {
  it.each([
    ["lines of words", numbered(3000, "of many lines with words")],
    ["very short lines", numbered(9000, "")],
  ])("show both of one long line and %s, and use what there is", async (_, many) => {
    const spillway = await make();
    const content = [block("x".repeat(87_000)), block(many)];
    for (const blocks of [content, content.toReversed()]) {
      const { output, receipt } = await spillway.admit({ tool: "t", output: { content: blocks } });
      const lengths = (output as { content: { text: string }[] }).content.map(({ text }) => text.length);
      expect(Math.min(...lengths)).toBeGreaterThan(8000);
      expect(receipt.shown.bytes).toBeGreaterThan(0.85 * 51_200);
    }
  });

  it.each([5, 6, 8, 10, 14, 25])(
    "use the bytes within %i lines, of which less than one is left for each",
    async (maxLines) => {
      const spillway = await make();
      const content = [block("x1 ".repeat(29_000)), block(numbered(4000, "of many lines with words"))];
      for (const blocks of [content, content.toReversed()]) {
        const { receipt } = await spillway.admit({ tool: "t", limits: { maxLines }, output: { content: blocks } });
        expect(receipt.shown.bytes).toBeGreaterThan(0.85 * 51_200);
      }
    },
  );

  it("leave little of the limits unused where something is cut", async () => {
    const spillway = await make();
    const text = fc.oneof(
      fc.integer({ min: 1, max: 60_000 }).map((length) => "x".repeat(length)),
      fc.integer({ min: 1, max: 3000 }).map((count) => numbered(count, "")),
      fc.integer({ min: 1, max: 1500 }).map((count) => numbered(count, "some words of a line that is longer")),
    );
    const property = fc.asyncProperty(fc.array(text, { minLength: 2, maxLength: 6 }), async (texts) => {
      const { receipt } = await spillway.admit({ tool: "t", output: { content: texts.map(block) }, fold: false });
      const { shown, limits, cutBy } = receipt;
      if (cutBy === null) return;
      const used = Math.max(shown.bytes / (limits.maxBytes ?? 0), shown.lines / (limits.maxLines ?? 0));
      expect(used).toBeGreaterThan(0.93);
      expect(used).toBeLessThanOrEqual(1);
    });
    await fc.assert(property, { numRuns: 60 });
  });
});

it("ends where what is cut needs no room: binary that is described", async () => {
  const spillway = await make();
  const content = [block("\u0000\u0001\u0002\u0003"), block("words")];
  const { output } = await spillway.admit({ tool: "t", output: { content } });
  expect(output).toMatchObject({
    content: [{ text: expect.stringContaining("binary output not shown") }, { text: "words" }],
  });
});

describe("very many texts", () => {
  it.each([64, 500, 600, 2000])("make one artifact and one marker with its id: %i blocks", async (count) => {
    const spillway = await make();
    const content = Array.from({ length: count }, (_, n) => block(`block ${n + 1}\n${"words ".repeat(200)}`));
    const { text, receipt } = await spillway.admit({ tool: "t", output: { content } });
    expect(receipt.artifacts).toBeUndefined();
    expect(text.match(new RegExp(receipt.artifact as string, "g"))).toHaveLength(1);
    expect(text).toContain(`blocks as one text, each from a line of its own: block 1 at 1, `);
    const [, at] = new RegExp(`, ${count} at (\\d+)\\]`).exec(text) ?? [];
    const page = await spillway.recall(receipt.artifact as string, { lines: [Number(at), Number(at)] });
    expect(page.text).toContain(`block ${count}`);
    // What comes again is known, and stays as it is.
    const again = await spillway.admit({ tool: "t", output: { content: [block(text)] } });
    expect(again.text).toBe(text);
  });

  it.each([
    ["an object", (texts: string[]) => Object.fromEntries(texts.map((text, n) => [`key${n}`, text]))],
    ["a list", (texts: string[]) => texts],
  ])("make one artifact and show its id in %s", async (_, shape) => {
    const spillway = await make();
    for (const count of [64, 400, 600, 3000]) {
      const texts = Array.from({ length: count }, (__, n) => `${n} ${"some words ".repeat(90)}`);
      const { text, receipt } = await spillway.admit({ tool: "t", output: shape(texts) });
      expect(receipt.artifacts).toBeUndefined();
      expect(text).toContain(receipt.artifact as string);
    }
  });
});
