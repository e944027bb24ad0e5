import { expect, it } from "vitest";
import { describeEvent } from "./describe-event.ts";

it("says why saving failed", () => {
  const about = { id: 1, atMs: 0, session: "s1", tool: "bash", call: null, artifact: null, receipt: null };
  const fault = `spill failed: ${"the disk of /data has 12 bytes free. ".repeat(3)}Run: spillway gc`;
  const line = describeEvent({ ...about, kind: "spill-failed", more: { faults: [fault, "a\u001b[31m"] } });
  expect(line).toContain("  s1  bash  ");
  expect(line).toContain(fault);
  expect(line).toContain("a\\u001b[31m");
  expect(line.trimEnd().split("\n")).toHaveLength(1);
});
