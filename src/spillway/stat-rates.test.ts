import { expect, it } from "vitest";
import { createSpillway, statRates } from "../index.ts";
import { memoryLedger } from "../storage/ledgers/memory.ts";

it("rates a row of statistics", async () => {
  const spillway = await createSpillway({ store: null, ledger: memoryLedger(), env: {} });
  for (let at = 0; at < 5; at++) {
    await spillway.admit({ tool: "bash", output: "line\n".repeat(9000 + at), fold: false });
    await spillway.admit({ tool: "bash", output: "short" });
  }
  const [row] = (await spillway.ledger?.stats({ by: "tool" })) ?? [];
  if (row === undefined) throw new Error("no row");
  expect(statRates(row)).toMatchObject({ truncationRate: 0.5, recallRate: 0, cutsTooOften: false });
  expect(statRates(row).tokensSaved).toBe(row.tokensIn - row.tokensShown);
  expect(statRates(row, 0.4).cutsTooOften).toBe(true);
});
