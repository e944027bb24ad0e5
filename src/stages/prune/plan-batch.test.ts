import { expect, it } from "vitest";
import { planBatch } from "./plan-batch.ts";
import { type PruneItem, STEP } from "./prune-item.ts";

const itemOf = (chars: number): PruneItem => ({
  message: 2,
  tool: "bash",
  isError: false,
  untouchable: false,
  superseded: false,
  shown: { chars, bytes: chars, tokens: chars / 4 },
  step: STEP.whole,
});

it("leaves results whole that have exactly what they may have", () => {
  const [small, large, floor] = [itemOf(2000), itemOf(9000), itemOf(3000)];
  const policy = { estimate: "tokens" as const, batch: { windowShare: 1, maxChars: 5000, floorChars: 1000 } };
  expect(planBatch([small, large], policy, 1e6)).toEqual([{ item: large, maxChars: 3000 }]);
  expect(planBatch([floor, large], { ...policy, batch: { ...policy.batch, floorChars: 3000 } }, 1e6)).toEqual([
    { item: large, maxChars: 3000 },
  ]);
});
