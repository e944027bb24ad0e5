import { describe, expect, it } from "vitest";
import { createSpillway } from "../index.ts";
import { memoryStore } from "../storage/stores/memory.ts";

const OUTPUT = Array.from({ length: 400 }, (_, index) => `line ${index + 1}\n`).join("");

async function admit(limits: { maxBytes?: number; maxLines?: number }, store: ReturnType<typeof memoryStore> | null) {
  const reader = { by: "tool", recall: "recall", search: "search" } as const;
  const spillway = await createSpillway({ store, ledger: null, env: {}, reader });
  const { text, receipt } = await spillway.admit({ tool: "bash", output: OUTPUT, limits, exitCode: 1, fold: false });
  expect(receipt.shown.bytes).toBeLessThanOrEqual(limits.maxBytes ?? Infinity);
  expect(receipt.shown.lines).toBeLessThanOrEqual(limits.maxLines ?? Infinity);
  return { text, id: receipt.artifact };
}

describe("markers with little room", () => {
  it.each([
    { maxBytes: 2000 },
    { maxBytes: 300 },
    { maxBytes: 170 },
    { maxBytes: 130 },
    { maxBytes: 50 },
    { maxLines: 5 },
  ])("name the artifact within %o", async (limits) => {
    const { text, id } = await admit(limits, memoryStore());
    expect(id).not.toBeNull();
    expect(text).toContain(id);
  });

  it.each([{ maxBytes: 2000 }, { maxBytes: 300 }, { maxBytes: 170 }, { maxBytes: 130 }, { maxLines: 5 }])(
    "say that nothing was saved within %o",
    async (limits) => {
      expect((await admit(limits, null)).text).toContain("not saved");
    },
  );

  it.each([0, 1, 4, 7, 10, 20, 30, 40])("stay within %d bytes", async (maxBytes) => {
    await admit({ maxBytes }, memoryStore());
    await admit({ maxBytes }, null);
  });

  it.each([5, 10, 18, 20, 28, 30, 38, 42, 44, 60])("come back as they are within %d bytes", async (maxBytes) => {
    for (const exitCode of [0, 1, 137]) {
      const spillway = await createSpillway({ store: memoryStore(), ledger: null, env: {} });
      const request = { tool: "bash", limits: { maxBytes }, exitCode, fold: false };
      const { text } = await spillway.admit({ ...request, output: OUTPUT });
      // A process of its own knows none of our texts.
      const other = await createSpillway({ store: memoryStore(), ledger: null, env: {} });
      const again = await other.admit({ ...request, output: text });
      expect(again.text).toBe(text);
    }
  });
});
