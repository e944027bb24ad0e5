import fc from "fast-check";
import { expect, it } from "vitest";
import type { Span } from "../../../contract/span.ts";
import { mayTell, passedLines, quietLines } from "./quick-look.ts";

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
      expect(quietLines(bytes, start, LONGEST)).toEqual({ end: quiet.at(-1) ?? start, breaks: quiet.length });
    }),
    { numRuns: 400 },
  );
});

it("passes the same lines whether their breaks were counted before or not", () => {
  const bytes = encoder.encode(`first\nnothing to be seen\nan error here\n${"and so on\n".repeat(50)}no break`);
  const span: Span = { kind: "source", bytes, from: 0, to: bytes.length, line: 7, breaks: -1, chars: -1 };
  const whole = { end: bytes.lastIndexOf(10) + 1, breaks: 52 };
  expect(passedLines(span, 6, 8, bytes.length, LONGEST)).toEqual(whole);
  expect(passedLines({ ...span, breaks: 53 }, 6, 8, bytes.length, LONGEST)).toEqual(whole);
  expect(passedLines(span, 6, 8, 30, LONGEST)).toEqual({ end: 25, breaks: 1 });
  expect(passedLines({ ...span, breaks: 53 }, 6, 8, bytes.length, 12)).toEqual({ end: 6, breaks: 0 });
});
