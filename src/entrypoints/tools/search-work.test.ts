import type * as ChildProcess from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, test, vi } from "vitest";
import { createSpillway } from "../../index.ts";
import { boundedTools, openRoots } from "./index.ts";

const read = vi.hoisted(() => ({ bytes: 0 }));
vi.mock("node:child_process", async (original) => {
  const real = await original<typeof ChildProcess>();
  const spawn = (...args: Parameters<typeof real.spawn>) => {
    const child = real.spawn(...args);
    child.stdout?.on("data", (chunk: Buffer) => {
      read.bytes += chunk.length;
    });
    return child;
  };
  return { ...real, spawn };
});

const folder = mkdtempSync(join(tmpdir(), "spillway-search-"));
afterAll(() => rmSync(folder, { recursive: true }));
beforeEach(() => {
  read.bytes = 0;
});

const spillway = await createSpillway({ store: null, ledger: null, env: {} });
const searchFiles = boundedTools({ spillway, roots: await openRoots([folder]), only: ["search_files"] })[0];

test("of a pattern that matches everywhere no more is read than could be shown", async () => {
  for (let i = 0; i < 20; i++) writeFileSync(join(folder, `many-${i}.txt`), "one of many lines\n".repeat(20_000));
  const answer = await searchFiles?.call({ pattern: "." });
  expect(answer?.text).toContain("of 400,000 matching lines in 20 files");
  expect(read.bytes).toBeGreaterThan(0);
  expect(read.bytes).toBeLessThan(50_000);
});

test("of lines that are very long only the part around the match is read", async () => {
  for (let i = 0; i < 5; i++) writeFileSync(join(folder, `long-${i}.js`), `${"x".repeat(2_000_000)}needle\n`);
  const answer = await searchFiles?.call({ pattern: "needle" });
  expect(answer?.text).toContain("[5 matching lines in 5 files]");
  expect(read.bytes).toBeLessThan(10_000);
});

test("however much context is asked for, what is read stays bounded", async () => {
  const answer = await searchFiles?.call({ pattern: "one of", show_context: 10_000, max_results: 1_000_000 });
  expect(answer?.text).toMatch(/of 400,000 matching lines in 20 files/);
  expect(read.bytes).toBeLessThan(500_000);
});
