import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { HtmlReader } from "../contract/html-reader.ts";
import type { Limits } from "../contract/limits.ts";
import { createSpillway, type SpillwayOptions } from "../index.ts";
import { memoryStore } from "../storage/stores/memory.ts";
import { chunksOf, lentStream } from "../testing/arbitrary.ts";

const paragraphs = (count: number) =>
  Array.from(
    { length: count },
    (_, n) => `<div class="c${n}"><h2>Part ${n}</h2><p>Sentence ${n} of it.</p></div>\n`,
  ).join("");
const page = (count: number) =>
  `<!DOCTYPE html>\n<html><head><title>A page</title><style>${"x{}".repeat(500)}</style></head><body>${paragraphs(count)}</body></html>\n`;
const LIMITS = { maxChars: 3000, maxLines: 90 };

async function open(options: SpillwayOptions = {}) {
  const store = memoryStore();
  const spillway = await createSpillway({ store, env: {}, reader: { by: "shell" }, ...options });
  const read = async (id: string | null | undefined) =>
    new TextDecoder().decode((await store.read(id ?? "", "local", { from: 0, to: 10_000_000 })) as Uint8Array);
  return { spillway, read };
}

const chunks = (text: string, size: number) => lentStream(chunksOf(Buffer.from(text), size));

