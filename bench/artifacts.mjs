// Keeping whole outputs: `spillway run` beside `cat | tee copy | sha256sum; sync copy`, which does the same work, and other
// agents' runners, and what reading back costs.
import { createHash } from "node:crypto";
import { createReadStream, readFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { faultsOfReceipt, faultsOfText } from "./check.mjs";
import { runAlone } from "./entry.mjs";
import { writeInput } from "./inputs.mjs";
import { median } from "./median.mjs";
import { LIMITS } from "./options.mjs";
import { hasPeer } from "./peers.mjs";
import { measuredNode, quote, runShell } from "./run-shell.mjs";

const script = (name) => fileURLToPath(new URL(name, import.meta.url));
const SEARCHED_BYTES = 100e6;
const TARGET = { peakRssMb: 130, linesMs: 30, besideRg: 3, ledgerMs: 0.3 };

const RUNS = [
  { name: "spillway run --no-redact --no-fold", flags: ["--no-redact", "--no-fold"], atLeast: 1 },
  { name: "spillway run --no-redact", flags: ["--no-redact"] },
  { name: "spillway run", flags: [], atLeast: 0.5 },
  { name: "pi createBashTool (saves to a file, no hash)", peer: "pi", script: "./pi-bash.mjs" },
  { name: "cline createShellExecutor (saves nothing)", peer: "cline", script: "./cline-bash.mjs" },
];

async function sha256Of(file) {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(file, { highWaterMark: 1024 * 1024 })) hash.update(chunk);
  return hash.digest("hex");
}

function measureRun(run, input, options, workDir) {
  const [file, out, shown, dir] = [input.path, `${workDir}/copy`, `${workDir}/shown`, `${workDir}/kept`];
  const limits = ["--max-bytes", LIMITS.maxBytes, "--max-lines", LIMITS.maxLines];
  const line =
    run.peer === undefined
      ? measuredNode(options.cli, ["run", "--json", "--dir", dir, ...limits, ...run.flags, "--", "cat", file])
      : measuredNode(script(run.script), [file]);
  const pairs = run.peer === undefined ? (options.smoke ? 1 : 5) : 1;
  const runs = Array.from({ length: pairs }, () => {
    const same = runShell(`cat ${quote(file)} | tee ${quote(out)} | sha256sum; sync ${quote(out)}`, { workDir });
    rmSync(out);
    rmSync(dir, { recursive: true, force: true });
    const ours = runShell(`${line} > ${quote(shown)}`, { workDir, env: { TMPDIR: workDir } });
    return { same, ours };
  });
  const of = (key) => median(runs.map(({ ours }) => ours[key]));
  return {
    name: run.name,
    megabytes: input.bytes / 1e6,
    wallSeconds: of("wallSeconds"),
    cpuSeconds: of("userSeconds") + of("systemSeconds"),
    peakRssMb: Math.max(...runs.map(({ ours }) => ours.peakRssMb)),
    besideTee: median(runs.map(({ same, ours }) => same.wallSeconds / ours.wallSeconds)),
    atLeast: run.atLeast,
  };
}

/** What is wrong with the last run: all has to be saved, and the hash has to be the input's. */
function faultsOfRun(name, input, sha256, workDir) {
  const { text, receipt } = JSON.parse(readFileSync(`${workDir}/shown`, "utf8"));
  const faults = [...faultsOfText(text), ...faultsOfReceipt(receipt, input)];
  if (receipt.saved !== "yes" || receipt.savedBytes !== input.bytes) faults.push(`saved ${receipt.savedBytes} bytes`);
  if (receipt.sha256 !== sha256) faults.push("the hash is not the input's");
  return faults.map((fault) => `${name}: ${fault}`);
}

