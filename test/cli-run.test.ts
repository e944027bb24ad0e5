import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";

const CLI = new URL("../dist/cli.cjs", import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), "spillway-cli-run-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const env = { PATH: process.env["PATH"], HOME: folder, SPILLWAY_DIR: join(folder, "place") };
const run = (args: string[], input = "") =>
  spawnSync(process.execPath, [CLI, "run", ...args], {
    input,
    cwd: folder,
    encoding: "utf8",
    env,
    maxBuffer: 1e9,
    timeout: 240_000,
    killSignal: "SIGKILL",
  });

describe("spillway run", () => {
  it("shows both streams in true order, ends with the command's code, and names a command that reads the rest", () => {
    const script = "for i in $(seq 1 300); do echo out $i; echo err $i >&2; done; exit 2";
    const { stdout, stderr, status } = run(["--max-lines", "40", "--", "sh", "-c", script]);
    expect(status).toBe(2);
    expect(stdout).toContain("out 1\nerr 1\n");
    expect(stdout.endsWith("[exit code 2]\n")).toBe(true);
    expect(stderr).toMatch(/^spillway: cut by lines: 600 lines/);
    const [, way = "", id = ""] = /(spillway recall ([a-z2-7]{12}) --lines )FROM-TO/.exec(stdout) ?? [];
    expect(way).not.toBe("");
    const back = spawnSync(process.execPath, [CLI, "recall", id, "--raw"], { encoding: "utf8", env });
    const whole = Array.from({ length: 300 }, (_, index) => `out ${index + 1}\nerr ${index + 1}\n`).join("");
    expect(back.stdout).toBe(whole);
  });

  it("passes standard input and options after the command, and writes what is within limits as it is", () => {
    expect(run(["-q", "--", "cat"], "one\ntwo")).toMatchObject({ stdout: "one\ntwo", stderr: "", status: 0 });
    expect(run(["-q", "echo", "--json", "-q"]).stdout).toBe("--json -q\n");
    expect(run(["-q", "--", "sh", "-c", "echo a >/dev/stderr; echo b >/dev/stdout"]).stdout).toBe("a\nb\n");
  });

  it.each([
    ["run", ["run", "-q"]],
    ["mcp", ["mcp"]],
  ])("%s hands a script of npm to the command line of Windows", (name, args) => {
    const place = join(folder, `windows-${name}`);
    mkdirSync(place);
    // Windows is what the platform says it is; the folder of its PATH is part of a file's name here.
    writeFileSync(join(place, "as-windows.cjs"), 'Object.defineProperty(process, "platform", { value: "win32" });');
    writeFileSync(join(place, "\\bin\\npm.cmd"), "");
    writeFileSync(join(place, "cmd"), '#!/bin/sh\nprintf "%s\\n" "$@" > told\n', { mode: 0o755 });
    spawnSync(process.execPath, ["-r", "./as-windows.cjs", CLI, ...args, "--", "npm", "test"], {
      input: "",
      cwd: place,
      env: { ...env, PATH: "\\bin", ComSpec: join(place, "cmd") },
      timeout: 30_000,
      killSignal: "SIGKILL",
    });
    expect(readFileSync(join(place, "told"), "utf8")).toBe('/d\n/s\n/c\n"\\bin\\npm.cmd ^^^"test^^^""\n');
  });

  it("says what could not be run as timeout does, and never with 2 for a fault of its own", () => {
    writeFileSync(join(folder, "plain"), "", { mode: 0o600 });
    expect(run(["--", "no-such-command-here"])).toMatchObject({ status: 127 });
    expect(run(["--", "no-such-command-here"]).stdout).toContain("no such command");
    expect(run(["--", join(folder, "plain")]).status).toBe(126);
    expect(run(["--no-such-flag", "--", "true"])).toMatchObject({ status: 125, stdout: "" });
    expect(run(["--strategy", "none", "--", "true"])).toMatchObject({ status: 125, stdout: "" });
    expect(run([]).status).toBe(125);
    expect(run(["--", "sh", "-c", "kill -9 $$"]).status).toBe(137);
  });

  it("ends the whole group when time is up", async () => {
    const timeUp = (seconds: number): ReturnType<typeof run> => {
      const ended = run(["--timeout", `${seconds}`, "--", "sh", "-c", "sleep 500 & echo $!; sleep 500"]);
      // On a slow machine the command may not have said who its child is when a short time is up.
      return /^\d/.test(ended.stdout) || seconds > 50 ? ended : timeUp(seconds * 10);
    };
    const { stdout, status } = timeUp(0.3);
    expect(status).toBe(124);
    const pid = String(Number.parseInt(stdout, 10));
    const stateOf = () => spawnSync("ps", ["-o", "stat=", "-p", pid], { encoding: "utf8" }).stdout.trim();
    // Ended, whether or not its new parent has taken notice (Z).
    await expect.poll(stateOf).toMatch(/^(Z.*)?$/);
  });

  it("takes a time of 0 as none, as timeout does", () => {
    for (const time of ["0", "0s", "0.0"]) {
      expect(run(["-q", "--timeout", time, "--", "sh", "-c", "sleep 0.2; echo done"])).toMatchObject({
        status: 0,
        stdout: "done\n",
      });
    }
  });

  it("saves bytes that are not UTF-8, and says so, though all is shown", () => {
    const { stdout, stderr } = run(["--", "printf", "D\\351j\\340 vu\\n"]);
    expect(stdout).toBe("D\ufffdj\ufffd vu\n");
    const [, id = ""] =
      /^spillway: within its limits: .*; not all of it is UTF-8: saved as (\w+)\n$/.exec(stderr) ?? [];
    const back = spawnSync(process.execPath, [CLI, "recall", id, "--raw"], { encoding: "latin1", env });
    expect(back.stdout).toBe("D\xe9j\xe0 vu\n");
  });

  it("is not held up by a child that keeps the pipe open", () => {
    const { stdout, status } = run(["-q", "--", "sh", "-c", "sleep 500 & echo $!"]);
    expect(status).toBe(0);
    process.kill(Number.parseInt(stdout, 10), "SIGKILL");
  });

  it("passes signals on", async () => {
    const script = "trap 'exit 9' TERM; echo up; while :; do sleep 0.05; done";
    const child = spawn(process.execPath, [CLI, "run", "-q", "--raw", "--", "sh", "-c", script], {
      env,
      stdio: ["ignore", "pipe", "ignore"],
    });
    // It has come through us, so both the trap and our own handlers are set.
    child.stdout.once("data", () => child.kill("SIGTERM"));
    expect(await new Promise((resolve) => child.once("exit", resolve))).toBe(9);
  });

  it("passes every byte with --raw and saves every byte, over limits, within them or with none", () => {
    for (const [flags, last] of [
      [["--max-lines", "5"], 50_000],
      [[], 3],
      [["--profile", "off"], 300_000],
    ] as const) {
      const { stdout, stderr, status } = run(["--raw", ...flags, "--", "seq", "1", String(last)]);
      expect(status).toBe(0);
      expect(stdout).toBe(Array.from({ length: last }, (_, index) => `${index + 1}\n`).join(""));
      const [, id = ""] = /: saved as ([a-z2-7]{12})\n$/.exec(stderr) ?? [];
      const back = spawnSync(process.execPath, [CLI, "recall", id, "--raw"], { encoding: "utf8", env, maxBuffer: 1e9 });
      expect(back.stdout).toBe(stdout);
    }
    expect(run(["--raw", "--", "true"]).stderr).toContain("nothing to save");
  });

  it("names the folder in its marker where the command after could not know it", () => {
    const place = join(folder, "an other's place");
    for (const { stdout } of [
      run(["--dir", place, "--max-lines", "30", "--", "seq", "999"]),
      spawnSync(process.execPath, [CLI, "clamp", "--save", "--dir", "an other's place", "--max-lines", "30", "-q"], {
        input: Array.from({ length: 999 }, (_, index) => `${index + 1}\n`).join(""),
        cwd: folder,
        encoding: "utf8",
        env,
      }),
    ]) {
      const [, words = ""] = /Read it with: spillway (recall .*) --lines FROM-TO/.exec(stdout) ?? [];
      const back = spawnSync("sh", ["-c", `"$NODE" "$CLI" ${words} --lines 500-500 --raw`], {
        cwd: tmpdir(),
        encoding: "utf8",
        env: { ...env, NODE: process.execPath, CLI },
      });
      expect(back).toMatchObject({ stdout: "500\n", status: 0 });
    }
    expect(run(["--max-lines", "30", "--", "seq", "999"]).stdout).not.toContain("--dir");
  });

  it("passes Ctrl-C of a terminal on to the command", async () => {
    const script = "trap 'echo got it; exit 7' INT; echo up; while :; do sleep 0.05; done";
    // A session of its own with us in the foreground, as a terminal has it; the whole group gets the signal.
    const child = spawn(process.execPath, [CLI, "run", "-q", "--raw", "--", "sh", "-c", script], {
      env,
      detached: true,
      stdio: ["ignore", "pipe", "ignore"],
    });
    let text = "";
    child.stdout.on("data", (chunk: Buffer) => {
      if (text === "" && child.pid !== undefined) process.kill(-child.pid, "SIGINT");
      text += String(chunk);
    });
    expect(await new Promise((resolve) => child.once("exit", resolve))).toBe(7);
    expect(text).toBe("up\ngot it\n");
  });

  it("saves a long output whole, hashed and indexed, and reads it back", () => {
    const script = "seq 1 5000000; echo end >&2";
    const { text, receipt } = JSON.parse(run(["--json", "--no-redact", "--", "sh", "-c", script]).stdout);
    expect(text).toContain("end");
    const whole = spawnSync("sh", ["-c", `{ ${script}; } 2>&1`], { maxBuffer: 1e9 }).stdout;
    expect(receipt).toMatchObject({ saved: "yes", savedBytes: whole.length, total: { lines: 5_000_001 } });
    expect(receipt.sha256).toBe(createHash("sha256").update(whole).digest("hex"));
    const lines = spawnSync(
      process.execPath,
      [CLI, "recall", receipt.artifact, "--raw", "--lines", "4000000-4000001"],
      {
        encoding: "utf8",
        env,
      },
    );
    expect(lines.stdout).toBe("4000000\n4000001\n");
  });

  it("ends with one object for --json", () => {
    const { text, receipt, exitCode } = JSON.parse(
      run(["--json", "--session", "s1", "--", "sh", "-c", "echo x; exit 4"]).stdout,
    );
    expect({ text, exitCode }).toEqual({ text: "x\n[exit code 4]", exitCode: 4 });
    expect(receipt).toMatchObject({ tool: "run_command", session: "s1", exitCode: 4 });
  });

  it("marks lines of standard error where asked, and says that the order is approximate", () => {
    const { stdout, stderr } = run(["--mark-stderr", "--", "sh", "-c", "echo a; echo b >&2"]);
    expect(stdout.split("\n").toSorted()).toEqual(["", "a", "stderr: b"]);
    expect(stderr).toContain("approximate");
  });

  it.runIf(process.platform === "linux").each([
    ["| true", ""],
    ["| true", "--raw"],
    [">/dev/full", ""],
    [">/dev/full", "--json"],
    ["2>/dev/full", ""],
    ["2> >(true)", "--mark-stderr"],
    [">&- 2>&-", ""],
  ])("ends with the command's own code whoever reads it: %s %s", (where, flag) => {
    const command = `"${process.execPath}" "${CLI}" run ${flag} -- bash -c 'seq 1 10000; exit 6' ${where}`;
    const child = spawnSync("bash", ["-c", `${command}; exit \${PIPESTATUS[0]}`], {
      cwd: folder,
      env,
      timeout: 240_000,
    });
    expect(child.status).toBe(6);
  });

  it.runIf(process.platform === "linux")("says that nobody could be told", () => {
    const command = `"${process.execPath}" "${CLI}" run -q -- seq 9 >/dev/full`;
    const child = spawnSync("bash", ["-c", command], { cwd: folder, env, encoding: "utf8", timeout: 240_000 });
    expect(child.stderr).toMatch(/^spillway: cannot write standard output: ENOSPC[^\n]*\n$/);
  });

  it("runs and clamps though nothing can be saved", () => {
    writeFileSync(join(folder, "file"), "");
    const { stdout, stderr, status } = run(["--dir", join(folder, "file"), "--max-lines", "20", "--", "seq", "99"]);
    expect(status).toBe(0);
    expect(stdout).toContain("not saved");
    expect(stderr).toContain("nothing will be saved");
  });

  it("passes all of it on, and the exit code, if it is told to do so where nothing can be saved", () => {
    writeFileSync(join(folder, "file"), "");
    const flags = ["--quiet", "--pass-unsaved", "--max-lines", "20"];
    const script = ["--", "sh", "-c", "seq 99; exit 3"];
    const whole = Array.from({ length: 99 }, (_, index) => `${index + 1}\n`).join("");
    expect(run([...flags, "--dir", join(folder, "file"), ...script])).toMatchObject({
      stdout: whole,
      stderr: "",
      status: 3,
    });
    expect(run([...flags, ...script]).stdout).toContain("omitted");
  });

  it.runIf(process.platform === "linux")("does so in a folder that takes none, too", () => {
    const { stdout, stderr, status } = run(["--dir", "/proc/nope/deeper", "--max-lines", "20", "--", "seq", "99"]);
    expect(status).toBe(0);
    expect(stdout).toContain("not saved");
    expect(stderr).toContain("nothing will be saved");
  });
});
