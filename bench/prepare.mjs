// Requests of a very long session: cold, and with one turn more than the one before. Requests of hosts that build their
// messages anew each time, and a step that saves many results at once.
import { pathToFileURL } from "node:url";
import { runAlone } from "./entry.mjs";
import { median } from "./median.mjs";

const TARGET = { coldMs: 300, warmMs: 5, rebuiltMs: 20, stepMs: 300 };
const REBUILT_TURNS = 500;
const REBUILT_BYTES = 2000;
const STEP_RESULTS = 100;
const MESSAGES = 10_000;
const WINDOW = 200_000;
const WARM_REQUESTS = 15;
/** In one process the counter, the format and the collector have run before; the first session warms them up. */
const ROUNDS = 5;

const line = "2026-01-01T00:00:00Z INFO worker[12] handled /api/v1/items?id=4711 in 12 ms status=200\n";
const resultText = (at, bytes) => `${at}\n${line.repeat(Math.ceil(bytes / line.length))}`.slice(0, bytes);

function turn(at, bytes) {
  const id = `call-${at}`;
  return [
    {
      role: "assistant",
      content: [
        { type: "text", text: `Looking at part ${at} of the log.` },
        { type: "tool_use", id, name: "bash", input: { command: `tail -n 100 part-${at}.log` } },
      ],
    },
    { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: resultText(at, bytes) }] },
  ];
}

/** As if read from a file: no string shares memory with another. */
function session(round, bytes) {
  const messages = [{ role: "user", content: `Find the slow requests, round ${round}.` }];
  const each = Math.floor(bytes / (MESSAGES / 2));
  for (let at = 0; messages.length < MESSAGES; at++) messages.push(...turn(at, each));
  return JSON.parse(JSON.stringify(messages));
}

async function milliseconds(act) {
  const cpu = process.cpuUsage();
  const started = performance.now();
  const result = await act();
  const wallMs = performance.now() - started;
  const { user, system } = process.cpuUsage(cpu);
  return { wallMs, cpuMs: (user + system) / 1000, result };
}

async function measure(spillway, bytes, rounds, faults) {
  const samples = { stringify: [], cold: [], warm: [] };
  const options = { wire: "anthropic", window: WINDOW };
  for (let round = 0; round <= rounds; round++) {
    const messages = session(round, bytes);
    const before = JSON.stringify(messages.at(-1));
    const stringify = await milliseconds(async () => JSON.stringify(messages).length);
    const cold = await milliseconds(() => spillway.prepare(messages, options));
    faults.push(...cold.result.report.faults, ...faultsOf(messages, cold.result, before));
    const warm = [];
    for (let more = 0; more < WARM_REQUESTS; more++) {
      messages.push(...turn(MESSAGES + more, bytes / (MESSAGES / 2)));
      warm.push(await milliseconds(() => spillway.prepare(messages, options)));
    }
    if (round === 0) continue;
    samples.stringify.push(stringify);
    samples.cold.push(cold);
    samples.warm.push(...warm);
  }
  return samples;
}

/** A session that grows turn by turn, read back from JSON for each request. */
async function measureRebuilt(spillway) {
  const messages = [{ role: "user", content: "Find the slow requests, with messages that are built anew." }];
  const samples = [];
  for (let at = 0; at < REBUILT_TURNS; at++) {
    messages.push(...turn(at, REBUILT_BYTES));
    const given = JSON.parse(JSON.stringify(messages));
    samples.push(await milliseconds(() => spillway.prepare(given, { wire: "anthropic", window: WINDOW })));
  }
  return samples;
}

