import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { openLocal } from "../src/storage/local/open-local.ts";
import { change } from "../src/storage/sql.ts";

const CLI = new URL("../dist/cli.cjs", import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), "spillway-cli-keeping-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const dir = join(folder, "place");
const runs = join(folder, "runs");
const events = join(folder, "events.jsonl");
const config = join(folder, "own.yaml");
writeFileSync(config, `dir: place\nruns: runs\nevents: events.jsonl\n`);

const spillway = (args: string[], env = {}) =>
  spawnSync(process.execPath, [CLI, ...args], {
    cwd: folder,
    encoding: "utf8",
    env: { PATH: process.env["PATH"], HOME: folder, SPILLWAY_CONFIG: config, ...env },
    maxBuffer: 1e8,
    timeout: 240_000,
  });
const copies = (session: string) => readdirSync(join(runs, session)).filter((name) => name.endsWith(".txt"));
const loggedOf = (session: string | null) =>
  readFileSync(events, "utf8")
    .trim()
    .split("\n")
    .filter((line) => line !== "" && JSON.parse(line).session === session);

describe("spillway run --raw", () => {
  it("says on receipt, events, sums and runs that all was shown, and what was saved", () => {
    const { stdout } = spillway(["run", "--raw", "--json", "--session", "raw", "--", "seq", "1", "50000"]);
    const { text, receipt, exitCode } = JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "");
    expect({ text, exitCode }).toEqual({ text: "", exitCode: 0 });
    expect(receipt).toMatchObject({ strategy: "off", cutBy: null, cuts: [], saved: "yes", tool: "run_command" });
    expect(receipt.kept).toEqual({ bytes: 288_894, lines: 50_000 });
    expect(receipt).toMatchObject({ total: receipt.kept, omitted: { bytes: 0, lines: 0 }, savedBytes: 288_894 });
    expect(receipt.shown).toMatchObject({ bytes: 288_894, chars: 288_894, lines: 50_000 });
    expect(receipt.shown.tokens).toBeGreaterThan(50_000);
    expect(copies("raw")).toEqual([`run_command-${receipt.artifact}.txt`]);
    const kinds = loggedOf("raw").map((line) => JSON.parse(line).kind);
    expect(kinds).toEqual(["output-passed", "artifact-spilled"]);
    const { all } = JSON.parse(spillway(["stats", "--session", "raw", "--json"]).stdout);
    expect(all).toMatchObject({ calls: 1, cutCalls: 0, bytesIn: 288_894, bytesShown: 288_894, tokensSaved: 0 });
  });
});

describe("spillway run", () => {
  it("tells the model that time was up", () => {
    const timeUp = (seconds: number): ReturnType<typeof spillway> => {
      const ended = spillway(["run", "--timeout", `${seconds}`, "--", "sh", "-c", "echo begun; sleep 500"]);
      // On a slow machine the command may not have begun when a short time is up.
      return ended.stdout.startsWith("begun") || seconds > 50 ? ended : timeUp(seconds * 10);
    };
    const { stdout, stderr, status } = timeUp(0.3);
    expect(status).toBe(124);
    expect(stdout).toMatch(/^begun\n\[output ended early: its time was up after (0\.3|3|30) s\]\n\[exit code 124\]\n$/);
    expect(stderr.match(/time was up/g)).toHaveLength(1);
  });

  it("says once what could not be recorded, and goes on", () => {
    const blocked = join(folder, "blocked.yaml");
    writeFileSync(blocked, `dir: place\nevents: ${config}/x.jsonl\n`);
    for (const flags of [[], ["-q"], ["--json"]]) {
      const { stderr, status } = spillway(["run", ...flags, "--", "echo", "x"], { SPILLWAY_CONFIG: blocked });
      expect(status).toBe(0);
      expect(stderr.match(/not recorded: /g)).toHaveLength(1);
    }
  });

  it("names the folder in the marker where a config of this call only names it", () => {
    const { stdout } = spillway(["run", "--config", config, "--", "seq", "1", "9000"], { SPILLWAY_CONFIG: "" });
    expect(stdout).toContain(`--dir ${dir} --lines FROM-TO`);
    expect(spillway(["run", "--", "seq", "1", "9000"]).stdout).not.toContain("--dir");
  });

  it("applies retention, at most once an hour", async () => {
    const local = await openLocal(dir);
    const writer = await local.store.begin({ scope: "local", session: null, tool: "x", call: null });
    await writer.add(Buffer.from("old"));
    const { id } = await writer.end();
    const old = local.database.kysely.updateTable("artifacts").set({ created_ms: 1 }).where("id", "=", id);
    await local.database.commit(() => change(old));
    await local.close();
    spillway(["run", "--", "true"]);
    expect(spillway(["ls"]).stdout).toContain(id);
    const before = Date.now() / 1000 - 7200;
    utimesSync(join(dir, "collected"), before, before);
    spillway(["run", "--", "true"]);
    expect(spillway(["ls"]).stdout).not.toContain(id);
  });
});