describe("web pages", () => {
  it("are shown as text, which is an artifact of its own; the receipt names the page as it came", async () => {
    const { spillway, read } = await open();
    const html = page(200);
    const { text, receipt } = await spillway.admit({ tool: "web_fetch", output: html, limits: LIMITS });
    expect(text).toContain("# A page\n\n## Part 0\n\nSentence 0 of it.\n");
    expect(text).not.toContain("<div");
    expect(text).toContain(`[HTML of ${html.length.toLocaleString("en")} bytes shown as text; the HTML is artifact `);
    expect(receipt.shown.chars).toBeLessThanOrEqual(3000);
    expect(receipt.kind).toBe("html");
    expect(receipt.total.bytes).toBe(html.length);
    expect(receipt.kept.bytes + receipt.omitted.bytes).toBe(html.length);
    expect(receipt.kept.lines + receipt.omitted.lines).toBe(receipt.total.lines);
    expect(await read(receipt.original)).toBe(html);
    const whole = await read(receipt.artifact);
    expect(whole.startsWith("# A page\n\n## Part 0\n")).toBe(true);
    const [gap] = receipt.cuts;
    const before = whole.split("\n")[(gap?.fromLine ?? 0) - 2] ?? "";
    expect(text.split("\n")).toContain(before);
    // However it comes, and from wherever it stands in a result.
    const streamed = await spillway.admit({ tool: "web_fetch", output: chunks(html, 700), limits: LIMITS });
    expect(streamed).toEqual({ output: text, text, receipt });
    const result = { content: [{ type: "text", text: html }] };
    const inside = await spillway.admit({ tool: "web_fetch", output: result, limits: LIMITS });
    expect(inside.output).toEqual({ content: [{ type: "text", text }] });
    expect([inside.receipt.kept, inside.receipt.original]).toEqual([receipt.kept, receipt.original]);
  });

  it("whose text is within the limits are shown whole, and the page itself is kept", async () => {
    const { spillway, read } = await open();
    const html = page(20);
    const { text, receipt } = await spillway.admit({ tool: "web_fetch", output: html, limits: { maxChars: 2000 } });
    expect(text).toMatch(
      /^# A page\n[^]*Sentence 19 of it\.\n\[HTML of [\d,]+ bytes shown as text; the HTML is artifact \w+\]$/,
    );
    expect(receipt).toMatchObject({ cuts: [], saved: "yes", kind: "html" });
    expect([receipt.artifact, await read(receipt.original)]).toEqual([receipt.original, html]);
    expect(receipt.omitted.bytes).toBeGreaterThan(1000);
    expect((await spillway.admit({ tool: "web_fetch", output: text, limits: { maxChars: 2000 } })).text).toBe(text);
  });

  it("of which only the note about them has no room are bound by the limit that the page is over", async () => {
    const { spillway } = await open();
    const html = `<html><head><title>A page</title></head><body>\n${"<p>One sentence.</p>\n".repeat(2)}</body></html>\n`;
    const limits = { maxBytes: 80, maxLines: 5 };
    const { receipt } = await spillway.admit({ tool: "web_fetch", output: html, limits });
    expect(receipt).toMatchObject({ kind: "html", cutBy: "bytes", total: { lines: 4 } });
    expect(receipt.omitted.bytes).toBeGreaterThan(0);
  });

  it("are cut anew from their text where they come back to be made smaller", async () => {
    const { spillway } = await open();
    const { text, receipt } = await spillway.admit({ tool: "web_fetch", output: page(200), limits: LIMITS });
    const again = await spillway.admit({ tool: "web_fetch", output: text, limits: { maxChars: 800 } });
    expect(again.text).toContain(`the HTML is artifact ${receipt.original}]`);
    expect(again.text).toContain("# A page\n");
    expect(again.receipt.artifact).toBe(receipt.artifact);
  });

  it("stay within any limits and add up, with secrets replaced and an exit code too", async () => {
    const { spillway } = await open({ redact: "model" });
    const limits = fc.oneof(
      fc.record({ maxChars: fc.integer({ min: 0, max: 3000 }) }),
      fc.record({ maxBytes: fc.integer({ min: 0, max: 3000 }), maxLines: fc.nat({ max: 60 }) }),
      fc.record({ maxTokens: fc.nat({ max: 600 }) }),
    ) as fc.Arbitrary<Limits>;
    await fc.assert(
      fc.asyncProperty(
        fc.nat({ max: 120 }),
        limits,
        fc.constantFrom(undefined, 0, 7),
        async (count, within, exitCode) => {
          const secret = `ghp_${"a1B2".repeat(9)}`;
          const html = page(count).replace("</body>", `<p>token ${secret}</p>\n</body>`);
          const output = { content: [{ type: "text", text: html }] };
          for (const given of [html, output]) {
            const { text, receipt } = await spillway.admit({
              output: given,
              limits: within,
              ...(exitCode !== undefined && { exitCode }),
            });
            expect(text).not.toContain(secret);
            expect(receipt.faults).toBeUndefined();
            expect(receipt.shown.bytes).toBeLessThanOrEqual(within.maxBytes ?? Infinity);
            expect(receipt.shown.chars).toBeLessThanOrEqual(within.maxChars ?? Infinity);
            expect(receipt.shown.lines).toBeLessThanOrEqual(within.maxLines ?? Infinity);
            expect(receipt.shown.tokens).toBeLessThanOrEqual(within.maxTokens ?? Infinity);
            for (const unit of ["bytes", "lines"] as const) {
              const parts = [receipt.kept, receipt.folded, receipt.redacted, receipt.omitted].map((part) => part[unit]);
              expect(Math.min(...parts)).toBeGreaterThanOrEqual(0);
              expect(parts.reduce((sum, part) => sum + part)).toBe(receipt.total[unit]);
            }
            expect(receipt.total.bytes).toBe(html.length);
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  it("show and keep no secret that comes together only as text", async () => {
    const secret = `ghp_${"a1B2".repeat(9)}`;
    const html = page(200).replace("<h2>Part 0", `<p>${secret.replace("a1B2", "a1<b>B2</b>")}</p><h2>Part 0`);
    const shown = await open({ redact: "model" });
    const { text, receipt } = await shown.spillway.admit({ output: html, limits: LIMITS });
    expect(text).not.toContain(secret);
    expect([receipt.storedRedactions?.count, await shown.read(receipt.artifact)]).toEqual([
      1,
      expect.not.stringContaining(secret),
    ]);
    const kept = await open();
    const stored = await kept.spillway.admit({ output: html, limits: LIMITS });
    expect(await kept.read(stored.receipt.artifact)).not.toContain(secret);
  });

  it("are left as they are where a tool read them from a file", async () => {
    const { spillway } = await open();
    const { text, receipt } = await spillway.admit({ tool: "read_file", output: page(200), limits: LIMITS });
    expect([text.includes("<!DOCTYPE html>"), receipt.kind, receipt.original]).toEqual([true, "source", undefined]);
  });

  const failing: [name: string, HtmlReader | null, RegExp | undefined][] = [
    ["no reader", null, undefined],
    ["a reader that fails", { read: () => Promise.reject(new Error("no")) }, /could not be made into text: no/],
    ["a page without text", { read: async () => " \n" }, undefined],
  ];
  it.each(failing)("with %s are cut as they came", async (_name, htmlReader, fault) => {
    const { spillway } = await open({ htmlReader });
    const { text, receipt } = await spillway.admit({ tool: "web_fetch", output: page(200), limits: LIMITS });
    expect(text).toContain("<!DOCTYPE html>\n<html>");
    expect(receipt.original).toBeUndefined();
    if (fault === undefined) expect(receipt.faults).toBeUndefined();
    else expect(receipt.faults?.[0]).toMatch(fault);
  });

  it("within their limits, or larger than can be read, are left as they are", async () => {
    const { spillway } = await open();
    const small = await spillway.admit({ tool: "web_fetch", output: page(1), limits: LIMITS });
    expect(small.text).toBe(page(1));
    const large = page(1).replace("</body>", `${"<p>more</p>".repeat(800_000)}</body>`);
    const { text, receipt } = await spillway.admit({ tool: "web_fetch", output: large, limits: LIMITS });
    expect(text).toContain("<!DOCTYPE html>");
    expect([receipt.kind, receipt.original, receipt.faults]).toEqual(["html", undefined, undefined]);
  });
});