/** One request that clears results, each of them saved first. */
async function measureStep(spillway, round, faults) {
  const messages = [{ role: "user", content: `Find the slow requests at once, round ${round}.` }];
  for (let at = 0; at < STEP_RESULTS + 3; at++) messages.push(...turn(`${round}-${at}`, 8000));
  const given = JSON.parse(JSON.stringify(messages));
  const sample = await milliseconds(() =>
    spillway.prepare(given, { wire: "anthropic", window: WINDOW, pruning: { mode: "aggressive" } }),
  );
  const { cleared } = sample.result.report.results;
  if (cleared < STEP_RESULTS) faults.push(`a step cleared ${cleared} results`);
  return sample;
}

function quantile(values, share) {
  return values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))];
}

function faultsOf(messages, { messages: sent, report }, before) {
  const copied = sent.filter((message, at) => message !== messages[at]).length;
  const changed = report.results.trimmed + report.results.cleared;
  return [
    ...(JSON.stringify(messages.at(-1)) === before ? [] : ["changed a message that came"]),
    ...(copied === changed ? [] : [`copied ${copied} messages, changed ${changed}`]),
    ...(changed > 0 ? [] : ["pruned nothing"]),
  ];
}

const withoutStore = async (createSpillway) => createSpillway({ store: null, ledger: null, env: {} });
const withStore = async (createSpillway, dir) => createSpillway({ dir, env: {} });

/** Measures prepare beside JSON.stringify of the same messages, which every client does anyway. */
export async function benchPrepare(options, { workDir, progress }) {
  const { createSpillway } = await import(pathToFileURL(options.index).href);
  const bytes = options.smoke ? 10e6 : 50e6;
  const faults = [];
  const results = [];
  for (const [label, open, rounds] of [
    ["no store", withoutStore, options.smoke ? 2 : ROUNDS],
    ["local store and ledger", withStore, 1],
  ]) {
    progress(`prepare, ${MESSAGES} messages, ${bytes / 1e6} MB, ${label}`);
    const spillway = await open(createSpillway, `${workDir}/prepare`);
    const samples = await measure(spillway, bytes, rounds, faults);
    if (label !== "no store") {
      const rebuilt = await measureRebuilt(spillway);
      const p95 = (key) =>
        quantile(
          rebuilt.map((sample) => sample[key]),
          0.95,
        );
      results.push({ label, what: "rebuilt", wallMs: p95("wallMs"), cpuMs: p95("cpuMs") });
      samples.step = [];
      for (let round = 0; round < ROUNDS; round++) samples.step.push(await measureStep(spillway, round, faults));
    }
    await spillway.store?.close();
    const of = (name, key) => median(samples[name].map((sample) => sample[key]));
    for (const name of Object.keys(samples)) {
      results.push({ label, what: name, wallMs: of(name, "wallMs"), cpuMs: of(name, "cpuMs") });
    }
  }
  const judged = { "no store": { cold: TARGET.coldMs, warm: TARGET.warmMs } };
  judged["local store and ledger"] = { rebuilt: TARGET.rebuiltMs, step: TARGET.stepMs };
  const words = {
    stringify: "JSON.stringify",
    cold: "prepare, first request",
    warm: "prepare, one turn more",
    rebuilt: `prepare, messages built anew, ${REBUILT_TURNS} turns (p95)`,
    step: `prepare, a step that saves ${STEP_RESULTS} results`,
  };
  const rows = results.map(({ label, what, wallMs, cpuMs }) => {
    const target = judged[label][what];
    const verdict = target === undefined ? "" : `${wallMs <= target ? "" : "MISSED: "}<= ${target} ms`;
    return [words[what], label, wallMs.toFixed(1), cpuMs.toFixed(1), verdict];
  });
  const table = {
    title: `Preparing requests of a session of ${MESSAGES} messages, ${bytes / 1e6} MB (medians)`,
    columns: ["what", "with", "wall ms", "CPU ms", "must reach"],
    rows,
    notes: [
      "The first request clears nearly all results; with a store each of them is saved before.",
      "CPU includes the collector's and the compiler's threads.",
    ],
  };
  return { tables: [table], results, faults };
}

await runAlone(import.meta.url, benchPrepare);
