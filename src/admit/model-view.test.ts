import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Receipt } from "../contract/receipt.ts";
import type { SpillwayOptions } from "../index.ts";
import { createSpillway } from "../index.ts";
import { memoryLedger } from "../storage/ledgers/memory.ts";
import { memoryStore } from "../storage/stores/memory.ts";
import { chunksOf, lentStream } from "../testing/arbitrary.ts";

const make = (options: SpillwayOptions = {}) =>
  createSpillway({ store: memoryStore(), ledger: memoryLedger(), redact: "model", env: {}, ...options });
const TOKEN = `ghp_${"a1B2c3D4e5F6g7H8".repeat(3).slice(0, 36)}`;
const KEY = [
  "-----BEGIN PRIVATE KEY-----",
  "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7",
  "Kj3hQ2mZ8vX1pL0dRtYuWqEoIaSsDfGhJkLzXcVbNm1234567890",
  "-----END PRIVATE KEY-----",
].join("\n");
const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join("");

function expectExact({ total, kept, folded, redacted, omitted }: Receipt, source: string): void {
  const all = {
    bytes: Buffer.byteLength(source),
    lines: source === "" ? 0 : source.replace(/\n$/, "").split("\n").length,
  };
  expect(total).toEqual(all);
  for (const unit of ["bytes", "lines"] as const) {
    const parts = [kept[unit], folded[unit], redacted[unit], omitted[unit]];
    expect(
      parts.every((part) => Number.isSafeInteger(part) && part >= 0),
      JSON.stringify(parts),
    ).toBe(true);
    expect(parts.reduce((sum, part) => sum + part)).toBe(total[unit]);
  }
}

const SECRET_BYTES = {
  "[redacted:github-token]": TOKEN.length,
  "[redacted:private-key]": 52,
  "[redacted:assigned-secret]": "hunter2x9Q".length,
};
const arbitraryLine = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit: "grapheme", maxLength: 30 }) },
  { weight: 2, arbitrary: fc.constant(`token is ${TOKEN} here`) },
  fc.constant(TOKEN),
  fc.constant(KEY),
  fc.constant("\u001b[31mred\u001b[0m password=hunter2x9Q"),
  fc.constant("same line\nsame line\nsame line\nsame line"),
);
const arbitraryOutput = fc
  .tuple(fc.array(arbitraryLine, { maxLength: 60 }), fc.constantFrom("\n", "\r\n"), fc.boolean())
  .map(([each, end, isOpen]) => each.join(end) + (isOpen ? "" : end));
const arbitraryLimits = fc.record(
  { maxBytes: fc.nat(4000), maxLines: fc.nat(80), maxChars: fc.nat(4000), maxTokens: fc.nat(800) },
  { requiredKeys: [] },
);

