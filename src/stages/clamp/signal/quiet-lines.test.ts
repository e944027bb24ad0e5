import { readFileSync } from "node:fs";
import fc from "fast-check";
import { afterEach, expect, it } from "vitest";
import { compileQuietLines } from "../../../../scripts/compile-quiet-lines.mjs";
import { mayTell } from "./quick-look.ts";
import { quietLines, useNativeQuietLines } from "./quiet-lines.ts";

const encoder = new TextEncoder();

afterEach(() => {
  useNativeQuietLines(true);
});

it("finds the same run of lines with and without WebAssembly, and stops at the first line with a failure word", () => {
  const word = fc.constantFrom(
    "a",
    "reading ",
    "err",
    "error",
    "Fail",
    "EXC",
    "exce",
    "warm ",
    "warn",
    "\u00e4",
    "x".repeat(40),
  );
  const line = fc.array(word, { maxLength: 8 }).map((words) => words.join(""));
  const text = fc.array(line, { maxLength: 30 }).map((lines) => encoder.encode(lines.join("\n")));
  fc.assert(
    fc.property(text, fc.nat(40), fc.nat(200), fc.boolean(), (bytes, offset, cut, seeks) => {
      const start = bytes.indexOf(10, offset) + 1;
      const to = Math.max(start, bytes.length - cut);
      expect(useNativeQuietLines(true)).toBe(true);
      const fast = quietLines(bytes, start, to, seeks, 120);
      useNativeQuietLines(false);
      const slow = quietLines(bytes, start, to, seeks, 120);
      expect({ ...fast, wide: true }).toEqual({ ...slow, wide: true });
      if (seeks) expect(mayTell(bytes, start, fast.end)).toBe(false);
      if (bytes.subarray(start, fast.end).some((byte) => byte > 127)) expect(fast.wide).toBe(true);
    }),
    { numRuns: 400 },
  );
});

it("reads on over more than a window", () => {
  const bytes = encoder.encode(`${"nothing to be seen here\n".repeat(20_000)}here is an Error\nmore\n`);
  const run = quietLines(bytes, 0, bytes.length, true, 8192);
  expect(run).toEqual({ end: 20_000 * 24, breaks: 20_000, wide: false });
  expect(quietLines(bytes, 0, bytes.length, false, 8192)).toEqual({ end: bytes.length, breaks: 20_002, wide: false });
});

it("is compiled from quiet-lines.wat", async () => {
  expect(readFileSync(new URL("./quiet-lines-binary.ts", import.meta.url), "utf8")).toBe(await compileQuietLines());
});
