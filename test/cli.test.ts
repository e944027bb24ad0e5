import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";

const CLI = new URL("../dist/cli.cjs", import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), "spillway-cli-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

// A home of its own, so that nobody's config reaches the tests.
const env = { PATH: process.env.PATH, HOME: folder };
const spillway = (args: string[], input: string | Buffer = "", more: object = {}) =>
  spawnSync(process.execPath, [CLI, ...args], {
    input,
    cwd: folder,
    encoding: "utf8",
    env: { ...env, ...more },
    maxBuffer: 1e9,
  });
const words = ["alpha", "beta", "gamma", "delta", "omega", "sigma", "kappa"];
const log = (lines: number) =>
  Array.from({ length: lines }, (_, index) => `${words[(index * index) % 7]} ${words[index % 5]} ${index}\n`).join("");

describe("spillway clamp", () => {
  it("prints exactly what a model would see, and a line for people on standard error", () => {
    const { stdout, stderr, status } = spillway(["clamp", "--max-lines", "10"], log(500));
    expect(status).toBe(0);
    // A line break ends the last line, which is ours.
    expect(stdout.match(/\n/g)).toHaveLength(10);
    expect(stdout).toMatch(/The rest was not saved.*\]\n$/);
    expect(stderr).toMatch(/^spillway: cut by lines: 500 lines, 7\.5 KiB -> 10 lines, \d+ B, about \d+ tokens\n$/);
  });

  it("passes what is within limits byte for byte, adding no line break", () => {
    for (const input of ["no break", "one\r\ntwo\n", "", "\ufeffbom é 😀"])
      expect(spillway(["clamp", "-q"], input)).toMatchObject({ stdout: input, stderr: "", status: 0 });
  });

  it("reads a file, and standard input for -", () => {
    writeFileSync(join(folder, "a.log"), "from a file\n");
    expect(spillway(["clamp", "a.log", "-q"]).stdout).toBe("from a file\n");
    expect(spillway(["clamp", "-", "-q"], "from input").stdout).toBe("from input");
  });

  it("gives text and receipt as one JSON object", () => {
    const { stdout, stderr } = spillway(
      ["clamp", "--json", "--max-bytes", "300", "--exit-code", "3", "--command", "make"],
      log(900),
    );
    const { text, receipt } = JSON.parse(stdout);
    expect(stderr).toBe("");
    expect(receipt).toMatchObject({
      tool: "run_command",
      exitCode: 3,
      cutBy: "bytes",
      saved: "no",
      artifact: null,
      total: { lines: 900 },
    });
    expect(receipt.kept.bytes + receipt.folded.bytes + receipt.omitted.bytes).toBe(receipt.total.bytes);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(300);
    expect(text.endsWith("[exit code 3]")).toBe(true);
  });

  it("takes every limit, strategy, share and tool from flags; flags may raise the ceiling", () => {
    const text = log(9000);
    const size = (...flags: string[]) => JSON.parse(spillway(["clamp", "--json", "--no-fold", ...flags], text).stdout);
    expect(size("--max-chars", "999").receipt.shown.chars).toBeLessThanOrEqual(999);
    expect(size("--max-tokens", "500").receipt.shown.tokens).toBeLessThanOrEqual(500);
    expect(size("--tool", "run_command").receipt.limits).toMatchObject({ maxChars: 20_000, maxLines: 200 });
    expect(size("--strategy", "tail").text.startsWith("[... lines 1-")).toBe(true);
    expect(size("--strategy", "head").text).toMatch(
      /\n\n\[tool output truncated: exceeded 50KB or 2000 lines; [^\n]*\]$/,
    );
    expect(size("--head-share", "0.9", "--max-lines", "100").text).toMatch(/^\[First 8\d lines/);
    expect(size("--max-bytes", "200000", "--max-lines", "99999").receipt.omitted.bytes).toBe(0);
    expect(size("--profile", "frugal").receipt.limits).toMatchObject({ maxChars: 8000, maxLines: 500 });
    expect(size("--profile", "off").receipt.omitted.bytes).toBe(0);
  });

  it("folds where asked", () => {
    const noisy = "\x1b[32mok\x1b[0m\n".repeat(5000);
    expect(spillway(["clamp", "--fold", "-q"], noisy).stdout).toMatch(
      /^ok\n\[previous line repeated 4999 more times\]\n\[Repeats/,
    );
    expect(spillway(["clamp", "--no-fold", "-q"], noisy).stdout).toContain("\x1b[32m");
  });

  it("reads config files and the environment, and says what is wrong in them", () => {
    writeFileSync(join(folder, "mine.yaml"), "default:\n  max_lines: 5\n");
    expect(
      JSON.parse(spillway(["clamp", "--json", "--config", "mine.yaml"], log(100)).stdout).receipt.limits.maxLines,
    ).toBe(5);
    expect(
      JSON.parse(spillway(["clamp", "--json"], log(100), { SPILLWAY_MAX_LINES: "7" }).stdout).receipt.shown.lines,
    ).toBe(7);
    writeFileSync(join(folder, "bad.yaml"), "default:\n  max_lins: 5\n");
    const { status, stderr, stdout } = spillway(["clamp", "--config", "bad.yaml"], "x");
    expect([status, stdout]).toEqual([0, "x"]);
    expect(stderr).toMatch(/bad\.yaml:2:\d+.*max_lins.*did you mean.*max_?lines/i);
    expect(spillway(["clamp"], "x", { SPILLWAY_MAX_LINES: "many" })).toMatchObject({
      status: 0,
      stdout: "x",
      stderr: expect.stringContaining("SPILLWAY_MAX_LINES"),
    });
    expect(spillway(["clamp", "--config", "no-such.yaml"], "x")).toMatchObject({ status: 2, stdout: "" });
  });

  it.each([
    [["clamp", "--max-lines", "-5"], /--max-lines takes a whole number of 0 or more/],
    [["clamp", "--max-lines", "0"], /: --max-lines 0 shows nothing: give 1 or more$/m],
    [["clamp", "--max-bytes", "0"], /: --max-bytes 0 shows nothing/],
    [["completion", "tcsh"], /^spillway: 'tcsh' is unknown\. Allowed choices are bash, /],
    [["config"], /missing required argument 'check\|show'/],
    [["recall", "last", "--lines", "abc"], /^spillway: --lines takes two numbers, such as 120-180; got "abc"/],
    [["clamp", "--max-bytes", "NaN"], /a size is a number of bytes, or one with a unit/],
    [["clamp", "--max-tokens", ""], /--max-tokens takes a whole number/],
    [["clamp", "--head-share", "2"], /--head-share takes a number from 0 to 1/],
    [
      ["clamp", "--strategy", "best"],
      /strategy must be one of auto, signal, json, .*head, tail, head-tail; got "best"/,
    ],
    [["clamp", "--profile", "wild"], /profile must be balanced, frugal, uniform or off/],
    [["clamp", "--exit-code", "abc"], /--exit-code takes a whole number/],
    [["clamp", "no-such-file"], /cannot read no-such-file: no such file/],
    [["clamp", "."], /cannot read \.: it is a directory/],
    [["clamp", "--max-line", "5"], /unknown option '--max-line'.*--max-lines/s],
    [["clmp"], /unknown command 'clmp'.*clamp/s],
    [["events", "--zebra"], /unknown option '--zebra'; "spillway events --help" lists them all$/m],
    [["recall"], /missing required argument 'id' \(last is the newest\); "spillway recall --help" has examples$/m],
    [
      ["stats", "--since", "3"],
      /^spillway: --since: a time is a number with a unit, such as 30s, 12h or 7d; got "3"$/m,
    ],
    [["clamp", "a", "b"], /too many arguments/],
    [["clamp", "--profile", "off", "--max-lines", "5"], /takes no limits/],
  ])("answers %j with one clear line and exit code 2", (args, message) => {
    const { status, stdout, stderr } = spillway(args, "input");
    expect(status).toBe(2);
    expect(stdout).toBe("");
    expect(stderr).toMatch(message);
    expect(stderr.trim().split("\n")).toHaveLength(1);
  });

  it("does not lose an output because of a file that came with a clone", () => {
    writeFileSync(join(folder, "spillway.yaml"), "default:\n  max_lines: many\n");
    const { status, stdout, stderr } = spillway(["clamp"], "kept\n");
    rmSync(join(folder, "spillway.yaml"));
    expect([status, stdout]).toEqual([0, "kept\n"]);
    expect(stderr).toMatch(/spillway\.yaml is ignored: .*spillway\.yaml:2:\d+: default\.max_lines/);
  });

  it("says that it cannot write", () => {
    const child = spawnSync("bash", ["-c", `echo hello | "${process.execPath}" "${CLI}" clamp > /dev/full`], {
      encoding: "utf8",
      env,
    });
    expect(child.status).toBe(2);
    expect(child.stderr).toMatch(/cannot write standard output/);
  });

  it("passes any amount through when it is off, holding none of it", () => {
    const child = spawnSync("bash", ["-c", `yes | "${process.execPath}" "${CLI}" clamp --profile off | head -2`], {
      encoding: "utf8",
      env,
    });
    expect(child.stdout).toBe("y\ny\n");
  });

  it("shows help with examples, and its version", () => {
    for (const args of [[], ["--help"], ["-h"], ["help"]])
      expect(spillway(args)).toMatchObject({ status: 0, stdout: expect.stringContaining("Examples:") });
    expect(spillway(["clamp", "--help"]).stdout).toContain("--max-tokens");
    expect(spillway(["--version"]).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it("survives a reader that stops reading", async () => {
    const child = spawn(
      "bash",
      [
        "-c",
        `head -c 4000000 /dev/zero | tr '\\0' 'x' | "${process.execPath}" "${CLI}" clamp -q --max-bytes 2000000 | head -c 10 | wc -c; echo "\${PIPESTATUS[2]}"`,
      ],
      { env },
    );
    let stdout = "";
    child.stdout.on("data", (chunk) => (stdout += chunk));
    await new Promise((resolve) => child.on("close", resolve));
    expect(stdout.trim().split(/\s+/)).toEqual(["10", "0"]);
  });

  it("takes input that arrives late and in pieces", async () => {
    const child = spawn(process.execPath, [CLI, "clamp", "-q"], { env, cwd: folder });
    let stdout = "";
    child.stdout.on("data", (chunk) => (stdout += chunk));
    for (const piece of ["a\xc3", "\xa9 b", "\n"]) {
      child.stdin.write(Buffer.from(piece, "latin1"));
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    child.stdin.end();
    await new Promise((resolve) => child.on("close", resolve));
    expect(stdout).toBe("aé b\n");
  });
});
