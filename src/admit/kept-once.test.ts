import { expect, it } from "vitest";
import { createSpillway } from "../index.ts";
import { memoryStore } from "../storage/stores/memory.ts";

async function* chunks(text: string, size: number) {
  for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size);
}

it.each([1, 60, 999, 1000, 1001, 8191, 8193])(
  "an output of which auto has not seen enough when it goes over its limits is kept once, in chunks of %d",
  async (size) => {
    const store = memoryStore();
    const spillway = await createSpillway({ store, env: {} });
    for (const count of [40, 200, 900]) {
      const output = Array.from({ length: count }, (_, n) => `line ${n} of an output\n`).join("");
      const { receipt } = await spillway.admit({ output: chunks(output, size), limits: { maxChars: 600 } });
      const kept = await store.read(receipt.artifact ?? "", "local", { from: 0, to: 100_000 });
      expect(new TextDecoder().decode(kept as Uint8Array)).toBe(output);
    }
  },
);
