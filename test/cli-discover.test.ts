import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const CLI = new URL("../dist/cli.cjs", import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), "spillway-discover-"));
const config = join(folder, "spillway.yaml");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const env = { PATH: process.env["PATH"], HOME: folder, SPILLWAY_DIR: join(folder, "data") };
const spillway = (...args: string[]) =>
  spawnSync(process.execPath, [CLI, ...args], { cwd: folder, encoding: "utf8", env, timeout: 240_000 });
/** The same command, with a store of its own. */
const elsewhere = (name: string, ...args: string[]) =>
  spawnSync(process.execPath, [CLI, ...args], {
    cwd: folder,
    encoding: "utf8",
    env: { ...env, SPILLWAY_DIR: join(folder, name) },
    timeout: 240_000,
  });
const discover = (...args: string[]) => JSON.parse(spillway("discover", "--json", ...args).stdout).proposals;

beforeAll(() => {
  // Three runs of a build in which only those who know it see what matters: the lease of a shard.
  const words = "abcdefghijklmnopqrstuvwxyz";
  for (const run of [1, 2, 3]) {
    const lines = Array.from({ length: 3000 }, (_, n) =>
      n === 1400 + run
        ? `lease of shard ${run} went to node ${run + 4}`
        : `step ${words[n % 26]}${words[(n >> 3) % 26]}${words[(n >> 6) % 26]} took its place in plan ${n}`,
    );
    writeFileSync(join(folder, `run-${run}.txt`), `${lines.join("\n")}\n`);
    spillway("run", "--", "cat", `run-${run}.txt`);
    spillway("search", "last", "lease of shard [0-9]+");
    spillway("search", "last", `ghp_${"a1B2".repeat(9)}`);
    spillway("recall", "last", "--lines", `${1400 + run}-${1402 + run}`);
  }
});

it("proposes what was searched for and what was read back, with what each would change", () => {
  const proposals = discover();
  expect(proposals).toContainEqual(
    expect.objectContaining({
      list: "focus",
      pattern: "/lease of shard [0-9]+/",
      because: "searched for 3 times",
      outputs: 3,
      lines: { before: 0, after: 3 },
    }),
  );
  expect(proposals).toContainEqual(
    expect.objectContaining({ list: "keep", pattern: "lease of shard", because: "read back 3 times" }),
  );
  expect(JSON.stringify(proposals)).not.toContain("redacted");
  for (const { chars } of proposals) expect(chars.after).toBeGreaterThan(0);
  expect(discover("--least", "4")).toEqual([]);
  expect(discover("--tool", "another")).toEqual([]);
});

it("writes nothing unless somebody accepts", () => {
  const { stdout, status } = spillway("discover");
  expect(status).toBe(0);
  expect(stdout).toMatch(
    /^\d\. tools\.\w+\.focus: "\/lease of shard \[0-9\]\+\/"\n {3}searched for 3 times\n {3}on 3 outputs: /m,
  );
  expect(existsSync(config)).toBe(false);
});

describe.runIf(process.platform === "linux")("on a terminal", () => {
  const asked = join(folder, "asked.yaml");
  const answer = (input: string) =>
    spawnSync("script", ["-qec", `"${process.execPath}" "${CLI}" discover --file "${asked}"`, "/dev/null"], {
      cwd: folder,
      encoding: "utf8",
      input,
      env: { ...env, PAGER: "cat", TERM: "dumb" },
      timeout: 240_000,
    }).stdout;

  it("asks about each proposal, and writes those that get a yes", () => {
    const count = discover().length;
    expect(count).toBeGreaterThan(1);
    const stdout = answer(`y\n${"no\n".repeat(count - 1)}`);
    // What was proposed is all there before the first question, also through a pager.
    expect(stdout.indexOf("Write 1?")).toBeGreaterThan(stdout.indexOf(`${count}. tools.`));
    expect(stdout.match(/Write \d\? \[y\/N\]/g)).toHaveLength(count);
    expect(readFileSync(asked, "utf8").match(/^ {6}- /gm)).toHaveLength(1);
  });

  it("takes the end of the input for no", () => {
    rmSync(asked, { force: true });
    expect(answer("no\n\x04")).toContain("Write 2? [y/N]");
    expect(existsSync(asked)).toBe(false);
  });
});

it("writes what is accepted beside what stands in the config, and the next run shows it", () => {
  writeFileSync(config, "# ours\nprofile: balanced\n");
  const number = 1 + discover().findIndex(({ list }: { list: string }) => list === "focus");
  expect(spillway("discover", "--accept", String(number)).status).toBe(0);
  expect(readFileSync(config, "utf8")).toMatch(
    /^# ours\nprofile: balanced\ntools:\n {2}\w+:\n {4}focus:\n {6}- \/lease of shard \[0-9\]\+\/\n$/,
  );
  expect(spillway("run", "--", "cat", "run-2.txt").stdout).toContain("lease of shard 2 went to node 6");
  expect(discover().map(({ list }: { list: string }) => list)).not.toContain("focus");
});

it.each(["0", "1,x"])("refuses to accept %j", (numbers) => {
  const { status, stderr } = spillway("discover", "--accept", numbers);
  expect(status).toBe(2);
  expect(stderr).toContain("--accept takes all, or numbers from 1 to ");
});

it("leaves a config alone that it cannot read", () => {
  const broken = join(folder, "broken.yaml");
  writeFileSync(broken, "tools: [\n");
  const { status, stderr } = spillway("discover", "--accept", "all", "--file", broken);
  expect(status).toBe(2);
  expect(stderr).toContain("is not read and not changed");
  expect(readFileSync(broken, "utf8")).toBe("tools: [\n");
});

it("proposes to keep what summaries count and cuts do not show", () => {
  for (const run of [1, 2]) {
    const lines = Array.from({ length: 4000 }, (_, n) =>
      n % 8 === 0
        ? `not ok ${n} - part ${n} of run ${run} keeps ${"its long promise to the reader ".repeat(5)}`
        : `ok ${n} - part ${n}`,
    );
    writeFileSync(join(folder, "tests.txt"), `${lines.join("\n")}\n500 failed\n`);
    elsewhere("counted", "run", "--", "cat", "tests.txt");
  }
  const { proposals } = JSON.parse(elsewhere("counted", "discover", "--json").stdout);
  expect(proposals).toEqual([
    expect.objectContaining({
      list: "keep",
      pattern: "/^ *not ok /",
      because: "2 outputs count more of these than are shown",
      outputs: 2,
    }),
  ]);
  const [{ lines }] = proposals;
  expect(lines.after).toBeGreaterThan(lines.before);
});

it("proposes to drop a sort of lines that takes much of what is shown, unless it tells of trouble", () => {
  for (const run of [1, 2, 3]) {
    const lines = Array.from({ length: 3000 }, (_, n) => {
      const said = n % 2 === 0 ? "heartbeat of the worker came" : "warning: the disk is nearly full,";
      return `2026-01-02 10:${String(n % 60).padStart(2, "0")}:00 ${said} place ${n * run}`;
    });
    writeFileSync(join(folder, "beats.txt"), `${lines.join("\n")}\n`);
    elsewhere("noisy", "run", "--", "cat", "beats.txt");
  }
  const { proposals } = JSON.parse(elsewhere("noisy", "discover", "--json").stdout);
  expect(proposals).toEqual([
    expect.objectContaining({
      list: "drop",
      pattern: "heartbeat of the worker came place",
      because: "takes a sixth or more of what is shown in 3 outputs",
      lines: { before: expect.any(Number), after: 0 },
    }),
  ]);
});
