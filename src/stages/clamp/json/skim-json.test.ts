import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { chunked, lent } from "../../../testing/arbitrary.ts";
import { JsonSkimmer } from "./skim-json.ts";

const encoder = new TextEncoder();
/** Also what is no JSON: what is passed over was not checked. */
const arbitraryEntries = fc
  .array(
    fc.oneof(
      fc.constantFrom(...'{}[]",,\n\\:x', '\\"', "},{", '"a":1,', "1,2,3,4,5,6,7,8,9,", "é"),
      fc.nat({ max: 70 }).map((times) => "y".repeat(times)),
      fc.json({ maxDepth: 2 }).map((json) => `${json},`),
    ),
    { maxLength: 60 },
  )
  .map((parts) => encoder.encode(parts.join("")));

function passed(bytes: Uint8Array, cuts: number[], leastApart: number, isLines: boolean): unknown[] {
  const borders: unknown[] = [];
  const listener = {
    count: 0,
    leastApart,
    skimmed() {},
    border: (...border: number[]) => borders.push(border),
  };
  const skimmer = new JsonSkimmer(listener, 1000, 7, isLines);
  let at = 1000;
  for (const chunk of lent(chunked(bytes, cuts))) {
    if (!skimmer.isDone) at += skimmer.add(chunk, 0, at);
  }
  return [borders, listener.count, skimmer.line, skimmer.isDone, skimmer.isBetween, at];
}

describe("JsonSkimmer", () => {
  it("finds the same however the bytes come", () => {
    fc.assert(
      fc.property(
        arbitraryEntries,
        fc.array(fc.nat(), { maxLength: 6 }),
        fc.constantFrom(1, 10, 100, 1000),
        fc.boolean(),
        (bytes, cuts, leastApart, isLines) => {
          expect(passed(bytes, cuts, leastApart, isLines)).toEqual(passed(bytes, [], leastApart, isLines));
        },
      ),
      { numRuns: 1000 },
    );
  });

  it("finds the entries of any JSON array, and where it closes", () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue({ maxDepth: 2 }), { minLength: 1, maxLength: 12 }), (values) => {
        const entries = values.map((value) => encoder.encode(JSON.stringify(value)).length);
        const bytes = encoder.encode(JSON.stringify(values).slice(1));
        const [borders, count, line, isDone, isBetween, at] = passed(bytes, [], 1, false);
        const commas = entries.slice(0, -1).map((_, index) => {
          const before = entries.slice(0, index + 1).reduce((sum, size) => sum + size + 1, 0);
          return [1000 + before - 1, 7, index + 1];
        });
        expect(borders).toEqual(commas);
        expect([count, line, isDone, isBetween, at]).toEqual([commas.length, 7, true, true, 1000 + bytes.length - 1]);
      }),
      { numRuns: 300 },
    );
  });

  it("counts entries inside and outside a group, and the lines they are on", () => {
    const bytes = encoder.encode('{"a":[1,2]},\n"b,\\"c]",3,'.repeat(20_000));
    const [borders, count, line, isDone] = passed(bytes, [], 1, false);
    expect([(borders as unknown[]).length, count, line, isDone]).toEqual([60_000, 60_000, 20_007, false]);
    expect((borders as unknown[]).at(-1)).toEqual([1000 + bytes.length - 1, 20_007, 60_000]);
    expect(passed(encoder.encode('{"a":"}"}\n[1,2]\n'), [], 1, true)[0]).toEqual([
      [1009, 7, 1],
      [1015, 8, 2],
    ]);
  });
});
