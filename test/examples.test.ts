import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { expect, test } from "vitest";

/** What each prints when it works. */
const PRINTS: Record<string, RegExp[]> = {
  "guided-run.mjs": [/equal to what the tool wrote: true/],
  "mcp-proxy.mjs": [/^tools: read_log, recall, search$/m, /lines .* omitted/, /entry 2500\nentry 2501\nentry 2502\n/],
  "bounded-tools.mjs": [
    /\[3 shown, from 3 files, of \d+ matching lines in \d+ files;/,
    /\[lines 1-3 of \d+\]/,
    /outside the folders/,
  ],
  "fetch.mjs": [
    /Let me look\. The entry is there\./,
    /the client saw 0 calls/,
    /got \d+ tokens: refused \(window\)\n(?:the provider got \d+ tokens: 200\n){2}$/,
  ],
  "claude-code-hook.mjs": [/spillway recall \w{12} --lines/, /the hook printed 0 characters/],
};

test("every example has a row here", () => {
  expect(
    readdirSync("examples")
      .filter((name) => name.endsWith(".mjs"))
      .toSorted(),
  ).toEqual(Object.keys(PRINTS).toSorted());
});

test.each(Object.entries(PRINTS))("%s runs and shows what it should", (name, patterns) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [`examples/${name}`], {
    encoding: "utf8",
    timeout: 50_000,
    maxBuffer: 1e8,
  });
  expect(stderr).toBe("");
  expect(status).toBe(0);
  for (const pattern of patterns) expect(stdout).toMatch(pattern);
});
