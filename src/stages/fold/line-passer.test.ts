import { readFileSync } from "node:fs";
import fc from "fast-check";
import { afterEach, expect, it } from "vitest";
import { compilePassLines } from "../../../scripts/compile-pass-lines.mjs";
import type { Span } from "../../contract/span.ts";
import { lent } from "../../testing/arbitrary.ts";
import { compareLines, DIFFERENT } from "./compare-lines.ts";
import { startFold } from "./fold.ts";
import { LinePasser, useNativePasser } from "./line-passer.ts";

const encoder = new TextEncoder();
const piece = fc.constantFrom(
  ..."0 1 7 12 05 a b beef 3fa9bc1 beef12 0x 0x1f - -beef- . , : % s ms m x done INFO DEBUG ERROR \u00e9 \t".split(" "),
  " ",
  "  ",
  "1.a",
  "1.1.a",
  "2:b",
  "2:1:b",
);
const line = fc.array(piece, { maxLength: 7 }).map((parts) => parts.join(""));
const padded = fc
  .tuple(fc.constantFrom("", "2026-03-12T10:00:00 some words first "), line)
  .map((parts) => parts.join(""));
const text = fc
  .array(fc.tuple(padded, fc.constantFrom("\n", "\n", "\n", "\r\n")), { minLength: 2, maxLength: 30 })
  .map((lines) => encoder.encode(lines.flat().join("")));

afterEach(() => {
  useNativePasser(true);
});

function startsOfLines(bytes: Uint8Array): number[] {
  const starts = [0];
  for (const [at, byte] of bytes.entries()) if (byte === 10) starts.push(at + 1);
  return starts;
}

it("passes over no line that is not DIFFERENT from the one before", () => {
  fc.assert(
    fc.property(text, (bytes) => {
      const starts = startsOfLines(bytes);
      for (let index = 1; index + 1 < starts.length; ) {
        const passer = new LinePasser();
        passer.begin(bytes);
        const lines = passer.pass(starts[index - 1]!, starts[index]!);
        expect([passer.before, passer.start]).toEqual([starts[index - 1 + lines], starts[index + lines]]);
        for (let each = index; each < index + lines; each++) {
          const [first, second, end] = [starts[each - 1]!, starts[each]!, starts[each + 1]!];
          expect(compareLines(bytes, first, second - 1, bytes, second, end - 1)).toBe(DIFFERENT);
        }
        if (passer.nextEnd > 0) expect(passer.nextEnd).toBe(starts[index + lines + 1]);
        index += lines + 1;
      }
    }),
    { numRuns: 2000 },
  );
});

it("passes over unlike lines, up to a control code", () => {
  const passer = new LinePasser();
  const bytes = encoder.encode("alpha\nbeta\r\n\ngamma\td\nd\u00e9\nx\x1b[1mred\nlast\n");
  passer.begin(bytes);
  expect(passer.pass(0, 6)).toBe(4);
  expect(bytes.subarray(passer.before, passer.start)).toEqual(encoder.encode("d\u00e9\n"));
  expect(passer.nextEnd).toBe(0);
});

it("changes nothing in what is folded, also over chunks longer than its window", () => {
  const fold = (bytes: Uint8Array, from: number): string => {
    const spans: string[] = [];
    const text = (span: Span) => new TextDecoder().decode(span.bytes);
    const folding = startFold((span) => spans.push(JSON.stringify({ ...span, bytes: text(span) })));
    for (const chunk of lent([bytes.subarray(from)])) folding.add(chunk, 0, 1);
    folding.end();
    return spans.join("\n");
  };
  fc.assert(
    fc.property(text, fc.integer({ min: 0, max: 3 }), fc.constantFrom(1, 400), (part, from, count) => {
      const bytes = new Uint8Array(part.length * count);
      for (let at = 0; at < bytes.length; at += part.length) bytes.set(part, at);
      expect(useNativePasser(true)).toBe(true);
      const native = fold(bytes, from);
      useNativePasser(false);
      expect(native === fold(bytes, from)).toBe(true);
    }),
    { numRuns: 300 },
  );
});

it("is compiled from its source", async () => {
  expect(readFileSync(new URL("./pass-lines-binary.ts", import.meta.url), "utf8")).toBe(await compilePassLines());
});
