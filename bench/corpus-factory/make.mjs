// Makes cases with known truth: real tools run on a generated project, once as it should be and once with faults in it; logs
// of kinds that no tool here writes; and real JSON answers with a question. What names a fault is known because it was put
// there, and counts only if the run without the fault does not have it.
//   node bench/corpus-factory/make.mjs [--tool NAME ...] [--seeds N] [--again]
//   SPILLWAY_FACTORY says where the cases go (by default a folder of the temporary folder), in the form of the corpus: sets
//   `tools`, `made-logs` and `json-questions`. What was made before stays; --again makes it anew. A tool that is not installed is left
//   out and said.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { factoryFolder } from "../corpus.mjs";
import { buildTools } from "./builds.mjs";
import { DRESS_COUNT, dress } from "./dress.mjs";
import { jsonCases } from "./json-questions.mjs";
import { madeLogs } from "./made-logs.mjs";
import { variantOf } from "./plan.mjs";
import { runTools } from "./runs.mjs";
import { testTools } from "./tests.mjs";

const { values: options } = parseArgs({
  options: {
    tool: { type: "string", multiple: true },
    seeds: { type: "string", default: "3" },
    again: { type: "boolean", default: false },
  },
});
const AT_ONCE = 2;
const TIMEOUT_MS = 240_000;

/** The same numbers for the same seed. */
function seeded(seed) {
  let state = seed * 7919 + 17;
  const pick = (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  return Object.assign(pick, { variant: variantOf(seed) });
}

function writeFiles(folder, files) {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

/** Runs a tool on files: what it printed, on both channels in the order it came. */
async function run(command, files) {
  const folder = mkdtempSync(join(tmpdir(), "factory-"));
  try {
    writeFiles(folder, files);
    const child = spawn("bash", ["-c", `(${command}) 2>&1`], {
      cwd: folder,
      stdio: ["ignore", "pipe", "ignore"],
      timeout: TIMEOUT_MS,
      env: { ...process.env, CI: "1", NO_COLOR: "1", FORCE_COLOR: "0", NODE_TEST_CONTEXT: undefined },
    });
    const chunks = [];
    child.stdout.on("data", (chunk) => chunks.push(chunk));
    const status = await new Promise((done) => child.on("close", done));
    const text = Buffer.concat(chunks).toString("latin1").replaceAll(folder, "/builds/project");
    return { output: Buffer.from(text, "latin1"), exitCode: status ?? 1 };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function keep(set, { id, output, ...about }) {
  const file = `logs/${id}.gz`;
  mkdirSync(join(factoryFolder, set, "logs"), { recursive: true });
  writeFileSync(join(factoryFolder, set, file), gzipSync(output));
  return JSON.stringify({ id, file, bytes: output.length, match: "substring", ...about });
}

/** Of each thing that must be told the first form that only the run with the fault has. */
function toldIn(bad, good, truth) {
  const found = truth.map((forms) =>
    forms.map((form) => form.split("\n")[0]).find((form) => bad.includes(form) && !good.includes(form)),
  );
  return [...new Set(found.filter((form) => form !== undefined))];
}

/** All cases of one tool and seed, each with another dress. */
async function toolCases(tool, seed) {
  const lines = [];
  const { isQuiet } = variantOf(seed);
  const said = (isQuiet && tool.quietly) || tool.command;
  const good = await run(said, tool.project(seeded(seed), null).files);
  for (const [number, fault] of tool.faults.entries()) {
    const project = tool.project(seeded(seed), fault);
    const bad = await run(said, project.files);
    const truth = toldIn(bad.output, good.output, project.truth);
    if (truth.length === 0) {
      console.error(`${tool.name}, ${fault}: the output does not name the fault\n${bad.output.toString().slice(-600)}`);
      continue;
    }
    const command = tool.shown ?? said;
    const which = (seed * tool.faults.length + number + tool.name.length) % DRESS_COUNT;
    const output = dress(bad.output, { which, command, seed, failed: bad.exitCode !== 0 });
    const id = `${tool.name}-${fault}-${seed}`;
    const about = { exitCode: bad.exitCode, tool: "run_command", command };
    lines.push(keep("tools", { id, group: tool.name, output, truth, ...about }));
  }
  return lines;
}

const parts = join(factoryFolder, "tools", "parts");
mkdirSync(parts, { recursive: true });
const all = [...testTools, ...buildTools, ...runTools].filter(
  ({ name }) => options.tool === undefined || options.tool.includes(name),
);
const installed = all.filter(({ name, probe }) => {
  const isThere = spawnSync("bash", ["-c", `(${probe}) >/dev/null 2>&1`]).status === 0;
  if (!isThere) console.error(`${name}: not installed, left out`);
  return isThere;
});
const waiting = Array.from({ length: Number(options.seeds) }, (_, seed) => installed.map((tool) => ({ tool, seed })))
  .flat()
  .map((one) => ({ ...one, file: join(parts, `${one.tool.name}-${one.seed}.jsonl`) }))
  .filter(({ file }) => options.again || !existsSync(file));
async function work() {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const lines = await toolCases(next.tool, next.seed);
    writeFileSync(next.file, lines.map((line) => `${line}\n`).join(""));
    console.error(`${next.tool.name}, seed ${next.seed}: ${lines.length} cases`);
  }
}
await Promise.all(Array.from({ length: AT_ONCE }, work));
const made = readdirSync(parts).sort();
writeFileSync(
  join(factoryFolder, "tools", "cases.jsonl"),
  made.map((name) => readFileSync(join(parts, name), "utf8")).join(""),
);

const others = { "made-logs": () => madeLogs(seeded), "json-questions": () => jsonCases(seeded) };
for (const [set, make] of Object.entries(others)) {
  const wanted =
    options.tool === undefined ? options.again || !existsSync(join(factoryFolder, set)) : options.tool.includes(set);
  if (!wanted) continue;
  const lines = (await make()).map((one) => keep(set, one));
  if (lines.length > 0) writeFileSync(join(factoryFolder, set, "cases.jsonl"), `${lines.join("\n")}\n`);
  console.error(`${set}: ${lines.length} cases`);
}
