import { readFileSync } from "node:fs";
import fc from "fast-check";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { afterEach, describe, expect, it, vi } from "vitest";
import { seededRandom, tokenSamples } from "../../test/token-samples.ts";
import { SpillwayError } from "../errors.ts";
import { loadExactCounter } from "./exact-token-counter.ts";

const oracle = (text: string): number => countTokens(text, { disallowedSpecial: new Set() });
const o200k = await loadExactCounter();
const counters = [o200k, await loadExactCounter("cl100k"), await loadExactCounter("claude")];
const bytes = (text: string): number => new TextEncoder().encode(text).length;
const source = readFileSync(new URL("./exact-token-counter.ts", import.meta.url), "utf8");
const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 60 }),
  fc.string({
    unit: fc.constantFrom("a", "B", " ", "\n", "1", "the ", "ing", ".", "中", "😀", "\ud800", "é"),
    maxLength: 200,
  }),
);

/** Returns the samples that have no run long enough to be counted in pieces. */
const ordinary = (seed: number, chars: number): [kind: string, text: string][] =>
  Object.entries(tokenSamples(seed, chars)).filter(([, sample]) => !/[^\s.,]{700}|\s{700}/.test(sample));

describe("loadExactCounter", () => {
  it("counts ordinary text of many kinds as the reference tokenizer does", () => {
    const samples = ordinary(11, 600);
    expect(samples.length).toBeGreaterThan(40);
    for (const [kind, sample] of samples) expect(`${kind} ${o200k.count(sample)}`).toBe(`${kind} ${oracle(sample)}`);
  });

  it("counts text of many pieces exactly", () => {
    const parts = Array.from({ length: 12 }, (_, seed) => ordinary(seed, 80).map(([, sample]) => sample));
    const long = parts.map((part) => part.join("\n")).join(source);
    expect(long.length).toBeGreaterThan(60_000);
    expect(o200k.count(long)).toBe(oracle(long));
  });

  it("is exact on short text of any kind", () => {
    fc.assert(fc.property(text, (value) => void expect(o200k.count(value)).toBe(oracle(value))));
  });

  it("finds words of the object prototype only where the vocabulary has them", () => {
    for (const word of ["valueOf", "isPrototypeOf", "propertyIsEnumerable", "__proto__", "constructor"]) {
      expect(o200k.count(word)).toBe(oracle(word));
      for (const counter of counters) expect(counter.count(`${word}`)).toBeLessThanOrEqual(bytes(word));
    }
    expect(counters[1]?.count("isPrototypeOf")).toBeGreaterThan(1);
  });

  it("takes special tokens as plain text", () => {
    for (const counter of counters) {
      for (const special of ["<|endoftext|>", "<|fim_prefix|>", "<EOT>", "<META_START>"]) {
        expect(counter.count(special)).toBeGreaterThan(1);
      }
    }
  });

  it("gets through a megabyte of one unbroken run", () => {
    const random = seededRandom(3);
    const draw = (from: string): string =>
      Array.from({ length: 1_000_000 }, () => from[Math.floor(random() * from.length)]).join("");
    const runs = ["a", " ", "\n", "中", "─", "😀", "中𠀀"].map((unit) => unit.repeat(1_000_000 / unit.length));
    runs.push(draw("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/"));
    for (const run of runs) {
      const tokens = o200k.count(run);
      expect(tokens).toBeGreaterThanOrEqual(bytes(run) / o200k.maxBytesPerToken);
      expect(tokens).toBeLessThanOrEqual(bytes(run));
    }
  });

  it("never throws, and no token is longer than declared", () => {
    fc.assert(
      fc.property(text, fc.constantFrom(...counters), (value, counter) => {
        expect(counter.count(value)).toBeGreaterThanOrEqual(bytes(value) / counter.maxBytesPerToken);
      }),
    );
    for (const counter of counters)
      expect(counter.count(" ".repeat(5000))).toBeGreaterThanOrEqual(5000 / counter.maxBytesPerToken);
  });

  it("fits a start and an end that hold, on a character's border, and gives up little", () => {
    const long = fc
      .array(fc.oneof(text, fc.constant(source.slice(0, 3000))), { maxLength: 12 })
      .map((parts) => parts.join(" "));
    const maxTokens = fc.oneof(fc.integer({ min: -1, max: 40 }), fc.integer({ min: 0, max: 6000 }));
    fc.assert(
      fc.property(
        long,
        maxTokens,
        fc.constantFrom(...counters),
        fc.constantFrom("start", "end"),
        (value, most, counter, from) => {
          const border = counter.fit?.(value, most, from as "start" | "end") ?? -1;
          const kept = from === "start" ? value.slice(0, border) : value.slice(border);
          const tokens = counter.count(kept);
          expect(tokens).toBeLessThanOrEqual(Math.max(0, most));
          expect(bytes(value.slice(0, border)) + bytes(value.slice(border))).toBe(bytes(value));
          if (kept !== value && most > 0) expect(tokens).toBeGreaterThanOrEqual(most - 16);
        },
      ),
      { numRuns: 150 },
    );
  });

  it("fits everything, nothing, and text cut into many pieces", () => {
    const long = source.repeat(20);
    const total = o200k.count(long);
    for (const most of [total, Number.POSITIVE_INFINITY]) {
      expect(o200k.fit?.(long, most, "start")).toBe(long.length);
      expect(o200k.fit?.(long, most, "end")).toBe(0);
    }
    for (const most of [0, -1, Number.NaN]) {
      expect(o200k.fit?.(long, most, "start")).toBe(0);
      expect(o200k.fit?.(long, most, "end")).toBe(long.length);
    }
    const half = Math.floor(total / 2);
    expect(o200k.count(long.slice(0, o200k.fit?.(long, half, "start")))).toBe(half);
    expect(o200k.count(long.slice(o200k.fit?.(long, half, "end")))).toBe(half);
  });

  describe("without the package", () => {
    afterEach(() => vi.doUnmock("ai-tokenizer"));

    it("says what to install", async () => {
      vi.doMock("ai-tokenizer", () => {
        throw new Error("Cannot find package 'ai-tokenizer'");
      });
      const error = await loadExactCounter().catch((reason: unknown) => reason);
      expect(SpillwayError.is(error) && error.code).toBe("missing-part");
      expect(String(error)).toContain("npm install ai-tokenizer");
    });
  });

  it("refuses a vocabulary that it does not know", async () => {
    await expect(loadExactCounter("toString" as "o200k")).rejects.toMatchObject({ code: "bad-input" });
  });
});
