import { readFileSync } from "node:fs";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { compileSkim } from "../../../../scripts/compile-skim.mjs";
import { chunked, lent } from "../../../testing/arbitrary.ts";
import { JsonSkimmer } from "./skim-json.ts";
import { useNativeSkim } from "./skim-native.ts";

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
  afterEach(() => {
    useNativeSkim(true);
  });

  it("finds the same in native code as in JavaScript, however the bytes come", () => {
    fc.assert(
      fc.property(
        arbitraryEntries,
        fc.array(fc.nat(), { maxLength: 6 }),
        fc.constantFrom(1, 10, 100, 1000),
        fc.boolean(),
        (bytes, cuts, leastApart, isLines) => {
          expect(useNativeSkim(true)).toBe(true);
          const native = passed(bytes, cuts, leastApart, isLines);
          useNativeSkim(false);
          expect(passed(bytes, [], leastApart, isLines)).toEqual(native);
          expect(passed(bytes, cuts, leastApart, isLines)).toEqual(native);
        },
      ),
      { numRuns: 1000 },
    );
  });

  it("counts entries of more bytes than native code takes at once, and more borders than it tells at once", () => {
    const bytes = encoder.encode('{"a":[1,2]},\n"b,\\"c]",3,'.repeat(20_000));
    const [borders, count, line, isDone] = passed(bytes, [], 1, false);
    expect([(borders as unknown[]).length, count, line, isDone]).toEqual([60_000, 60_000, 20_007, false]);
    expect((borders as unknown[]).at(-1)).toEqual([1000 + bytes.length - 1, 20_007, 60_000]);
  });
});

it("skim-binary.ts is skim.wat compiled", async () => {
  expect(readFileSync(new URL("./skim-binary.ts", import.meta.url), "utf8")).toBe(await compileSkim());
});
