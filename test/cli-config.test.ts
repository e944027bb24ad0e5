import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const CLI = new URL("../dist/cli.cjs", import.meta.url).pathname;
const home = mkdtempSync(join(tmpdir(), "spillway-cli-config-"));
const project = join(home, "project");
const config = join(home, ".config", "spillway");
afterAll(() => rmSync(home, { recursive: true, force: true }));

const env = { PATH: process.env["PATH"], HOME: home };
const spillway = (args: string[], more: Record<string, string> = {}) =>
  spawnSync(process.execPath, [CLI, ...args], {
    cwd: project,
    encoding: "utf8",
    env: { ...env, ...more },
    timeout: 240_000,
  });
const run = (session: string) =>
  spillway(["run", "-q", "--json", "--session", session, "--max-lines", "9", "--", "seq", "5000"]);
const linesOf = (path: string) => readFileSync(path, "utf8").trim().split("\n");

describe("what the user's own config says of keeping", () => {
  beforeAll(() => {
    mkdirSync(project);
    mkdirSync(config, { recursive: true });
    writeFileSync(
      join(config, "spillway.yaml"),
      "dir: ~/place\nevents: ~/events.jsonl\nruns: ~/runs\nredact: { rules: [{ name: number, literal: '4999' }], model: true }\n",
    );
    writeFileSync(join(project, "spillway.yaml"), "dir: ./here\nevents: ./here.jsonl\nruns: ./runs\nredact: off\n");
  });

  it("holds for run, and nothing of it comes from a project's file", () => {
    const { text, receipt } = JSON.parse(run("s1").stdout);
    run("s2");
    expect(text).toContain("[redacted:number]");
    expect(receipt.redacted.bytes).toBe(4);
    expect(existsSync(join(home, "place"))).toBe(true);
    expect(linesOf(join(home, "events.jsonl")).length).toBe(4);
    expect(readdirSync(join(home, "runs", "s1")).toSorted()).toEqual([
      "events.jsonl",
      `run_command-${receipt.artifact}.txt`,
    ]);
    expect(spillway(["recall", receipt.artifact, "--raw", "--lines", "4999-4999"]).stdout).toBe("[redacted:number]\n");
    expect(readdirSync(project)).toEqual(["spillway.yaml"]);
  });

  it("yields to flags and variables", () => {
    const elsewhere = join(home, "elsewhere");
    expect(spillway(["ls", "--dir", elsewhere]).stdout).toBe("");
    expect(spillway(["ls"], { SPILLWAY_DIR: elsewhere }).stdout).toBe("");
    expect(spillway(["ls"]).stdout).not.toBe("");
    const { text } = JSON.parse(
      spillway(["run", "-q", "--json", "--no-redact", "--max-lines", "9", "--", "seq", "5000"]).stdout,
    );
    expect(text).toContain("\n4999\n");
  });

  it("tells rm where runs and logs are", () => {
    expect(spillway(["rm", "--session", "s1"]).status).toBe(0);
    expect(existsSync(join(home, "runs", "s1"))).toBe(false);
    expect(existsSync(join(home, "runs", "s2"))).toBe(true);
    const sessions = linesOf(join(home, "events.jsonl")).map((line) => JSON.parse(line).session);
    expect(sessions).not.toContain("s1");
    expect(sessions).toContain("s2");
  });
});

describe("config check of a project's file that is broken", () => {
  it("names the file as ignored, and tells each fault on a line of its own", () => {
    const own = mkdtempSync(join(home, "broken-"));
    const path = join(own, "spillway.yaml");
    const keys = Array.from({ length: 12 }, (_, index) => `no_such_key_${index}: 1\n`).join("");
    writeFileSync(path, `default: { max_lines: many }\ntools: { bash: { max_chars: x } }\n${keys}`);
    const check = (...args: string[]) =>
      spawnSync(process.execPath, [CLI, "config", "check", ...args], {
        cwd: own,
        encoding: "utf8",
        env: { ...env, HOME: own },
      });
    const { status, stdout, stderr } = check();
    expect(stdout).toBe(`${path}: the project's file, ignored\n`);
    const lines = stderr.trimEnd().split("\n");
    expect(lines[0]).toContain(`${path} is ignored: spillway.yaml:1:23: default.max_lines: expected`);
    expect(lines[1]).toMatch(/^spillway: spillway\.yaml:2:29: tools\.bash\.max_chars: expected/);
    expect(lines).toHaveLength(15);
    expect(lines[14]).toBe("spillway: 14 problems");
    expect(status).toBe(2);
    expect(JSON.parse(check("--json").stdout).problems).toHaveLength(14);
  });
});

describe("config check of what is no mistake", () => {
  const own = mkdtempSync(join(home, "notes-"));
  const check = (...args: string[]) =>
    spawnSync(process.execPath, [CLI, "config", "check", ...args], {
      cwd: own,
      encoding: "utf8",
      env: { ...env, HOME: own },
    });

  it("notes a project's limit that has no effect, and another program's sections, and ends with 0", () => {
    const path = join(own, "spillway.yaml");
    writeFileSync(path, "tools: { bash: { max_lines: 5000 } }\n");
    const other = join(own, "openclaw.json");
    writeFileSync(other, '{ "gateway": { "port": 1 }, "agents": { "defaults": { "contextTokens": 9000 } } }');
    for (const [args, note] of [
      [[], `tools.bash.max_lines 5,000 in ${path}:1 has no effect here: 200 holds (from the default); put it`],
      [[other], `${other}:1:1: this is OpenClaw's config; not read: gateway`],
    ] as const) {
      const { status, stderr } = check(...args);
      const [told = "", last] = stderr.split("\n");
      expect(told).toContain(`spillway: note: ${note}`);
      expect({ status, last }).toEqual({ status: 0, last: "spillway: nothing is wrong" });
      expect(JSON.parse(check(...args, "--json").stdout)).toMatchObject({
        problems: [],
        notes: [told.replace("spillway: note: ", "")],
      });
    }
  });
});

it("a project's file with many faults is told one line a fault, the first three of them", () => {
  const own = mkdtempSync(join(home, "many-"));
  const path = join(own, "spillway.yaml");
  writeFileSync(
    path,
    `default: { max_lines: many }\n${Array.from({ length: 5 }, (_, at) => `key_${at}: 1\n`).join("")}`,
  );
  const how = { cwd: own, encoding: "utf8", env: { ...env, HOME: own }, input: "x\n" } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, [CLI, "clamp", "-q"], how);
  expect({ status, stdout }).toEqual({ status: 0, stdout: "x\n" });
  expect(stderr.trimEnd().split("\n")).toEqual([
    expect.stringContaining(`spillway: ${path} is ignored: spillway.yaml:1:23: default.max_lines: expected`),
    expect.stringContaining("spillway: spillway.yaml:2:1: unknown key key_0"),
    expect.stringContaining("spillway: spillway.yaml:3:1: unknown key key_1"),
    "spillway: ... and 3 more: spillway config check",
  ]);
});
