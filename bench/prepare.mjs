// Requests of a very long session: cold, and with one turn more than the one before.
import { pathToFileURL } from "node:url";
import { runAlone } from "./entry.mjs";
import { median } from "./median.mjs";

const TARGET = { coldMs: 300, warmMs: 5 };
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
    await spillway.store?.close();
    const of = (name, key) => median(samples[name].map((sample) => sample[key]));
    for (const name of Object.keys(samples)) {
      results.push({ label, what: name, wallMs: of(name, "wallMs"), cpuMs: of(name, "cpuMs") });
    }
  }
  const judged = { cold: TARGET.coldMs, warm: TARGET.warmMs };
  const words = { stringify: "JSON.stringify", cold: "prepare, first request", warm: "prepare, one turn more" };
  const rows = results.map(({ label, what, wallMs, cpuMs }) => {
    const target = label === "no store" ? judged[what] : undefined;
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
