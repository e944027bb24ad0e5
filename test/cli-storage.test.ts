import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const CLI = new URL("../dist/cli.cjs", import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), "spillway-cli-storage-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const env = { PATH: process.env["PATH"], HOME: folder, SPILLWAY_DIR: join(folder, "place") };
const spillway = (args: string[], input = "") =>
  spawnSync(process.execPath, [CLI, ...args], { input, cwd: folder, encoding: "utf8", env, maxBuffer: 1e9 });
const text = Array.from(
  { length: 5000 },
  (_, index) => `line ${index + 1}${index % 1000 === 0 ? " Error" : ""}\r\n`,
).join("");
let id = "";

describe("what the command line does with saved outputs", () => {
  beforeAll(() => {
    const { stdout } = spillway(["clamp", "--save", "--session", "s1", "--json", "--max-lines", "9"], text);
    id = JSON.parse(stdout).receipt.artifact;
  });

  it("recalls lines, head, tail, bytes and the exact whole, also by the first characters of an id", () => {
    expect(id).toMatch(/^[a-z2-7]{12}$/);
    expect(spillway(["recall", id.slice(0, 6), "--raw"]).stdout).toBe(text);
    expect(spillway(["recall", id, "--raw", "--lines", "3-4"]).stdout).toBe("line 3\r\nline 4\r\n");
    expect(spillway(["recall", id, "--lines", "3-4"]).stdout).toMatch(/^line 3\r\nline 4\r\n\[/);
    expect(spillway(["recall", id, "--tail", "1"]).stdout).toMatch(/^line 5000\r\n/);
    expect(JSON.parse(spillway(["recall", id, "--head", "2", "--json"]).stdout)).toMatchObject({ lines: [1, 2] });
    expect(spillway(["recall", id, "--raw", "--bytes", "0-4"]).stdout).toBe("line");
  });

  it("says on one line what is wrong, with 2", () => {
    for (const args of [
      ["recall", "zzzzzz"],
      ["recall", "../etc"],
      ["recall", id, "--head", "1", "--tail", "1"],
      ["recall", id, "--lines", "x"],
      ["search", id, "("],
      ["rm"],
      ["gc", "--max-age", "soon"],
      ["stats", "--by", "moon"],
    ]) {
      const { status, stdout, stderr } = spillway(args);
      expect({ args, status, stdout }).toEqual({ args, status: 2, stdout: "" });
      expect(stderr).toMatch(/^spillway: [^\n]+\n$/);
    }
  });

  it("searches as grep does, with a true count", () => {
    expect(spillway(["search", id, "error", "-i", "--max", "1", "-C", "1"]).stdout).toMatch(
      /^1:line 1 Error\n2-line 2\n\[5 /,
    );
    expect(JSON.parse(spillway(["search", id, "Error", "--max", "2", "--json"]).stdout)).toMatchObject({
      total: 5,
      next: 2001,
    });
    expect(spillway(["search", id, "-F", "lin."]).status).toBe(1);
  });

  it("lists, shows, verifies, counts and exports", () => {
    expect(JSON.parse(spillway(["ls", "--session", "s1", "--json"]).stdout)).toMatchObject({ id, session: "s1" });
    expect(spillway(["ls", "--session", "other"]).stdout).toBe("");
    expect(spillway(["show", id]).stdout).toContain("5,000 lines");
    expect(spillway(["verify"])).toMatchObject({ status: 0, stdout: expect.stringMatching(/^1 artifact, /) });
    expect(spillway(["events", "--session", "s1"]).stdout).toContain("output-clamped");
    expect(JSON.parse(spillway(["stats", "--json"]).stdout).all).toMatchObject({
      calls: 1,
      cutCalls: 1,
      cutsTooOften: true,
    });
    expect(spillway(["stats"]).stdout).toMatch(/^TOOL +CALLS +CUT[^\n]+\n(.*\n)*clamp +1 +1 .*100\.0 % !/);
    const events = spillway(["export", "--session", "s1"])
      .stdout.trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(events.filter((event) => event.text === text)).toHaveLength(1);
  });

  it("collects and removes, a dry run nothing", () => {
    const dry = JSON.parse(spillway(["gc", "--dry-run", "--max-age", "0", "--retain", "0", "--json"]).stdout);
    expect(dry.collected).toMatchObject({ removed: 1, remaining: 0 });
    expect(spillway(["ls"]).stdout).toContain(id);
    expect(spillway(["rm", "--session", "s1"]).stderr).toMatch(/^spillway: removed 1 artifact /);
    expect(spillway(["ls"]).stdout).toBe("");
    expect(spillway(["events", "--session", "s1"]).stdout).toBe("");
  });
});
