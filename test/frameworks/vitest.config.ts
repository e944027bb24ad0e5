import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";

process.env.SPILLWAY_TEST_DIR ??= mkdtempSync(join(tmpdir(), "spillway-test-"));

export default defineConfig({
  // It is an optional peer of ours, and lies here, not beside our sources.
  resolve: { dedupe: ["@langchain/core"] },
  test: {
    include: ["*.test.ts"],
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 120_000 } },
    fileParallelism: false,
    env: { SPILLWAY_DIR: process.env.SPILLWAY_TEST_DIR },
    globalSetup: "../remove-folder.ts",
  },
});
