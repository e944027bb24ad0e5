import fc from "fast-check";
import { expect, it } from "vitest";
import { mayTell, quick, ScanBudget, wholeLines } from "./quick-scan.ts";

const encoder = new TextEncoder();
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
const LONGEST = 120;

/** The ends of the whole lines from `start` on. */
function lineEnds(bytes: Uint8Array, start: number): number[] {
  const ends: number[] = [];
  for (let at = start; at < bytes.length; at++) if (bytes[at] === 10) ends.push(at + 1);
  return ends;
}

it("stops at the first line that holds a failure word, is too long, or has no break", () => {
  fc.assert(
    fc.property(text, fc.nat(40), (bytes, offset) => {
      const start = bytes.indexOf(10, offset) + 1;
      const ends = lineEnds(bytes, start);
      const stops = ends.findIndex((end, index) => {
        const from = ends[index - 1] ?? start;
        return end - from > LONGEST || mayTell(bytes, from, end);
      });
      const quiet = stops === -1 ? ends : ends.slice(0, stops);
      const end = quiet.at(-1) ?? start;
      const chars = new TextDecoder().decode(bytes.subarray(start, end)).length;
      expect(wholeLines(bytes, start, quick.find(bytes, start, bytes.length), LONGEST)).toEqual({
        end,
        breaks: quiet.length,
        chars,
      });
    }),
    { numRuns: 400 },
  );
});

it("takes whole lines up to a place, and none that is too long", () => {
  const bytes = encoder.encode(`first\nnothing to be seen\nan error here\n${"and so on\n".repeat(50)}no break`);
  const run = (end: number, breaks: number) => ({ end, breaks, chars: end - 6 });
  expect(wholeLines(bytes, 6, bytes.length, LONGEST)).toEqual(run(bytes.lastIndexOf(10) + 1, 52));
  expect(wholeLines(bytes, 6, 38, LONGEST)).toEqual(run(25, 1));
  expect(wholeLines(bytes, 6, 39, LONGEST)).toEqual(run(39, 2));
  expect(wholeLines(bytes, 6, 24, LONGEST)).toEqual(run(6, 0));
  expect(wholeLines(bytes, 6, bytes.length, 18)).toEqual(run(6, 0));
  expect(wholeLines(bytes, 6, bytes.length, 19)).toEqual(run(bytes.lastIndexOf(10) + 1, 52));
});

it("lets lines go by unseen once more was looked at than a tenth of what is judged in full, and a burst", () => {
  const budget = new ScanBudget(1_000_000);
  budget.judged(100_000 + 8192, 0);
  expect(budget.waits(0)).toBeLessThanOrEqual(0);
  budget.glanced(4, 0);
  expect(budget.waits(0)).toBeGreaterThan(4_000_000);
  expect(budget.waits(5_000_000)).toBeLessThanOrEqual(0);
});
