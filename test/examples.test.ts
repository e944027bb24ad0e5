import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
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
  "prepare.mjs": [
    /^2\d of 23 requests go on where the one before ended$/m,
    /^read back from \w{12}: file \d+, line 150$/m,
  ],
  "call.mjs": [/refused \(window\)\nthe provider got \d+ tokens: 200\nthe answer: The disk is full\.\n$/],
  "gateway.mjs": [/the gateway counts 1 cut output of bash/],
  "stages.mjs": [/^ERROR: disk full$/m, /omitted/],
  "overflow.mjs": [/^context-overflow: 212451 tokens of at most 200000$/m],
  "wire.mjs": [/^this is openai-chat$/m],
  "own-parts.mjs": [/^# pass 12$/m, /^# fail 0$/m],
  "claude-code-hook.mjs": [/spillway recall \w{12} --lines/, /the hook printed 0 characters/],
};

test("every example has a row here", () => {
  expect(
    readdirSync("examples")
      .filter((name) => name.endsWith(".mjs"))
      .toSorted(),
  ).toEqual(Object.keys(PRINTS).toSorted());
});

/** What an application imports or starts. `spillway/...` of a framework is that framework's program. */
test("every entrypoint has an example, and every example ten lines in the README at most", () => {
  const programs = readdirSync("examples", { recursive: true, encoding: "utf8" }).filter((name) =>
    /\.(mjs|ts)$/.test(name),
  );
  const code = programs.map((name) => readFileSync(`examples/${name}`, "utf8")).join("\n");
  const { exports } = JSON.parse(readFileSync("package.json", "utf8"));
  const entries = Object.keys(exports).filter((entry) => entry !== "./package.json");
  for (const entry of entries) expect(code).toMatch(new RegExp(`from "spillway${entry.slice(1)}"`));
  for (const command of ['"serve"', '"mcp"', '"hook"', ".prepare(", ".call("]) expect(code).toContain(command);
  const readme = readFileSync("examples/README.md", "utf8");
  for (const name of programs) expect(readme).toContain(name);
  for (const section of readme.split(/^## /m).slice(1)) {
    const [title = "", ...lines] = section.trim().split("\n");
    if (title !== "Frameworks") expect({ title, isShort: lines.length <= 10 }).toEqual({ title, isShort: true });
  }
});

test.each(Object.entries(PRINTS))("%s runs and shows what it should", (name, patterns) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [`examples/${name}`], {
    encoding: "utf8",
    timeout: 240_000,
    maxBuffer: 1e8,
  });
  expect(stderr).toBe("");
  expect(status).toBe(0);
  for (const pattern of patterns) expect(stdout).toMatch(pattern);
});
