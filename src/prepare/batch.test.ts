import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Format, formats } from "../../test/recovery/formats.ts";
import { createSpillway } from "../index.ts";
import { memoryLedger } from "../storage/ledgers/memory.ts";
import { memoryStore } from "../storage/stores/memory.ts";

// Results that came together share one budget, and the same request is cut alike each time.

const result = fc.record({
  chars: fc.oneof(fc.integer({ min: 1, max: 3000 }), fc.integer({ min: 3000, max: 60_000 })),
  unit: fc.constantFrom("word ", "日本語。", "😀", "one line of a log\n", '{"a":1},', "0a1b2c3d"),
});
const requests = fc.record({
  old: fc.array(result, { maxLength: 4 }),
  newest: fc.array(result, { minLength: 2, maxLength: 5 }),
  window: fc.integer({ min: 3000, max: 60_000 }),
});
type Result = typeof result extends fc.Arbitrary<infer T> ? T : never;

const textOf = ({ chars, unit }: Result, at: number) => `${at} ${unit.repeat(Math.ceil(chars / unit.length))}`;

/** Calls first and then their results, so that all of those are new together. */
function requestOf(format: Format, old: readonly Result[], newest: readonly Result[]): unknown[] {
  const turns = (results: readonly Result[], name: string) =>
    results.map((one, at) => format.turn(`${name}${at}`, textOf(one, at)));
  const together = turns(newest, "new");
  return [
    format.user("go"),
    ...turns(old, "old").flat(),
    ...together.map(([call]) => call),
    ...together.map(([, answer]) => answer),
  ];
}

describe.each(Object.keys(formats))("a batch of results: %s", (name) => {
  const format = formats[name] as Format;

  it("the same request gives the same bytes, built anew and after a restart", async () => {
    await fc.assert(
      fc.asyncProperty(requests, async ({ old, newest, window }) => {
        const parts = { store: memoryStore({ secret: Buffer.alloc(32, 1) }), ledger: memoryLedger(), env: {} };
        let spillway = await createSpillway(parts);
        const given = requestOf(format, old, newest);
        const ask = async (messages: unknown[]) => {
          const { messages: sent, report } = await spillway.prepare(messages, { wire: format.wire, window });
          return { text: JSON.stringify(sent), report };
        };
        const first = await ask(given);
        for (let time = 0; time < 3; time++) {
          if (time === 2) spillway = await createSpillway(parts);
          for (const messages of [given, given.map(format.rebuild)]) {
            const { text, report } = await ask(messages);
            expect(report.changes).toEqual([]);
            expect(text).toBe(first.text);
          }
        }
        const alone = await createSpillway({ ...parts, ledger: null });
        const { messages } = await alone.prepare(given.map(format.rebuild), { wire: format.wire, window });
        expect(JSON.stringify(messages)).toBe(first.text);
      }),
      { numRuns: 12 },
    );
  });
});
