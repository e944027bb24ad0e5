// What a short call of the command line costs over starting Node itself.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { runAlone } from "./entry.mjs";
import { median } from "./median.mjs";
import { PRELOAD } from "./run-shell.mjs";

const TARGET_MS = 40;
const TEXT = "one\ntwo\nthree\n";
const CONFIG = "default:\n  max_lines: 1500\ntools:\n  run_command:\n    max_lines: 150\n";

function time({ args, cwd, expected, isFirst }, workDir) {
  const usageFile = `${workDir}/usage.json`;
  const home = `${workDir}/home`;
  const started = performance.now();
  const child = spawnSync(process.execPath, ["--require", PRELOAD, ...args], {
    cwd,
    input: TEXT,
    encoding: "utf8",
    // A home of its own: the user's config is not what is measured.
    env: {
      ...process.env,
      HOME: home,
      USERPROFILE: home,
      XDG_CONFIG_HOME: `${home}/.config`,
      XDG_CACHE_HOME: isFirst ? mkdtempSync(`${workDir}/first-`) : `${home}/.cache`,
      BENCH_USAGE_FILE: usageFile,
    },
  });
  const wallMs = performance.now() - started;
  if (child.status !== 0 || child.stdout !== expected || child.stderr !== "") {
    throw new Error(`node ${args.join(" ")}: exit ${child.status}, stdout "${child.stdout}"\n${child.stderr}`);
  }
  const { userSeconds, systemSeconds } = JSON.parse(readFileSync(usageFile, "utf8"));
  return { wallMs, cpuMs: (userSeconds + systemSeconds) * 1000 };
}

function callsOf(options, workDir) {
  const plain = `${workDir}/plain`;
  const configured = `${workDir}/configured`;
  for (const folder of [`${workDir}/home`, plain, configured]) {
    mkdirSync(folder);
  }
  writeFileSync(`${configured}/spillway.yaml`, CONFIG);
  const clamp = { args: [options.cli, "clamp", "--quiet"], expected: TEXT };
  const importIndex = `await import(${JSON.stringify(pathToFileURL(options.index).href)})`;
  return [
    { label: "node -e 0", args: ["-e", "0"], cwd: plain, expected: "" },
    { label: "spillway clamp", ...clamp, cwd: plain, judged: true },
    { label: "spillway clamp, for the first time", ...clamp, cwd: plain, isFirst: true },
    { label: "spillway clamp, with a spillway.yaml", ...clamp, cwd: configured },
    { label: 'import "spillway"', args: ["--input-type=module", "-e", importIndex], cwd: plain, expected: "" },
  ];
}

/** Measures start-up in turn with a bare Node. */
export async function benchStartUp(options, { workDir, progress }) {
  const calls = callsOf(options, workDir);
  const samples = calls.map(() => []);
  const rounds = options.smoke ? 7 : 21;
  progress(`start-up, ${rounds} rounds`);
  for (let round = 0; round < rounds; round++) {
    calls.forEach((call, i) => samples[i].push(time(call, workDir)));
  }
  const results = calls.map(({ label }, i) => {
    const of = (key) => median(samples[i].map((sample) => sample[key]));
    const over = (key) => median(samples[i].map((sample, round) => sample[key] - samples[0][round][key]));
    return { label, wallMs: of("wallMs"), overWallMs: over("wallMs"), cpuMs: of("cpuMs"), overCpuMs: over("cpuMs") };
  });
  const rows = results.map(({ label, wallMs, overWallMs, cpuMs, overCpuMs }, i) => {
    const verdict = `${overWallMs <= TARGET_MS ? "" : "MISSED: "}<= ${TARGET_MS} ms over node`;
    const over = (ms) => (i === 0 ? "" : ms.toFixed(1));
    return [
      label,
      wallMs.toFixed(1),
      over(overWallMs),
      cpuMs.toFixed(1),
      over(overCpuMs),
      calls[i].judged ? verdict : "",
    ];
  });
  const table = {
    title: `Start-up (medians of ${rounds}, run in turn)`,
    columns: ["command", "wall ms", "over node", "CPU ms", "over node", "must reach"],
    rows,
  };
  return { tables: [table], results, faults: [] };
}

await runAlone(import.meta.url, benchStartUp);