describe('redact: "model"', () => {
  it("accounts for every source byte and line, stays within limits and shows no secret, in every chunking", async () => {
    const spillway = await make();
    await fc.assert(
      fc.asyncProperty(
        arbitraryOutput,
        arbitraryLimits,
        fc.constantFrom("head", "tail", "head-tail"),
        fc.boolean(),
        fc.integer({ min: 1, max: 400 }),
        async (output, limits, strategy, fold, size) => {
          const about = { tool: "t", limits, strategy, fold };
          const { text, receipt } = await spillway.admit({ ...about, output });
          expectExact(receipt, output.toWellFormed());
          expect(text).not.toMatch(/ghp_a1B2|MIIEvQ|Kj3hQ2|hunter2/);
          expect(receipt.shown.bytes).toBeLessThanOrEqual(limits.maxBytes ?? Number.POSITIVE_INFINITY);
          expect(receipt.shown.lines).toBeLessThanOrEqual(limits.maxLines ?? Number.POSITIVE_INFINITY);
          if (receipt.omitted.bytes > 0 && receipt.moreCuts === 0 && !fold) {
            expect(receipt.cuts.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(receipt.omitted.bytes);
          }
          if (!fold) {
            const seen = Object.entries(SECRET_BYTES).reduce(
              (sum, [mark, bytes]) => sum + (text.split(mark).length - 1) * bytes,
              0,
            );
            // The mark that a cut goes through counts as well, if its start is shown.
            expect(receipt.redacted.bytes).toBeGreaterThanOrEqual(seen);
            expect(receipt.redacted.bytes).toBeLessThanOrEqual(seen + 60);
          }
          const bytes = Buffer.from(output);
          const streamed = await spillway.admit({ ...about, output: lentStream(chunksOf(bytes, size)) });
          expect({ text: streamed.text, receipt: streamed.receipt }).toEqual({ text, receipt });
        },
      ),
      { numRuns: 100 },
    );
  });

  it("changes an output within its limits too, and says how much", async () => {
    const spillway = await make();
    const output = `before ${TOKEN} after\n${KEY}\nlast ${TOKEN}`;
    const { text, receipt } = await spillway.admit({ tool: "t", output });
    expect(text).toBe(
      "before [redacted:github-token] after\n-----BEGIN PRIVATE KEY-----\n[redacted:private-key]\n[redacted:private-key]\n-----END PRIVATE KEY-----\nlast [redacted:github-token]",
    );
    expect(receipt.redacted).toEqual({ bytes: 2 * TOKEN.length + 104, lines: 2 });
    expect(receipt).toMatchObject({ saved: null, cutBy: null, omitted: { bytes: 0, lines: 0 } });
    expectExact(receipt, output);
    expect(await spillway.admit({ tool: "t", output: "no secret" })).toMatchObject({ text: "no secret" });
  });

  it("counts a secret that is not shown as omitted, and keeps line numbers", async () => {
    const spillway = await make();
    const output = `${lines(3000)}${TOKEN}\n${lines(3000)}password=hunter2x9Q\n`;
    const { text, receipt } = await spillway.admit({ tool: "t", output, strategy: "tail", limits: { maxLines: 20 } });
    expect(text).toContain("password=[redacted:assigned-secret]");
    expect(receipt.redacted).toEqual({ bytes: "hunter2x9Q".length, lines: 0 });
    expect(receipt.storedRedactions).toEqual({ count: 2, bytes: "hunter2x9Q".length + TOKEN.length });
    expectExact(receipt, output);
    const page = await spillway.recall(receipt.artifact ?? "", { lines: [3001, 3001] });
    expect(page.text).toBe("[redacted:github-token]\n");
  });

  it("admits its own text again without a change", async () => {
    const spillway = await make();
    const output = `${lines(300)}password=hunter2x9Q\n${lines(3000)}`;
    const first = await spillway.admit({ tool: "t", output, limits: { maxLines: 400 } });
    const again = await spillway.admit({ tool: "t", output: first.text, limits: { maxLines: 400 } });
    expect(again.text).toBe(first.text);
  });

  it("holds for errors, blocks, objects, details and results that are too large to walk", async () => {
    const spillway = await make();
    const shown = async (output: unknown, more = {}) => {
      const admitted = await spillway.admit({ tool: "t", output, ...more });
      const { total, kept, folded, redacted, omitted } = admitted.receipt;
      expect(kept.bytes + folded.bytes + redacted.bytes + omitted.bytes).toBe(total.bytes);
      expect(kept.lines + folded.lines + redacted.lines + omitted.lines).toBe(total.lines);
      expect(`${admitted.text}${JSON.stringify(admitted.output)}`).not.toMatch(/ghp_a1B2|hunter2/);
      return admitted;
    };
    expect((await shown(new Error(`cannot push with ${TOKEN}`))).output).toMatchObject({
      message: "cannot push with [redacted:github-token]",
    });
    const result = { content: [{ type: "text", text: `is ${TOKEN}` }], details: { token: TOKEN } };
    expect((await shown({ ...result, details: 1 })).receipt.redacted.bytes).toBe(TOKEN.length);
    expect((await shown(result, { boundDetails: true })).output).toMatchObject({
      details: { token: expect.stringContaining("[redacted:") },
    });
    expect(result.details.token).toBe(TOKEN);
    const object = { user: "ada", password: "hunter2x9Q", note: `${TOKEN}`, n: [1, 2, { api_key: "hunter2x9Qzz" }] };
    expect((await shown(object)).output).toEqual({
      user: "ada",
      password: "[redacted:assigned-secret]",
      note: "[redacted:github-token]",
      n: [1, 2, { api_key: "[redacted:assigned-secret]" }],
    });
    await shown({ ...object, log: lines(20_000) });
    await shown({ rows: Array.from({ length: 5000 }, (_, index) => [index, { x: index, password: "hunter2x9Q" }]) });
    await shown({
      content: Array.from({ length: 3000 }, () => ({ type: "text", text: `${TOKEN} ${"x".repeat(90)}` })),
    });
    await shown(Array.from({ length: 30_000 }, () => ({ token: TOKEN })));
  });

  it("shows nothing where a fault leaves the output unread", async () => {
    const spillway = await make();
    const broken = {
      get content() {
        throw new Error("no");
      },
      note: TOKEN,
    };
    const { text } = await spillway.admit({ tool: "t", output: broken });
    expect(text).not.toContain("ghp_a1B2");
  });

  it("shows all where it is not asked for, or off", async () => {
    for (const spillway of [await make({ redact: "on" }), await make({ redact: "off" }), await make({ policy: "off" })])
      expect((await spillway.admit({ tool: "t", output: TOKEN })).text).toBe(TOKEN);
    const withRules = await make({ redact: { rules: [{ name: "bird", literal: "heron" }], model: true } });
    expect((await withRules.admit({ tool: "t", output: `heron ${TOKEN}` })).text).toBe(
      "[redacted:bird] [redacted:github-token]",
    );
    await expect(make({ redact: "loud" as never })).rejects.toThrow(/redact must be/);
    await expect(make({ redact: { rules: [{ name: "x", pattern: "(a+)+" }] } })).rejects.toThrow(/x/);
  });
});
