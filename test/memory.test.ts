import { spawnSync } from "node:child_process";
import { appendFileSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
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

it("prune rewrites a transcript of 100 MB with a heap that is too small for it", () => {
  const folder = mkdtempSync(join(tmpdir(), "spillway-memory-"));
  const file = join(folder, "session.jsonl");
  const text = "an ordinary line of a log, repeated until it is large\n".repeat(1750);
  const TURNS = 500;
  const at = "2026-01-01T00:00:00.000Z";
  const entry = (id: number, message: object) =>
    `${JSON.stringify({ type: "message", id: `e${id}`, parentId: id === 0 ? null : `e${id - 1}`, timestamp: at, message })}\n`;
  const call = (id: number) => ({ type: "toolCall", id: `c${id}`, name: "write", arguments: { content: text } });
  const turn = (id: number) =>
    entry(2 * id + 1, { role: "assistant", content: [call(id)], stopReason: "toolUse", timestamp: 1 }) +
    entry(2 * id + 2, {
      role: "toolResult",
      toolCallId: `c${id}`,
      toolName: "write",
      content: [{ type: "text", text }],
      isError: false,
      timestamp: 1,
    });
  try {
    writeFileSync(file, `${JSON.stringify({ type: "session", version: 3, id: "s", timestamp: at, cwd: "/" })}\n`);
    appendFileSync(file, entry(0, { role: "user", content: "go", timestamp: 1 }));
    for (let id = 0; id < TURNS; id++) appendFileSync(file, turn(id));
    expect(statSync(file).size).toBeGreaterThan(90_000_000);
    const cli = new URL("../dist/cli.cjs", import.meta.url).pathname;
    const { stdout, stderr } = spawnSync(
      process.execPath,
      ["--max-old-space-size=48", cli, "prune", file, "--dir", join(folder, "store"), "--json"],
      { encoding: "utf8", env: { PATH: process.env.PATH, HOME: folder } },
    );
    expect(stderr).toBe("");
    const { changed, report } = JSON.parse(stdout) as { changed: number; report: { results: { cleared: number } } };
    expect(changed).toBeGreaterThan(TURNS);
    expect(report.results.cleared).toBeGreaterThan(TURNS / 2);
    expect(statSync(file).size).toBeLessThan(50_000_000);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
