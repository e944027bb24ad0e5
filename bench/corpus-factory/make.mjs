// Makes cases with known truth: real tools run on a project of many parts, once as it should be and once with one fault in
// it; and real JSON answers with a question. What names the fault is known because it was put there, and counts only if the
// run without the fault does not have it. `node bench/corpus-factory/make.mjs [--tool NAME ...]`
//   SPILLWAY_FACTORY says where the cases go (by default a folder of the temporary folder): sets `tools` and
//   `json-questions`, in the form of the corpus. A tool that is not installed is left out and said.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { factoryFolder } from "../corpus.mjs";
import { jsonCases } from "./json-questions.mjs";
import { tools } from "./tools.mjs";

const { values: options } = parseArgs({
  options: { tool: { type: "string", multiple: true }, seeds: { type: "string", default: "4" } },
});

/** The same numbers for the same seed. */
function seeded(seed) {
  let state = seed * 7919 + 17;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function writeFiles(folder, files) {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

/** Runs a tool on files: what it printed, on both channels in the order it came. */
function run(command, files) {
  const folder = mkdtempSync(join(tmpdir(), "factory-"));
  try {
    writeFiles(folder, files);
    const { stdout, status } = spawnSync("sh", ["-c", `(${command}) 2>&1`], {
      cwd: folder,
      encoding: "buffer",
      maxBuffer: 1 << 28,
      timeout: 240_000,
      env: { ...process.env, CI: "1", NO_COLOR: "1", FORCE_COLOR: "0" },
    });
    return {
      output: Buffer.from(stdout.toString("latin1").replaceAll(folder, "/builds/project"), "latin1"),
      exitCode: status ?? 1,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function keep(set, { id, output, ...about }, lines) {
  const file = `logs/${id}.gz`;
  mkdirSync(join(factoryFolder, set, "logs"), { recursive: true });
  writeFileSync(join(factoryFolder, set, file), gzipSync(output));
  lines.push(JSON.stringify({ id, file, bytes: output.length, match: "substring", ...about }));
}

const lines = [];
for (const tool of tools) {
  if (options.tool !== undefined && !options.tool.includes(tool.name)) continue;
  if (spawnSync("sh", ["-c", `${tool.probe} >/dev/null 2>&1`]).status !== 0) {
    console.error(`${tool.name}: not installed, left out`);
    continue;
  }
  let made = 0;
  for (let seed = 0; seed < Number(options.seeds); seed++) {
    for (const fault of tool.faults) {
      const good = run(tool.command, tool.project(seeded(seed), null).files);
      const project = tool.project(seeded(seed), fault);
      const bad = run(tool.command, project.files);
      const text = bad.output.toString();
      const truth = project.truth.filter((one) => text.includes(one) && !good.output.includes(one));
      if (truth.length === 0) {
        console.error(`${tool.name}, ${fault}: the output does not name the fault\n${text.slice(-600)}`);
        continue;
      }
      const id = `${tool.name}-${fault}-${seed}`;
      keep(
        "tools",
        {
          id,
          group: tool.name,
          output: bad.output,
          truth,
          exitCode: bad.exitCode,
          tool: "run_command",
          command: tool.shown ?? tool.command,
        },
        lines,
      );
      made++;
    }
  }
  console.error(`${tool.name}: ${made} cases`);
}
if (lines.length > 0) writeFileSync(join(factoryFolder, "tools", "cases.jsonl"), `${lines.join("\n")}\n`);

if (options.tool === undefined || options.tool.includes("json")) {
  const asked = [];
  for (const one of await jsonCases(seeded)) keep("json-questions", one, asked);
  if (asked.length > 0) writeFileSync(join(factoryFolder, "json-questions", "cases.jsonl"), `${asked.join("\n")}\n`);
  console.error(`json-questions: ${asked.length} cases`);
}
if (!existsSync(factoryFolder)) process.exit(2);
