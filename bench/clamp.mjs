// Whole texts through the library and through its peers, with the same limits, in turn, in one process.
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { faultsOfText } from "./check.mjs";
import { memoryTable, ratioTable, timeTable } from "./clamp-tables.mjs";
import { contestants } from "./contestants.mjs";
import { runAlone } from "./entry.mjs";
import { writeInput } from "./inputs.mjs";
import { median } from "./median.mjs";
import { LIMITS } from "./options.mjs";

const CLAMP_ONCE = fileURLToPath(new URL("./clamp-once.mjs", import.meta.url));
const SMALL = { maxBytes: 2048, maxLines: 40 };
const CASES = [
  { label: "10 KB", kind: "log", bytes: 10e3, limits: LIMITS, target: 1 },
  { label: "10 KB cut to 2 KB", kind: "log", bytes: 10e3, limits: SMALL, target: 1 },
  { label: "100 KB", kind: "log", bytes: 100e3, limits: LIMITS },
  { label: "1 MB", kind: "log", bytes: 1e6, limits: LIMITS },
  { label: "1 MB CJK", kind: "cjk", bytes: 1e6, limits: LIMITS },
  { label: "100 MB", kind: "log", bytes: 100e6, limits: LIMITS, target: 3 },
];
const BATCH_MS = 10;
const WARM_UP_MS = 100;
const notes = [
  `Limits: ${LIMITS.maxLines} lines and ${LIMITS.maxBytes} bytes (slicers: as many characters); 10 KB is within them and passes whole.`,
  `"Cut to 2 KB": ${SMALL.maxLines} lines and ${SMALL.maxBytes} bytes.`,
  "Slicers do not look at what they drop, so they cannot say how many lines that was.",
];

async function milliseconds(call, text, limits, times) {
  const started = performance.now();
  for (let i = 0; i < times; i++) {
    const result = call(text, limits);
    if (result instanceof Promise) {
      await result;
    }
  }
  return (performance.now() - started) / times;
}

/** Enough calls for one batch to be measurable; the calls made to find out warm the code up. */
async function callsPerBatch(call, text, limits) {
  let calls = 1;
  let spentMs = 0;
  let eachMs = 0;
  while (spentMs < WARM_UP_MS) {
    eachMs = await milliseconds(call, text, limits, calls);
    spentMs += eachMs * calls;
    calls = Math.min(2 * calls, 5000);
  }
  return Math.max(1, Math.min(5000, Math.ceil(BATCH_MS / eachMs)));
}

async function measureCase(running, text, limits, rounds) {
  const batches = new Map();
  for (const { id, call } of running) {
    batches.set(id, { times: await callsPerBatch(call, text, limits), samples: [] });
  }
  for (let round = 0; round < rounds; round++) {
    for (let i = 0; i < running.length; i++) {
      const { id, call } = running[(i + round) % running.length];
      const batch = batches.get(id);
      batch.samples.push(await milliseconds(call, text, limits, batch.times));
    }
  }
  return batches;
}

function faultsOfOwn(contestant, result, text, input, limits, label) {
  const lines = result.totalLines === input.lines ? [] : [`reports ${result.totalLines} lines, true ${input.lines}`];
  const short = input.bytes <= limits.maxBytes && input.lines <= limits.maxLines;
  const changed = short && result.text !== text ? ["changed a text within its limits"] : [];
  return [...faultsOfText(result.text, limits), ...lines, ...changed].map(
    (fault) => `${contestant.label}, ${label}: ${fault}`,
  );
}

/** Peak memory of each contestant alone, in a process of its own. */
function measureMemory(running, input, options, workDir) {
  return running.map(({ id }) => {
    const args = ["--expose-gc", CLAMP_ONCE, options.stages, id, input.path, workDir, JSON.stringify(LIMITS)];
    const child = spawnSync(process.execPath, args, { encoding: "utf8", timeout: 300_000 });
    if (child.status !== 0) {
      throw new Error(`${id} failed on ${input.bytes} bytes: ${child.stderr}`);
    }
    const { beforeMb, peakMb } = JSON.parse(child.stdout);
    return { id, peakMb, extraMb: Math.max(0, peakMb - beforeMb) };
  });
}

/** Measures every contestant on every text. */
export async function benchClamp(options, { workDir, progress }) {
  const everyone = contestants(options.stages);
  const running = [];
  for (const contestant of everyone.filter(({ installed }) => installed)) {
    progress(`loading ${contestant.label}`);
    const folder = `${workDir}/${running.length}`;
    mkdirSync(folder);
    running.push({ ...contestant, folder, call: await contestant.load(folder) });
  }
  const results = [];
  const faults = [];
  let memory = [];
  for (const { label, kind, bytes, limits, target } of CASES) {
    progress(`texts of ${label}`);
    const input = await writeInput(kind, bytes, `${workDir}/text`);
    const text = readFileSync(input.path, "utf8");
    const tells = {};
    for (const contestant of running) {
      const result = await contestant.call(text, limits);
      tells[contestant.id] = result.totalLines !== null;
      if (contestant.own) {
        faults.push(...faultsOfOwn(contestant, result, text, input, limits, label));
      }
    }
    const rounds = bytes > 10e6 ? (options.smoke ? 5 : 7) : options.smoke ? 7 : 21;
    const batches = await measureCase(running, text, limits, rounds);
    const medians = Object.fromEntries([...batches].map(([id, { samples }]) => [id, median(samples)]));
    results.push({ label, target, medians, tells });
    if (bytes > 10e6) {
      progress(`memory for ${label}`);
      memory = measureMemory(running, input, options, workDir);
    }
    for (const { folder } of running) {
      rmSync(folder, { recursive: true });
      mkdirSync(folder);
    }
    rmSync(input.path);
  }
  return {
    tables: [timeTable(everyone, results), ratioTable(everyone, results, notes), memoryTable(everyone, memory)],
    results: { times: results, memory },
    faults,
  };
}

await runAlone(import.meta.url, benchClamp);
