import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readOptions } from "./options.mjs";
import { markdownTables, printTables } from "./table.mjs";

function machine() {
  const model = cpus()[0]?.model.trim() ?? "unknown processor";
  return `Node ${process.versions.node}, ${process.platform} ${process.arch}, ${availableParallelism()} cores of ${model}`;
}

/** Runs benches one after another and prints them. Slow is reported; only broken makes the exit code 1. */
export async function runBenches(benches) {
  let options;
  try {
    options = readOptions();
  } catch (error) {
    process.stderr.write(`bench: ${error.message}\n`);
    process.exit(2);
  }
  const workDir = mkdtempSync(join(tmpdir(), "spillway-bench-"));
  const clean = () => rmSync(workDir, { recursive: true, force: true });
  for (const [signal, code] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ]) {
    process.once(signal, () => {
      clean();
      process.exit(code);
    });
  }
  const started = performance.now();
  const progress = (text) =>
    process.stderr.write(`[${((performance.now() - started) / 1000).toFixed(0).padStart(3)} s] ${text}\n`);
  const load = loadavg()[0];
  if (load > availableParallelism() / 2) {
    progress(`the machine is busy (load ${load.toFixed(1)}): trust ratios, not seconds`);
  }
  const outcome = { machine: machine(), loadAtStart: load, tables: [], results: {}, faults: [] };
  for (const bench of benches) {
    try {
      const { tables, results, faults } = await bench(options, { workDir, progress });
      outcome.tables.push(...tables);
      outcome.results[bench.name] = results;
      outcome.faults.push(...faults);
    } catch (error) {
      outcome.faults.push(`${bench.name}: ${error.message}`);
    }
  }
  clean();
  await report(outcome, options);
  progress(`${outcome.faults.length} faults`);
  // Peers may leave timers behind: do not wait for them.
  process.exit(outcome.faults.length === 0 ? 0 : 1);
}

async function report(outcome, options) {
  const { tables, ...data } = outcome;
  const faults = outcome.faults.map((fault) => `BROKEN: ${fault}\n`).join("");
  const text = options.json
    ? `${JSON.stringify(data, null, 2)}\n`
    : `${data.machine}\n\n${printTables(tables)}${faults}`;
  await new Promise((written) => process.stdout.write(text, written));
  if (options.write !== undefined) {
    writeFileSync(options.write, `${data.machine}\n\n${markdownTables(tables)}`);
  }
}

/** For the last line of a bench's file: runs it when that file is what Node was started with. */
export async function runAlone(moduleUrl, bench) {
  if (process.argv[1] === fileURLToPath(moduleUrl)) {
    await runBenches([bench]);
  }
}
