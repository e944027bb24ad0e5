import { mkdtempSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";

// One folder a run: its name is known to the setup that removes it.
process.env.SPILLWAY_TEST_DIR ??= mkdtempSync(join(tmpdir(), "spillway-test-"));
const testFolder = process.env.SPILLWAY_TEST_DIR;

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    // Has a lock of its own, with other people's frameworks.
    exclude: ["test/frameworks/**", "**/node_modules/**"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // The default is one worker on two cores. Many tests wait for other processes, so a second worker pays.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // Tests never touch the folders of the user who runs them.
    env: { SPILLWAY_DIR: testFolder, XDG_CACHE_HOME: testFolder },
    globalSetup: "test/remove-folder.ts",
  },
});
