import { spawnSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Loaded with --require, writes what a process used to the file BENCH_USAGE_FILE. */
export const PRELOAD = fileURLToPath(new URL("./usage-preload.cjs", import.meta.url));
const LONGEST_RUN_MS = 15 * 60_000;

/** A word as a POSIX shell reads it back unchanged. */
export function quote(word) {
  return `'${String(word).replaceAll("'", "'\\''")}'`;
}

/** The shell words for Node running `script`, measured by `runShell`. */
export function measuredNode(script, args) {
  return [process.execPath, "--require", PRELOAD, script, ...args].map(quote).join(" ");
}

/**
 * Runs one shell command line and says how long it took. CPU and memory are those of the Node process in it that
 * `measuredNode` built; without one, CPU is that of all the line's processes (as `times` tells) and memory is unknown.
 */
export function runShell(line, { workDir, env = {} }) {
  const usageFile = `${workDir}/usage.json`;
  rmSync(usageFile, { force: true });
  const started = performance.now();
  const child = spawnSync("sh", ["-c", `${line}\ncode=$?; times; exit $code`], {
    cwd: workDir,
    encoding: "utf8",
    env: { ...process.env, ...env, BENCH_USAGE_FILE: usageFile },
    timeout: LONGEST_RUN_MS,
  });
  const wallSeconds = (performance.now() - started) / 1000;
  if (child.status !== 0) {
    throw new Error(`exit ${child.status ?? child.signal} from: ${line}\n${child.stderr}`);
  }
  const usage = line.includes(PRELOAD) ? JSON.parse(readFileSync(usageFile, "utf8")) : timesOf(child.stdout);
  return { wallSeconds, ...usage };
}

/** `times` prints two lines of user and system time: the shell's own, then its children's. */
function timesOf(stdout) {
  const [userSeconds, systemSeconds] = stdout
    .trim()
    .split("\n")
    .at(-1)
    .split(" ")
    .map((time) => {
      const [minutes, seconds] = time.replace("s", "").split("m");
      return Number(minutes) * 60 + Number(seconds);
    });
  return { userSeconds, systemSeconds, peakRssMb: null };
}
