// Streams through the command line: time, CPU and memory, beside what the system's own tools need for the same bytes.
import { readFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { faultsOfReceipt, faultsOfText } from "./check.mjs";
import { runAlone } from "./entry.mjs";
import { writeInput } from "./inputs.mjs";
import { median } from "./median.mjs";
import { LIMITS } from "./options.mjs";
import { hasPeer } from "./peers.mjs";
import { measuredNode, quote, runShell } from "./run-shell.mjs";

const PI_BASH = fileURLToPath(new URL("./pi-bash.mjs", import.meta.url));
const TARGET = { peakRssMb: 110, userSeconds: 0.8, foldUserSeconds: 5 };

/** Which text goes through what. */
const PLAN = [
  ["log", ["cat | cat", "wc -l", "clamp | pipe", "clamp | file", "fold | pipe", "pi bash"]],
  ["one line", ["clamp | pipe", "clamp | file", "fold | pipe"]],
  ["dense", ["clamp | pipe", "fold | pipe"]],
  ["cjk", ["clamp | pipe", "fold | pipe"]],
  ["coloured", ["clamp | pipe", "fold | pipe"]],
];

/** The texts that a smoke run, too, measures at full size. */
const MAIN = new Set(["log", "one line"]);

const DESCRIPTIONS = {
  "cat | cat": "cat file | cat > /dev/null",
  "wc -l": "wc -l < file",
  "clamp | pipe": "cat file | spillway clamp --no-fold",
  "clamp | file": "spillway clamp file --no-fold",
  "fold | pipe": "cat file | spillway clamp --fold",
  "pi bash": "pi createBashTool: cat file (it saves the output too)",
};

function lineFor(name, input, options, workDir) {
  const file = quote(input.path);
  const shown = quote(`${workDir}/shown`);
  const flags = ["--strategy", "head-tail", "--max-bytes", LIMITS.maxBytes, "--max-lines", LIMITS.maxLines, "--json"];
  const clamp = (...more) => measuredNode(options.cli, ["clamp", ...flags, ...more]);
  switch (name) {
    case "cat | cat":
      return `cat ${file} | cat > /dev/null`;
    case "wc -l":
      return `wc -l < ${file} > ${shown}`;
    case "clamp | pipe":
      return `cat ${file} | ${clamp("--no-fold")} > ${shown}`;
    case "clamp | file":
      return `${clamp("--no-fold", input.path)} > ${shown}`;
    case "fold | pipe":
      return `cat ${file} | ${clamp("--fold")} > ${shown}`;
    case "pi bash":
      return `${measuredNode(PI_BASH, [input.path])} > ${shown}`;
  }
}

/** What is wrong with the last measured run of a clamp. */
function faultsOf(name, input, options, workDir) {
  const { text, receipt } = JSON.parse(readFileSync(`${workDir}/shown`, "utf8"));
  const faults = [...faultsOfText(text), ...faultsOfReceipt(receipt, input)];
  if (input.kind === "coloured" && name === "fold | pipe" && text.includes("\x1b")) {
    faults.push("left terminal codes in");
  }
  if (input.kind === "log" && name === "clamp | file") {
    runShell(lineFor(name, input, options, workDir).replace("'--json'", "'--quiet'"), { workDir });
    // Printed, a last line of ours is ended.
    if (readFileSync(`${workDir}/shown`, "utf8") !== `${text}\n`) {
      faults.push("prints another text without --json");
    }
  }
  return faults.map((fault) => `${DESCRIPTIONS[name]}, ${input.kind}: ${fault}`);
}

function measure(name, input, options, workDir) {
  const plain = lineFor("cat | cat", input, options, workDir);
  const line = lineFor(name, input, options, workDir);
  const headline = input.kind === "log" && name.startsWith("clamp");
  const pairs = name === "pi bash" ? 1 : options.smoke ? (headline ? 3 : 1) : headline ? 7 : 3;
  const runs = Array.from({ length: pairs }, () => ({
    plain: runShell(plain, { workDir }),
    ours: runShell(line, { workDir, env: { TMPDIR: workDir } }),
  }));
  const of = (key) => median(runs.map((run) => run.ours[key]));
  return {
    input: input.kind,
    name,
    pairs,
    megabytes: input.bytes / 1e6,
    wallSeconds: of("wallSeconds"),
    userSeconds: of("userSeconds"),
    systemSeconds: of("systemSeconds"),
    peakRssMb: runs[0].ours.peakRssMb === null ? null : Math.max(...runs.map((run) => run.ours.peakRssMb)),
    speedBesidePipe: median(runs.map((run) => run.plain.wallSeconds / run.ours.wallSeconds)),
    plainWallSeconds: median(runs.map((run) => run.plain.wallSeconds)),
  };
}

function tableOf(results, options) {
  const whole = options.megabytes >= 1000 && !options.smoke;
  const verdict = (value, limit, unit) => `${value <= limit ? "" : "MISSED: "}<= ${limit} ${unit}`;
  const rows = results.map((result) => {
    const ours = result.name.startsWith("clamp") || result.name.startsWith("fold");
    const limit = result.name.startsWith("fold") ? TARGET.foldUserSeconds : TARGET.userSeconds;
    const targets = [
      ...(ours && whole ? [verdict(result.userSeconds, limit, "s user")] : []),
      ...(ours ? [verdict(result.peakRssMb, TARGET.peakRssMb, "MB")] : []),
    ];
    return [
      result.input,
      result.megabytes.toFixed(0),
      DESCRIPTIONS[result.name],
      result.wallSeconds.toFixed(2),
      result.userSeconds.toFixed(2),
      result.systemSeconds.toFixed(2),
      result.peakRssMb === null ? "-" : result.peakRssMb.toFixed(0),
      (result.megabytes / result.wallSeconds).toFixed(0),
      result.speedBesidePipe.toFixed(2),
      targets.join(", "),
    ];
  });
  return {
    title: `Streams of up to ${options.megabytes} MB`,
    columns: [
      "text",
      "MB",
      "command",
      "wall s",
      "user s",
      "system s",
      "peak RSS MB",
      "MB/s",
      "beside cat|cat",
      "must reach",
    ],
    rows,
    notes: [
      "CPU and memory: of the measured process alone, start-up included.",
      "beside cat|cat: wall clock of `cat file | cat > /dev/null` / wall clock of the command; 1 is as fast, 0.5 half as fast.",
      `Each value is a median of pairs run in turn: ${options.smoke ? "3 for log clamps, else 1" : "7 for log clamps, else 3"} (pi: 1); peak RSS is the largest.`,
      ...(whole ? [] : ["CPU targets are for 1 GB and not judged at this size."]),
    ],
  };
}

/** Measures every stream of the plan. */
export async function benchStream(options, { workDir, progress }) {
  const results = [];
  const faults = [];
  const wanted = options.text.length === 0 ? PLAN : PLAN.filter(([kind]) => options.text.includes(kind));
  for (const [kind, names] of wanted) {
    const megabytes = options.smoke && !MAIN.has(kind) ? Math.ceil(options.megabytes / 5) : options.megabytes;
    progress(`writing ${megabytes} MB of ${kind}`);
    const input = await writeInput(kind, megabytes * 1e6, `${workDir}/input`);
    for (const name of names) {
      if (name === "pi bash" && !hasPeer("pi")) {
        continue;
      }
      progress(`${kind}: ${DESCRIPTIONS[name]}`);
      results.push(measure(name, input, options, workDir));
      if (name.startsWith("clamp") || name.startsWith("fold")) {
        faults.push(...faultsOf(name, input, options, workDir));
      }
    }
    rmSync(input.path);
  }
  return { tables: [tableOf(results, options)], results, faults };
}

await runAlone(import.meta.url, benchStream);
