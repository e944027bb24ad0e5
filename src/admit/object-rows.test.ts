import { expect, test } from "vitest";
import type { Strategy, StrategyRequest } from "../contract/strategy.ts";
import { createSpillway } from "../index.ts";
import { headTail } from "../stages/clamp/strategies/edges.ts";
import { memoryStore } from "../storage/stores/memory.ts";

const spillway = await createSpillway({ store: memoryStore(), ledger: null, env: {} });
const ODD = { id: 1777, status: "error", ms: 99_999, error: "disk full" };
const rows = Array.from({ length: 3000 }, (_, id) => (id === 1777 ? ODD : { id, status: "ok", ms: 10 + (id % 7) }));
const idsOf = (list: unknown[]) => list.flatMap((row) => (typeof row === "object" ? (row as { id: number }).id : []));

test.each([1500, 4000, 20_000])(
  "an object shows the rows that its JSON shows, the odd one too, in %d characters",
  async (maxChars) => {
    const limits = { maxChars };
    const asText = await spillway.admit({ tool: "query", output: JSON.stringify({ rows }), limits });
    const shown = JSON.parse(asText.text.slice(0, asText.text.lastIndexOf("\n[")).trim()) as { rows: unknown[] };
    const asObject = await spillway.admit({ tool: "query", output: { rows }, limits });
    const output = asObject.output as { rows: unknown[]; "[cut]": string };
    expect(idsOf(output.rows)).toContain(1777);
    expect(output.rows).toContainEqual(ODD);
    // Their notes take another share of the room.
    const [ofObject, ofText] = [idsOf(output.rows).length, idsOf(shown.rows).length];
    expect(Math.abs(ofObject - ofText)).toBeLessThan(12);
    expect(asObject.text).toBe(JSON.stringify(output));
    expect(asObject.text.length).toBeLessThanOrEqual(maxChars);
    expect(output["[cut]"]).toContain(asObject.receipt.artifact);
    const list = await spillway.admit({ tool: "query", output: rows, limits });
    expect(list.output as unknown[]).toContainEqual(ODD);
  },
);

test("a key that is ours already, long texts and other strategies are bounded as before", async () => {
  const request = { tool: "query", limits: { maxChars: 4000 } };
  for (const output of [
    { rows, "[cut]": 1 },
    { rows, text: "A".repeat(9000) },
  ]) {
    const { text } = await spillway.admit({ ...request, output });
    expect(text.length).toBeLessThanOrEqual(4000);
    expect(text).toContain("shortened from");
  }
  const { output } = await spillway.admit({ ...request, output: { rows }, strategy: "head-tail" });
  expect((output as { rows: unknown[] }).rows).not.toContainEqual(ODD);
});

test("an object of thousands of texts that are all over their shares is not clamped text by text", async () => {
  let started = 0;
  const start = (request: StrategyRequest) => {
    started += 1;
    return headTail.start(request);
  };
  const counting: Strategy = { ...headTail, name: "counting", start };
  const own = await createSpillway({ store: memoryStore(), ledger: null, env: {}, strategies: [counting] });
  const lines = Array.from(
    { length: 3000 },
    (_, at) => `row ${at} | ${(at * 7) % 1000} | active | 2024-01-${(at % 28) + 1}`,
  );
  const output = { lines, text: lines.join("\n") };
  const { receipt } = await own.admit({ tool: "query", output, strategy: "counting", limits: { maxBytes: 20_000 } });
  expect(receipt.strategy).toBe("bounded");
  expect(started).toBeLessThan(300);
});
