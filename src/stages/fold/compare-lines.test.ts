import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareLines, DIFFERENT, IDENTICAL, SAME_SHAPE } from "./compare-lines.ts";
import { hasFailureWord } from "./noise.ts";

const encode = (text: string) => new TextEncoder().encode(text);

function compare(first: string, second: string): number {
  const left = encode(first);
  const right = encode(second);
  return compareLines({ bytes: left, start: 0, end: left.length }, { bytes: right, start: 0, end: right.length });
}

describe("compareLines", () => {
  it.each([
    ["step 9 of 10", "step 10 of 10"],
    ["took 1.5s", "took 300ms"],
    ["took 1m30s", "took 45s"],
    ["[  5%] x", "[100%] x"],
    ["9   files", "10  files"],
    ["at 12:00:01.5 x", "at 12:00:02 x"],
    ["commit 3fa9bc1 x", "commit 9bc00f2 x"],
    ["at 0x7ffe12 x", "at 0x1 x"],
    ["id 12345678-beef-4abc-9d0e-aaaaaaaaaaa1", "id 1234567a-1234-cafe-9d0e-aaaaaaaaaa22"],
    ["0.0 s", "1.2 s"],
    ["served in 0 ms", "served in 12 ms"],
    ["works (0 ms)", "works (3 ms)"],
    ["wrote 0 bytes", "wrote 70 bytes"],
    ["in 0 \u00b5s", "in 4 \u00b5s"],
    ["0 MB/s", "3 MB/s"],
    ["[0 %]", "[7 %]"],
    ["worker 0 took job 7", "worker 3 took job 8"],
    ["[gpu-0] x", "[gpu-12] x"],
    ["latency_ms=0 path=/", "latency_ms=3 path=/"],
    ['{"durationMs": 0,"n":4}', '{"durationMs": 9,"n":4}'],
    ["file1", "file12"],
  ])("sees one shape in %j and %j", (first, second) => {
    expect(compare(first, second)).toBe(SAME_SHAPE);
    expect(compare(second, first)).toBe(SAME_SHAPE);
  });

  it.each([
    ["step one", "step two"],
    ["a 5", "a b"],
    ["errors: 0", "errors: 2"],
    ["code 0 x", "code 10 x"],
    ["0 mistakes", "3 mistakes"],
    ["lost=0", "lost=3"],
    ["overtime_s=0", "overtime_s=3"],
    ["coworker 0 x", "coworker 2 x"],
    ["add", "bad"],
    ["a b", "a  b"],
    ["file1", "file"],
    ["12-", "12:"],
    ["", "1"],
  ])("tells %j from %j", (first, second) => {
    expect(compare(first, second)).toBe(DIFFERENT);
    expect(compare(second, first)).toBe(DIFFERENT);
  });

  it("finds lines identical exactly when they are, and agrees both ways", () => {
    const text = fc.string({ unit: fc.constantFrom(..."01245 af:.,-xms%"), maxLength: 12 });
    fc.assert(
      fc.property(text, text, (first, second) => {
        expect(compare(first, first)).toBe(IDENTICAL);
        expect(compare(first, second) === IDENTICAL).toBe(first === second);
      }),
      { numRuns: 2000 },
    );
  });

  it("gives lines of one shape the same verdict on failure words", () => {
    const part = fc.constantFrom(
      "0",
      "1",
      "20",
      "4",
      " ",
      " ",
      ":",
      "=",
      ",",
      ".",
      "errors",
      "fail",
      "s",
      "ms",
      "ms=",
      "worker",
      "%",
      "ab12cd",
      "x",
    );
    const text = fc.array(part, { maxLength: 8 }).map((parts) => parts.join(""));
    fc.assert(
      fc.property(text, text, (first, second) => {
        if (compare(first, second) !== DIFFERENT) expect(hasFailureWord(second)).toBe(hasFailureWord(first));
      }),
      { numRuns: 20_000 },
    );
  });
});

describe("hasFailureWord", () => {
  it.each([
    ["2 errors", true],
    ["0 errors", false],
    ["10 errors", true],
    ["retries=0 errors=5", true],
    ["timeout: 0 ms", true],
    ["worker 0 failed", true],
    ["failures: 0, errors: 0", false],
    ["failures: 0, errors: 1", true],
    ["java.lang.NullPointerException", true],
    ["npm ERR! code", true],
    ["Command not found", true],
    ["✗ renders", true],
    ["all is well", false],
    ["merry badge", false],
  ])("%j: %s", (line, expected) => {
    expect(hasFailureWord(line)).toBe(expected);
  });
});
