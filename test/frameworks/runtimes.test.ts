import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";

const deno = join(import.meta.dirname, "node_modules/.bin/deno");

test("Deno: a long stream is kept whole and read back", () => {
  const dir = mkdtempSync(join(tmpdir(), "spillway-runtime-"));
  try {
    const told = execFileSync(deno, ["run", "-A", "--node-modules-dir=manual", "long-stream.mjs", dir], {
      cwd: import.meta.dirname,
      encoding: "utf8",
      env: { PATH: process.env.PATH, HOME: dir, DENO_DIR: join(dir, "deno") },
      timeout: 240_000,
    });
    expect(JSON.parse(told)).toEqual({
      saved: "yes",
      savedBytes: 22_000_000,
      bytes: 22_000_000,
      text: "a line of a long log with a few words in it\n",
    });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});
