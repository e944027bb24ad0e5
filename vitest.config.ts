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
    // They end what hangs. No machine is so slow that it needs so long.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    teardownTimeout: 120_000,
    expect: { poll: { timeout: 120_000 } },
    // More than there are cores: many tests wait for other processes and for the disk, and leave a core to another file.
    // Not more than this, because a container has fewer cores than Node 20 sees.
    maxWorkers: Math.min(availableParallelism() + 2, 8),
    setupFiles: "test/fixed-seed.ts",
    // Tests never touch the folders of the user who runs them.
    env: { SPILLWAY_DIR: testFolder, XDG_CACHE_HOME: testFolder },
    globalSetup: "test/remove-folder.ts",
  },
});
