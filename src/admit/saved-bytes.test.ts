import fc from "fast-check";
import { expect, test } from "vitest";
import { openSpillway } from "../open-spillway.ts";
import { strategies } from "../stages/clamp/strategies/index.ts";
import { memoryStore } from "../storage/stores/memory.ts";
import { chunksOf, lentStream } from "../testing/arbitrary.ts";

test("an output with bytes that are not UTF-8 is saved though it is shown whole, and nothing else is", async () => {
  const spillway = await openSpillway({ store: memoryStore(), ledger: null, env: {}, redact: "off" });
  // The last is shown as one U+FFFD of as many bytes as it has.
  for (const source of [Buffer.from("D\xe9j\xe0 vu\n", "latin1"), Buffer.from([0x61, 0xf0, 0x9f, 0x98])]) {
    for (const output of [source, new Blob([source]).stream()]) {
      const { text, receipt } = await spillway.admit({ tool: "t", output });
      expect(text).toBe(source.toString());
      expect(receipt).toMatchObject({ saved: "yes", cutBy: null, kept: receipt.total, savedBytes: source.length });
      const saved = await spillway.store?.read(receipt.artifact ?? "", "local", { from: 0, to: Infinity });
      expect(Buffer.from(saved ?? []).equals(source)).toBe(true);
      // What was shown is a text like any other when it comes again.
      expect(await spillway.admit({ tool: "t", output: text })).toMatchObject({ text, receipt: { saved: null } });
    }
    expect((await spillway.admit({ tool: "t", output: source, off: true })).receipt.saved).toBeNull();
  }
  for (const output of [Buffer.from("D\u00e9j\u00e0 vu \ufffd\n"), "a lone \ud800"])
    expect((await spillway.admit({ tool: "t", output })).receipt.saved).toBeNull();
});

test("what is saved is exactly the source, whatever its size, its limits, its chunks and the strategy", async () => {
  const spillway = await openSpillway({ store: memoryStore(), ledger: null, env: {}, redact: "off" });
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: 20_000 }),
      fc.integer({ min: 1, max: 9000 }),
      fc.record({ maxBytes: fc.nat(10_000), maxLines: fc.nat(300) }, { requiredKeys: [] }),
      fc.constantFrom(...strategies.map(({ name }) => name)),
      async (bytes, chunkBytes, limits, strategy) => {
        const source = Buffer.from(Array.from({ length: bytes }, (_, i) => (i % 37 === 36 ? 10 : 97 + (i % 26))));
        const output = lentStream(chunksOf(source, chunkBytes));
        const { receipt } = await spillway.admit({ tool: "t", output, limits, strategy });
        expect(receipt.total.bytes).toBe(bytes);
        if (receipt.artifact === null) {
          expect(receipt.omitted.bytes).toBe(0);
          return;
        }
        const saved = await spillway.store?.read(receipt.artifact, "local", { from: 0, to: Infinity });
        expect(Buffer.from(saved ?? []).equals(source)).toBe(true);
      },
    ),
    { numRuns: 150 },
  );
});
