import fc from "fast-check";
import { expect, it } from "vitest";
import { lent } from "../testing/arbitrary.ts";
import { startLiteralScan } from "./plain-searcher.ts";

const request = { literal: true, ignoreCase: false, fromLine: 1, maxHits: 50, deadlineMs: 1000 };

it("finds the same however the bytes are chunked", () => {
  const text = fc.array(fc.constantFrom("a", "b", "\n", "ab", "aab"), { maxLength: 40 }).map((parts) => parts.join(""));
  const sizes = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1 });
  fc.assert(
    fc.property(text, fc.constantFrom("a", "ab", "aab", "abab"), sizes, (content, pattern, chunks) => {
      const scan = startLiteralScan({ ...request, pattern });
      for (let at = 0, turn = 0; at < content.length; turn++) {
        const size = chunks[turn % chunks.length] as number;
        for (const chunk of lent([Buffer.from(content.slice(at, at + size))])) scan.add(chunk);
        at += size;
      }
      scan.add(new Uint8Array(0));
      let lineByte = 0;
      const hits = content.split("\n").flatMap((line, index) => {
        const hit = { line: index + 1, lineByte, column: line.indexOf(pattern) };
        lineByte += line.length + 1;
        return hit.column < 0 ? [] : [hit];
      });
      expect(scan.found()).toMatchObject({ total: hits.length, hits });
    }),
    { numRuns: 500 },
  );
});
