import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clampText } from "../../../admit/clamp-text.ts";
import type { Limits } from "../../../contract/limits.ts";
import { arbitraryDocument, checkExcerpt } from "../../../testing/json-excerpt.ts";

const LIMIT = fc.oneof(fc.integer({ min: 150, max: 900 }), fc.integer({ min: 300, max: 6000 }));
const LIMITS = fc.oneof(
  fc.record({ maxBytes: LIMIT }),
  fc.record({ maxChars: LIMIT, maxLines: fc.integer({ min: 4, max: 60 }) }),
  fc.record({ maxTokens: fc.integer({ min: 80, max: 900 }) }),
) as fc.Arbitrary<Limits>;

/** What of a clamped text is the excerpt: our markers stand below it. */
function excerptOf(text: string): string {
  const lines = text.split("\n");
  while (/^(?:\[(?:Output cut|White space|cut|\.\.\. |[\d,]+ lines?, ).*\]|cut)$/.test(lines.at(-1) ?? "")) lines.pop();
  return lines.join("\n");
}

/** What our notes carry: every form of marker has it before its end. */
const tagOf = (text: string) => / #[0-9a-z]{5}(?=[;\]])/.exec(text)?.[0] ?? "";

describe("json", () => {
  it("shows valid JSON within its limits in which every value is the original's at its path", () => {
    let excerpts = 0;
    fc.assert(
      fc.property(arbitraryDocument, fc.constantFrom(undefined, 2, "\t"), LIMITS, (value, indent, limits) => {
        const source = JSON.stringify(value, null, indent);
        const { text, receipt } = clampText(source, limits, { strategy: "json" });
        expect(receipt.faults).toBeUndefined();
        expect(receipt.kept.bytes + receipt.folded.bytes + receipt.omitted.bytes).toBe(receipt.total.bytes);
        expect(receipt.folded.bytes).toBeGreaterThanOrEqual(0);
        expect(receipt.shown.bytes).toBeLessThanOrEqual(limits.maxBytes ?? Infinity);
        expect(receipt.shown.chars).toBeLessThanOrEqual(limits.maxChars ?? Infinity);
        expect(receipt.shown.lines).toBeLessThanOrEqual(limits.maxLines ?? Infinity);
        expect(receipt.shown.tokens).toBeLessThanOrEqual(limits.maxTokens ?? Infinity);
        const excerpt = excerptOf(text);
        if (excerpt === "") return;
        excerpts++;
        checkExcerpt(JSON.parse(excerpt), JSON.parse(source), "$", tagOf(text));
      }),
      { numRuns: 150 },
    );
    expect(excerpts).toBeGreaterThan(60);
  });
});
