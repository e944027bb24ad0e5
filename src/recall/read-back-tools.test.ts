import { expect, test } from "vitest";
import { createSpillway } from "../index.ts";
import { memoryStore } from "../storage/stores/memory.ts";
import { READ_BACK_TOOLS } from "./read-back-tools.ts";

test("schemas have no union of types, which strict clients complain about", () => {
  for (const { inputSchema } of READ_BACK_TOOLS) {
    for (const property of Object.values(inputSchema.properties)) {
      expect(property).toMatchObject({ type: expect.any(String) });
    }
  }
});

test("recall reads around a line, as a number or its digits, and around a pattern", async () => {
  const spillway = await createSpillway({ store: memoryStore(), ledger: null, env: {} });
  const output = Array.from({ length: 5000 }, (_, i) => `line ${i + 1} of a long log`).join("\n");
  const { receipt } = await spillway.admit({ output });
  const recall = READ_BACK_TOOLS.find(({ name }) => name === "recall");
  for (const around of [3000, "3000", "line 3000 .f"]) {
    const page = await recall?.call(spillway, { id: receipt.artifact, around });
    expect(page).toMatchObject({ isError: false, text: expect.stringContaining("line 3000 of a long log") });
    expect(page?.text).not.toContain("line 3100 ");
  }
});
