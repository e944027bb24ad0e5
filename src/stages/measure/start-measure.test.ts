import fc from "fast-check";
import { expect, it } from "vitest";
import { arbitraryOutput, chunked, lent } from "../../testing/arbitrary.ts";
import { estimateCounter, measureText, startMeasure } from "./estimate-tokens.ts";

it("measures bytes in pieces as it measures the whole text", () => {
  fc.assert(
    fc.property(arbitraryOutput, fc.array(fc.nat(), { maxLength: 8 }), (bytes, cuts) => {
      const measuring = startMeasure(estimateCounter);
      for (const chunk of lent(chunked(bytes, cuts))) measuring.add(chunk);
      const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
      expect(measuring.end()).toEqual({ ...measureText(text, estimateCounter), bytes: bytes.length });
    }),
  );
});

it("measures text in pieces, also where a surrogate pair is cut", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 60 }), fc.array(fc.nat(60), { maxLength: 4 }), (text, cuts) => {
      const measuring = startMeasure(estimateCounter);
      const borders = [0, ...cuts.filter((cut) => cut <= text.length).sort((a, b) => a - b), text.length];
      for (let i = 1; i < borders.length; i++) measuring.add(text.slice(borders[i - 1], borders[i]));
      expect(measuring.end()).toEqual(measureText(text, estimateCounter));
    }),
  );
});

it("counts the tokens of a long text to within a thousandth", () => {
  const text = Array.from(
    { length: 20_000 },
    (_, index) => `2026-11-15 12:00:${index % 60} INFO request ${index} took ${index % 97} ms\n`,
  ).join("");
  for (const each of [text, text.replaceAll("\n", " "), "日本語".repeat(50_000)]) {
    const measuring = startMeasure(estimateCounter);
    for (let at = 0; at < each.length; at += 1000) measuring.add(each.slice(at, at + 1000));
    const whole = estimateCounter.count(each);
    expect(Math.abs(measuring.end().tokens - whole)).toBeLessThanOrEqual(whole / 1000);
  }
});
