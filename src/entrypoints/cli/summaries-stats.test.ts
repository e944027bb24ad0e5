import { expect, it } from "vitest";
import { memoryLedger } from "../../storage/ledgers/memory.ts";
import { summariesOf, summariesText } from "./commands/stats.ts";

it("stats add up what summaries took, by session and time, over all pages", async () => {
  const ledger = memoryLedger();
  const about = { tool: null, call: null, artifact: null, receipt: null };
  for (let at = 0; at < 1200; at++) {
    const more = { calls: 1, inputTokens: 100, outputTokens: 10, dollars: at % 2 === 0 ? 0.001 : null };
    await ledger.record({ ...about, kind: "summary-paid", atMs: at, session: at < 200 ? "s1" : "s2", more });
  }
  const all = await summariesOf(ledger, {});
  expect(all).toMatchObject({ calls: 1200, inputTokens: 120_000, outputTokens: 12_000 });
  expect(all.dollars).toBeCloseTo(0.6);
  expect(await summariesOf(ledger, { session: "s1" })).toMatchObject({ calls: 200 });
  expect(await summariesOf(ledger, { sinceMs: 1190 })).toMatchObject({ calls: 10 });
  expect(summariesText({ ...all, dollars: 1.5 })).toBe(
    "summaries: 1,200 calls of a model, 120,000 tokens in, 12,000 out, $1.50",
  );
  expect(summariesText({ ...all, calls: 1, dollars: null })).toContain("summaries: 1 call of a model");
});
