import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";

const CLI = new URL("../dist/cli.cjs", import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), "spillway-cli-signals-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const env = { PATH: process.env["PATH"], HOME: folder, SPILLWAY_DIR: join(folder, "place"), TMPDIR: folder };

let started: ChildProcess | null = null;
afterEach(() => {
  try {
    if (started?.pid !== undefined) process.kill(-started.pid, "SIGKILL");
  } catch {
    // All of its processes have ended, as they should.
  }
});

/** Starts `spillway run` in a group of its own, and waits until the command has said that it is up. */
async function start(script: string, flags: string[] = ["-q", "--raw"]) {
  const child = spawn(process.execPath, [CLI, "run", ...flags, "--", "sh", "-c", script], {
    env,
    detached: true,
    stdio: ["pipe", "pipe", "ignore"],
  });
  started = child;
  const [said] = await once(child.stdout, "data");
  return {
    group: child.pid ?? 0,
    pid: Number.parseInt(String(said), 10),
    exited: once(child, "exit"),
  };
}

/** Gives the letters of `ps`: T for stopped, Z for ended and not yet taken notice of, none for gone. */
const stateOf = (pid: number) =>
  spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" }).stdout.trim();
const isRunning = (pid: number) => /^[^Z]/.test(stateOf(pid));

/** Waits until a process is stopped: a signal takes effect only when its process has its turn. */
async function stopOf(pid: number): Promise<void> {
  while (!stateOf(pid).startsWith("T")) await new Promise(setImmediate);
}

/** Waits until a process has ended. If it never does, the test fails by its time. */
async function endOf(pid: number): Promise<void> {
  while (isRunning(pid)) await new Promise(setImmediate);
}

describe.skipIf(process.platform === "win32")("a signal to spillway run", () => {
  it.each([
    ["SIGKILL to its group", "SIGKILL", true],
    ["SIGKILL to it alone", "SIGKILL", false],
    ["SIGSEGV to it alone", "SIGSEGV", false],
  ] as const)("%s ends the command", async (_, signal, isToGroup) => {
    const { group, pid } = await start("echo $$; exec sleep 300");
    process.kill(isToGroup ? -group : group, signal);
    await endOf(pid);
  });

  it("SIGKILL ends a command that does not end when it is asked", async () => {
    const { group, pid } = await start("trap '' TERM HUP; echo $$; while :; do sleep 1; done");
    process.kill(-group, "SIGKILL");
    await endOf(pid);
  });

  it.each(["SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGINT", "SIGTERM", "SIGHUP"] as const)(
    "%s is passed on, and the exit code says it as a shell does",
    async (signal) => {
      const { group, pid, exited } = await start("echo $$; exec sleep 300");
      process.kill(group, signal);
      expect(await exited).toEqual([128 + constants.signals[signal], null]);
      expect(isRunning(pid)).toBe(false);
    },
  );

  it("a command that handles a signal goes on", async () => {
    const { group, exited } = await start(
      "trap 'n=1' USR1; trap 'exit $((n + 7))' USR2; echo $$; while :; do sleep 0.02; done",
    );
    process.kill(group, "SIGUSR1");
    process.kill(group, "SIGUSR2");
    const [code] = await exited;
    // A shell may take the second before the first.
    expect([7, 8]).toContain(code);
  });

  it("SIGTSTP stops the command too, and SIGCONT lets it go on", async () => {
    const { group, pid, exited } = await start("echo $$; read line; exit 5");
    process.kill(group, "SIGTSTP");
    for (const each of [group, pid]) await stopOf(each);
    process.kill(group, "SIGCONT");
    started?.stdin?.end("go\n");
    expect(await exited).toEqual([5, null]);
  });

  it("leaves no folder of its own, and sweeps the old ones that killed runs left", () => {
    const left = () => readdirSync(folder).filter((name) => name.startsWith("spillway-run-"));
    for (const name of ["spillway-run-old", "spillway-run-new"]) {
      mkdirSync(join(folder, name));
      writeFileSync(join(folder, name, "pipe"), "");
    }
    utimesSync(join(folder, "spillway-run-old"), 1_000_000, 1_000_000);
    const fresh = { ...env, SPILLWAY_DIR: join(folder, "fresh") };
    const done = spawnSync(process.execPath, [CLI, "run", "-q", "--", "echo", "hi"], { env: fresh, encoding: "utf8" });
    expect(done.stdout).toBe("hi\n");
    expect(left()).toEqual(["spillway-run-new"]);
  });
});

describe.runIf(process.platform === "linux")("with no more files to be opened", () => {
  it.each([18, 20, 21, 22, 23, 24, 25, 26, 28, 32])("%d: run ends with a code, never with a crash", (files) => {
    const command = `ulimit -n ${files}; exec "$NODE" "$CLI" run -q --max-lines 20 -- seq 9999`;
    const child = spawnSync("sh", ["-c", command], { env: { ...env, NODE: process.execPath, CLI }, encoding: "utf8" });
    expect(child.signal).toBeNull();
    expect(child.stderr).not.toMatch(/TypeError|Unhandled|^ +at /m);
    // Either all of it came and was told, or it says that the command could not be run.
    if (child.status === 0) expect(child.stdout).toContain("9999");
    else expect(child.stderr + child.stdout).toMatch(/EMFILE|too many open files/i);
  });
});