function runTable(results, options) {
  const whole = options.megabytes >= 1000 && !options.smoke;
  const rows = results.map((result) => {
    const { besideTee, peakRssMb, atLeast } = result;
    const isOwn = result.name.startsWith("spillway");
    const targets = [
      ...(atLeast === undefined || !whole ? [] : [`${besideTee >= atLeast ? "" : "MISSED: "}>= ${atLeast} beside tee`]),
      ...(isOwn ? [`${peakRssMb <= TARGET.peakRssMb ? "" : "MISSED: "}<= ${TARGET.peakRssMb} MB`] : []),
    ];
    return [
      result.name,
      result.wallSeconds.toFixed(2),
      result.cpuSeconds.toFixed(2),
      peakRssMb.toFixed(0),
      besideTee.toFixed(2),
      targets.join(", "),
    ];
  });
  return {
    title: `A command that writes ${options.megabytes} MB, all of it saved`,
    columns: ["command", "wall s", "CPU s", "peak RSS MB", "beside tee and sha256sum", "must reach"],
    rows,
    notes: [
      "beside tee and sha256sum: wall clock of `cat file | tee copy | sha256sum; sync copy` / wall clock of the command. Both save, hash and flush.",
      "CPU and memory: of the measured process alone, threads and start-up included.",
      `Medians of ${options.smoke ? "1 pair" : "5 pairs"} run in turn (peers: 1).`,
      ...(whole ? [] : ["Speed is judged at 1 GB only: at this size starting is most of it."]),
    ],
  };
}

function keptTable(kept, options) {
  const judged = (value, limit, unit) => `${value <= limit ? "" : "MISSED: "}< ${limit} ${unit}`;
  const { linesMs, plain, ledgerMsEach, times, outputs } = kept;
  return {
    title: "Reading back, through the library",
    columns: ["call", "ms", "beside rg", "must reach"],
    rows: [
      [
        `recall of 51 lines in the middle of ${options.megabytes} MB`,
        linesMs.toFixed(2),
        "-",
        judged(linesMs, TARGET.linesMs, "ms"),
      ],
      [
        "search of 100 MB, plain",
        plain.oursMs.toFixed(0),
        plain.ratio.toFixed(2),
        judged(plain.ratio, TARGET.besideRg, "times rg"),
      ],
      [
        `the ledger, for each of ${outputs} small outputs`,
        ledgerMsEach.toFixed(3),
        "-",
        judged(ledgerMsEach, TARGET.ledgerMs, "ms"),
      ],
    ],
    notes: [`Medians of ${times}. rg: \`rg --count\` on the same bytes in a plain file, in turn with ours.`],
  };
}

/** Measures what is kept, and reading it back. */
export async function benchArtifacts(options, { workDir, progress }) {
  progress(`writing ${options.megabytes} MB of log`);
  const input = await writeInput("log", options.megabytes * 1e6, `${workDir}/input`);
  const sha256 = await sha256Of(input.path);
  const results = [];
  const faults = [];
  for (const run of RUNS) {
    if (run.peer !== undefined && !hasPeer(run.peer)) continue;
    progress(run.name);
    results.push(measureRun(run, input, options, workDir));
    if (run.peer === undefined) faults.push(...faultsOfRun(run.name, input, sha256, workDir));
  }
  rmSync(`${workDir}/kept`, { recursive: true, force: true });
  progress("reading back");
  const small = await writeInput("log", SEARCHED_BYTES, `${workDir}/small`);
  const shown = `${workDir}/kept.json`;
  const words = [options.index, `${workDir}/read`, input.path, small.path, options.smoke ? "smoke" : "full"];
  runShell(`${[process.execPath, script("./kept.mjs"), ...words].map(quote).join(" ")} > ${quote(shown)}`, { workDir });
  const kept = JSON.parse(readFileSync(shown, "utf8"));
  faults.push(...kept.faults);
  for (const path of ["input", "small", "read"]) rmSync(`${workDir}/${path}`, { recursive: true, force: true });
  return { tables: [runTable(results, options), keptTable(kept, options)], results: { runs: results, kept }, faults };
}

await runAlone(import.meta.url, benchArtifacts);
