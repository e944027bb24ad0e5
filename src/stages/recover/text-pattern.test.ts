import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compilePattern, matchPattern, normalize } from "./text-pattern.ts";

const match = (pattern: string, text: string) => matchPattern(compilePattern(pattern), normalize(text));

describe("a text pattern", () => {
  it.each([
    ["limit is {limit} tokens", "The LIMIT  is\n200000 tokens.", { limit: 200_000 }],
    ["allowed ({limit})", "allowed (1,048,576).", { limit: 1_048_576 }],
    ["limit {limit}, requested {observed}", "Limit 6000, Requested 14368, please", { limit: 6000, observed: 14_368 }],
    ["length is {limit} tokens", "length is 1_048_576 tokens", { limit: 1_048_576 }],
    ["than {limit} maximum", "than 1.048.576 maximum", { limit: 1_048_576 }],
    ["tokens: {observed}", "tokens: 131072. However", { observed: 131_072 }],
    ["should be [1, {limit}]", "should be [1, 30720]", { limit: 30_720 }],
    [
      "limit ... {input} + {output} > {limit}",
      "limit (i.e 156321 + 48384 > 200000)",
      { input: 156_321, output: 48_384, limit: 200_000 },
    ],
    ["exceed max_tokens", "exceed `max_tokens`", {}],
    ["the model's length", "the model\u2019s length", {}],
  ])("%s finds its numbers", (pattern, text, numbers) => {
    expect(match(pattern, text)?.numbers).toEqual(numbers);
  });

  it.each([
    ["limit {limit}", "limit of 5"],
    ["first ... second", "second first"],
    ["got {number} of", "got 12345x of"],
  ])("%s is not in %s", (pattern, text) => {
    expect(match(pattern, text)).toBeNull();
  });

  it("takes a number whole: it does not begin inside one", () => {
    expect(match("{limit} tokens", "x1200 tokens")?.numbers).toEqual({ limit: 1200 });
    expect(match("{limit} tokens at", "9 tokens, 1200 tokens at")?.numbers).toEqual({ limit: 1200 });
  });

  it.each([
    ["{size} tokens", /\{size\} is not known/],
    ["... after", /gap needs text/],
    ["{limit}", /fewer than 4/],
    ["abc", /fewer than 4/],
  ])("%s is refused", (pattern, why) => {
    expect(() => compilePattern(pattern)).toThrow(why);
  });

  it("matches a text that was made from it, whatever stands around and in its gaps", () => {
    const word = fc.stringMatching(/^[a-z]{4,8}$/);
    const number = fc.integer({ min: 1, max: 2_000_000 });
    const noise = fc.stringMatching(/^[ .,!?]{0,6}$/);
    fc.assert(
      fc.property(word, word, number, number, noise, fc.boolean(), (one, two, observed, limit, around, separated) => {
        const written = (value: number) => (separated ? value.toLocaleString("en-US") : String(value));
        const text = `${around} ${one}: ${written(observed)} tokens${around} zz ${two} ${written(limit)} max${around}`;
        expect(match(`${one}: {observed} tokens ... ${two} {limit} max`, text)?.numbers).toEqual({ observed, limit });
      }),
    );
  });

  it("never throws, and its place is in the text", () => {
    const pattern = compilePattern("a b ... c {limit} d");
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("a", " ", "b", "c", "d", "1", ",", "9") }), (raw) => {
        const text = normalize(raw);
        const found = matchPattern(pattern, text);
        if (found !== null) expect(text.slice(found.from, found.to)).toMatch(/^a b.*c \d[\d,]* d$/);
      }),
    );
  });
});
