import { expect, it } from "vitest";
import { describeEvent } from "./commands/events.ts";

it("says why saving failed", () => {
  const about = { id: 1, atMs: 0, session: "s1", tool: "bash", call: null, artifact: null, receipt: null };
  const fault = `spill failed: ${"the disk of /data has 12 bytes free. ".repeat(3)}Run: spillway gc`;
  const line = describeEvent({ ...about, kind: "spill-failed", more: { faults: [fault, "a\u001b[31m"] } });
  expect(line).toContain("  s1  bash  ");
  expect(line).toContain(fault);
  expect(line).toContain("a\\u001b[31m");
  expect(line.trimEnd().split("\n")).toHaveLength(1);
});

it("says what was done to a request, in columns", () => {
  const about = { id: 1, atMs: 0, session: "s1", tool: null, call: null, artifact: null, receipt: null };
  const reduced = { rung: "clear-results", freedTokens: 12_000, freedBytes: 9, leftTokens: 8000, fault: "it broke" };
  const lines = [
    describeEvent({ ...about, kind: "overflow-reduced", more: reduced }),
    describeEvent({ ...about, kind: "overflow-recovered", more: { fromTokens: 20_000, estimatedTokens: 1, sends: 2 } }),
    describeEvent({
      ...about,
      kind: "request-pruned",
      more: { before: { tokens: 5000 }, after: { tokens: 4000 }, why: "it is 90 % full", faults: [] },
    }),
  ];
  expect(lines[0]).toContain("  clear-results; 12,000 tokens freed; 8,000 left; it broke\n");
  expect(lines[1]).toContain("  20,000 -> 1 token; sent 2 times\n");
  expect(lines[2]).toContain("  5,000 -> 4,000 tokens; it is 90 % full\n");
  const paid = { of: "output", model: "m", calls: 1, inputTokens: 9000, outputTokens: 20, dollars: null, fault: null };
  expect(describeEvent({ ...about, kind: "summary-paid", more: paid })).toContain("  9,000 tokens in, 20 out\n");
  expect(new Set(lines.map((line) => line.indexOf("s1"))).size).toBe(1);
});
