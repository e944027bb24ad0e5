import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Focus } from "../../../contract/strategy.ts";
import { compileFocus } from "../focus/compile-focus.ts";
import { compileIntent } from "../focus/compile-intent.ts";
import { SignalReader } from "./signal-reader.ts";

const encoder = new TextEncoder();

/** What a reader that judges only `fullBytes` in full holds at the end, and what it did not look at. */
function read(text: Uint8Array, pieces: number[], fullBytes: number, isCounted = false, focus?: Focus) {
  const reader = new SignalReader({ roomChars: 2000, fullBytes, ...(focus && { focus }) });
  let at = 0;
  let line = 1;
  const add = (to: number) => {
    const bytes = text.slice(at, to);
    const breaks = bytes.filter((byte) => byte === 10).length;
    const chars = bytes.every((byte) => byte < 128) ? bytes.length : -1;
    reader.add({
      kind: "source",
      bytes,
      from: at,
      to,
      line,
      ...(isCounted ? { breaks, chars } : { breaks: -1, chars: -1 }),
    });
    line += breaks;
    at = to;
  };
  for (const size of pieces) if (at + size < text.length) add(at + size);
  add(text.length);
  const { units, chars } = reader.end();
  const { store } = reader;
  const rows = Array.from({ length: store.length }, (_, row) => [
    store.sequence[row],
    store.line[row],
    store.from[row],
    store.sourceCharsBefore[row],
  ]);
  return { units, chars, unscanned: reader.unscanned, rows };
}

const QUIET = fc.constantFrom("compiling the next module of many", "ok 12 - reads a list", "", "\u00e4\u00f6");
const LONG = fc.constantFrom("x".repeat(9000), `${"y".repeat(8500)} failed`);
const FAILING = fc.constantFrom("error: it broke", "asset 12 is there", "warning: 3 are old");

const linesWith = (failing: number) =>
  fc.array(
    fc.oneof({ weight: 60, arbitrary: QUIET }, { weight: failing, arbitrary: FAILING }, { weight: 1, arbitrary: LONG }),
    { minLength: 50, maxLength: 1500 },
  );

it("skips the same lines however the output comes, and tells how many", () => {
  // With a failure in nearly every line only some of them are looked at.
  const text = fc.oneof(linesWith(1), linesWith(200)).map((lines) => encoder.encode(lines.join("\n")));
  fc.assert(
    fc.property(text, fc.array(fc.integer({ min: 1, max: 3000 })), (bytes, pieces) => {
      const whole = read(bytes, [], 1000);
      expect(read(bytes, pieces, 1000)).toEqual(whole);
      expect(read(bytes, pieces, 1000, true)).toEqual(whole);
      expect(read(bytes, [], 1000, true)).toEqual(whole);
      expect(whole.unscanned.bytes).toBeLessThanOrEqual(Math.max(0, bytes.length - 1000));
      for (const [, number, from, chars] of whole.rows as number[][]) {
        const before = bytes.subarray(0, from);
        expect(number).toBe(1 + before.filter((byte) => byte === 10).length);
        expect(chars).toBe(new TextDecoder().decode(before).length);
      }
    }),
    { numRuns: 30 },
  );
});

it("finds a failure far from both ends by a quick look, with the lines around it", () => {
  const quiet = (count: number) => Array.from({ length: count }, (_, index) => `reading part ${index} of the list`);
  const lines = [...quiet(20_000), "first", "  Error: the disk is full", "    at write (disk.ts:3)", ...quiet(20_000)];
  const { rows, unscanned } = read(encoder.encode(lines.join("\n")), [], 10_000);
  expect(rows.map(([, number]) => number)).toContain(20_002);
  expect(unscanned.lines).toBeGreaterThan(35_000);
});

it("judges no lines around dull ones that hold a failure word", () => {
  const lines = Array.from(
    { length: 20_000 },
    (_, index) => `${index % 30 === 0 ? "0 errors" : "nothing"} in part ${index}`,
  );
  expect(read(encoder.encode(lines.join("\n")), [], 10_000).unscanned.lines).toBeGreaterThan(18_000);
});

describe("words that are asked for, past the lines that are all judged", () => {
  const lines = Array.from({ length: 20_000 }, (_, index) => `part ${index} of Listing 7, in order`);
  lines[9000] = "a NEEDLE in it";
  lines[15_000] = "the \u00c9tat of db";
  const text = encoder.encode(lines.join("\n"));
  const numbers = (focus?: Focus) => read(text, [], 10_000, false, focus).rows.map(([, number]) => number);

  it.each([
    ["in either case", compileFocus("needle"), 9001],
    ["that do not begin in ASCII", compileFocus("\u00e9tat"), 15_001],
    ["of two letters", compileIntent({ user: "what about db" }), 15_001],
    ["by a pattern", compileFocus(/NEED.E/), 9001],
    ["that a call seems to be for", compileIntent({ args: ["needle-1", "needle_in", "NEEDLE"], user: "needle" }), 9001],
  ])("finds them %s", (_, focus, number) => {
    expect(numbers(focus)).toContain(number);
    expect(numbers()).not.toContain(number);
  });

  it("does not look for a word that stands in most lines, unless somebody asked for it", () => {
    const { unscanned } = read(text, [], 10_000, false, compileIntent({ user: "the listing" }));
    expect(unscanned.lines).toBeGreaterThan(19_000);
    expect(read(text, [], 10_000, false, compileFocus("listing")).unscanned.lines).toBeLessThan(10);
  });
});
