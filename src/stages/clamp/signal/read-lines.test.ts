import fc from "fast-check";
import { expect, it } from "vitest";
import { SkippedLines } from "./read-lines.ts";
import { SOURCE } from "./unit-store.ts";

const MOST_BYTES = 60;
const lengths = fc.array(fc.integer({ min: 1, max: MOST_BYTES / 2 }), { minLength: 1, maxLength: 40 });
/** How many lines come at once: one by itself, more as a run. */
const groups = fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 40 });

it("holds the newest lines, the same whether they come one by one or in runs", () => {
  fc.assert(
    fc.property(lengths, groups, fc.nat(20), (sizes, counts, most) => {
      const bytes = new TextEncoder().encode(sizes.map((size) => `${"x".repeat(size - 1)}\n`).join(""));
      let end = 0;
      const all = sizes.map((size, index) => ({ line: index + 1, from: end, to: (end += size) }));
      const skipped = new SkippedLines(MOST_BYTES);
      const span = { kind: "source" as const, bytes, from: 0, to: end, line: 1, breaks: -1, chars: -1 };
      for (let first = 0, group = 0; first < all.length; group++) {
        const lines = all.slice(first, first + (counts[group] ?? 1));
        const { line, from } = lines[0] as (typeof all)[number];
        const { to } = lines.at(-1) as (typeof all)[number];
        const about = { kind: SOURCE, from, to, line, breaks: 1, chars: -1, inside: 0 };
        if (lines.length > 1) skipped.addRun(span, from, to, line + lines.length);
        else skipped.add({ bytes, start: from, end: to, ...about });
        first += lines.length;
      }
      const newest = all.filter(({ line, from }) => end - from <= MOST_BYTES && all.length - line < most);
      expect(skipped.newest(most).map(({ line, from, to }) => ({ line, from, to }))).toEqual(newest);
    }),
    { numRuns: 300 },
  );
});