describe("spillway rm", () => {
  it("removes the plain copies of an output with it", () => {
    for (const session of ["one", "two"]) spillway(["run", "--session", session, "--", "seq", "1", "7000"]);
    const [name = ""] = copies("one");
    expect(copies("two")).toEqual([name]);
    const id = name.slice(-16, -4);
    const { stderr } = spillway(["rm", id]);
    expect(stderr).toBe("spillway: removed 1 artifact (33.1 KiB) and 2 files in runs\n");
    expect([...copies("one"), ...copies("two")]).toEqual([]);
  });

  it("says what it removed of a session, and what stays", () => {
    for (const session of ["s1", "s2"]) spillway(["run", "--session", session, "--", "seq", "1", "8000"]);
    const { stderr } = spillway(["rm", "--session", "s1"]);
    expect(stderr).toMatch(
      /^spillway: removed 0 artifacts \(0 B\), 2 events, 2 files in runs and 2 lines of the event log; 1 artifact of other/,
    );
    expect(existsSync(join(runs, "s1"))).toBe(false);
    expect(loggedOf("s1")).toEqual([]);
    expect(copies("s2")).toHaveLength(1);
  });

  it("removes what belongs to no session", () => {
    spillway(["run", "--", "seq", "1", "6000"]);
    const [name = ""] = copies("_no-session").slice(-1);
    const gone = JSON.parse(spillway(["rm", "--no-session", "--json"]).stdout);
    expect(gone.artifacts).toBeGreaterThan(0);
    expect(gone.events).toBeGreaterThan(0);
    expect(existsSync(join(runs, "_no-session"))).toBe(false);
    expect(loggedOf(null)).toEqual([]);
    expect(spillway(["show", name.slice(-16, -4)]).status).toBe(2);
    expect(copies("s2")).toHaveLength(1);
    expect(JSON.parse(spillway(["stats", "--by", "session", "--json"]).stdout).rows).toContainEqual(
      expect.objectContaining({ session: "s2", calls: 1 }),
    );
    expect(spillway(["rm", "--session", ""]).stderr).toContain("--session takes a name");
    expect(spillway(["rm"]).stderr).toContain("either ids or --session NAME");
  });
});

it("pin keeps a session from gc, and lists what is kept", () => {
  expect(spillway(["pin"]).stderr).toContain("no session is pinned");
  spillway(["pin", "s2"]);
  expect(spillway(["pin"]).stdout).toMatch(/^s2 /);
  spillway(["gc", "--max-age", "0", "--retain", "0"]);
  expect(copies("s2")).toHaveLength(1);
  expect(JSON.parse(spillway(["ls", "--session", "s2", "--json"]).stdout).artifacts).toHaveLength(1);
  expect(spillway(["events", "--session", "s2"]).stdout).toContain("output-clamped");
  expect(JSON.parse(spillway(["pin", "s2", "--remove", "--json"]).stdout)).toEqual({ pinned: [] });
});

it("flags a tool in stats above the share that was asked for", () => {
  for (let at = 0; at < 5; at++) spillway(["run", "--session", "often", "--", "seq", "1", `${8000 + at}`]);
  const flagged = (share: string) =>
    JSON.parse(spillway(["stats", "--session", "often", "--flag-above", share, "--json"]).stdout).all.cutsTooOften;
  expect([flagged("0.9"), flagged("1")]).toEqual([true, false]);
  expect(spillway(["stats", "--flag-above", "2"]).stderr).toContain("--flag-above takes a number from 0 to 1");
});

it("prints the sums of stats as counters for Prometheus", () => {
  const { calls } = JSON.parse(spillway(["stats", "--json"]).stdout).all;
  const { stdout } = spillway(["stats", "--prometheus"]);
  expect(stdout).toMatch(/^# HELP spillway_outputs_total .+\n# TYPE spillway_outputs_total counter\n/);
  const counted = [...stdout.matchAll(/^spillway_outputs_total\{tool="[^"]*"\} (\d+)$/gm)].map(([, count]) =>
    Number(count),
  );
  expect(counted.reduce((sum, count) => sum + count, 0)).toBe(calls);
  // Requests belong to no tool.
  for (const name of ["answered_requests", "input_tokens", "cache_read_tokens", "refusals", "recoveries"])
    expect(stdout.match(new RegExp(`^spillway_${name}_total.*$`, "gm"))).toEqual([`spillway_${name}_total 0`]);
  expect(spillway(["stats", "--prometheus", "--json"]).status).toBe(2);
});

it("times need a unit, except a time-out", () => {
  for (const args of [
    ["gc", "--max-age", "7"],
    ["gc", "--retain", "60"],
    ["stats", "--since", "3"],
  ]) {
    const { stderr, status } = spillway(args);
    expect(status).toBe(2);
    expect(stderr).toContain("a time is a number with a unit, such as 30s, 12h or 7d");
  }
  expect(spillway(["run", "--timeout", "soon", "--", "true"]).stderr).toContain("--timeout takes seconds");
  expect(spillway(["run", "--timeout", "5", "--", "true"]).status).toBe(0);
});

describe("reading back", () => {
  it("names flags of the command line for the next page, and says what is past the end", () => {
    spillway(["run", "--session", "pages", "--", "seq", "1", "9999"]);
    const [name = ""] = copies("pages");
    const id = name.slice(-16, -4);
    expect(spillway(["search", id, "9"]).stdout).toMatch(/; next: --from \d+\]\n$/);
    expect(spillway(["recall", id]).stdout).toMatch(/; next: --lines \d+-\d+\]\n$/);
    expect(spillway(["recall", id, "--lines", "20000-"]).stdout).toContain("asked for lines from 20000 on");
    expect(spillway(["recall", id, "--lines", "20000-", "--raw"])).toMatchObject({
      stdout: "",
      stderr: "spillway: nothing: the artifact has 9,999 lines, 48,888 bytes\n",
    });
  });

  it("an unknown command is told where the known ones are", () => {
    expect(spillway(["xyzzy"]).stderr).toBe("spillway: unknown command 'xyzzy'; \"spillway --help\" lists them all\n");
  });
});
