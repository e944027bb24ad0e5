import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";

// Promise 10: memory is O(limits). Measured in a process of its own, with a heap too small for the output.
const script = `
  import { createSpillway } from "./dist/index.js";
  const spillway = await createSpillway({ store: null, env: {} });
  const MB = 1024 * 1024;
  async function* output(chunk) { for (let sent = 0; sent < 200 * MB; sent += chunk.length) yield chunk; }
  const chunks = {
    lines: Buffer.from("an ordinary line of a log, repeated until it is large\\n".repeat(1200)),
    oneLine: Buffer.alloc(64 * 1024, "x"),
    breaks: Buffer.alloc(64 * 1024, "\\n"),
    coloured: Buffer.from("\\u001b[32mgreen\\u001b[0m and plain, in turn\\n".repeat(1600)),
  };
  for (const [name, chunk] of Object.entries(chunks)) {
    const { receipt } = await spillway.admit({ output: output(chunk), tool: name });
    if (receipt.total.bytes < 200 * MB || receipt.shown.bytes > 51200) throw new Error(JSON.stringify(receipt));
  }
  console.log(Math.round(process.resourceUsage().maxRSS / 1024));
`;

it("800 MB through admit takes no more memory than a few outputs at their limits", () => {
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ["--max-old-space-size=48", "--input-type=module", "-e", script],
    { encoding: "utf8" },
  );
  expect(stderr).toBe("");
  expect(Number(stdout)).toBeGreaterThan(20);
  expect(Number(stdout)).toBeLessThan(160);
});
