// Parts of one's own, and the suites that say whether they keep Spillway's promises: here a strategy.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createSpillway } from "spillway";
import { memoryLedger, memoryStore } from "spillway/extend";
import { strategies } from "spillway/stages";
import { testStrategy } from "spillway/testing";

/** Keeps the end, as `tail` does, under a name of its own. */
const newest = { ...strategies.find(({ name }) => name === "tail"), name: "newest" };
const { kinds: _kinds, ...strategy } = newest;
testStrategy(strategy, { describe, it }, { numRuns: 20 });

it("is used by name", async () => {
  const spillway = await createSpillway({
    store: memoryStore(),
    ledger: memoryLedger(),
    strategies: [strategy],
    policy: { default: { strategy: "newest" } },
    env: {},
  });
  const output = Array.from({ length: 5000 }, (_, at) => `line ${at + 1}`).join("\n");
  const { text, receipt } = await spillway.admit({ tool: "tail_log", output });
  assert.equal(receipt.strategy, "newest");
  assert(text.includes("line 5000") && !text.includes("line 2000\n"));
});
