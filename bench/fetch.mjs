// A wrapped fetch beside a bare one, on bodies of 20 KB over loopback, in turn; and what the exchange itself takes for a body
// of 5 MB with 2,000 tool results, the first time and with one turn more each time.
import { createServer } from "node:http";
import { pathToFileURL } from "node:url";
import { runAlone } from "./entry.mjs";
import { median } from "./median.mjs";

const TARGET = { addedMs: 0.3, warmCpuMs: 15 };
const SMALL_BYTES = 20_000;
const LARGE_BYTES = 5_000_000;
const LARGE_RESULTS = 2000;
const WARM_REQUESTS = 30;

const line = "2026-01-01T00:00:00Z INFO worker[12] handled /api/v1/items?id=4711 in 12 ms status=200\n";
const text = (at, bytes) => `${at}\n${line.repeat(Math.ceil(bytes / line.length))}`.slice(0, bytes);

function turn(at, bytes) {
  const id = `toolu_${at}`;
  const use = { type: "tool_use", id, name: "bash", input: { command: `tail part-${at}.log` } };
  return [
    { role: "assistant", content: [{ type: "text", text: `Part ${at}.` }, use] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: text(at, bytes) }] },
  ];
}

function bodyOf(name, turns, bytes) {
  const messages = [{ role: "user", content: `Find the slow requests, ${name}.` }];
  for (let at = 0; at < turns; at++) messages.push(...turn(at, bytes));
  const tools = [{ name: "bash", description: "Runs a command.", input_schema: { type: "object" } }];
  return { model: "some-model", max_tokens: 1000, system: "You are an agent.", tools, messages };
}

const ANSWER =
  '{"type":"message","content":[{"type":"text","text":"ok"}],"stop_reason":"end_turn","usage":{"input_tokens":5000,"output_tokens":1}}';

async function measureSmall(wrapped, requests) {
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(ANSWER);
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${server.address().port}/v1/messages`;
  const samples = { bare: [], wrapped: [] };
  const growing = bodyOf("small", 9, 2000);
  for (let at = 0; at < requests; at++) {
    // A client builds its body anew for each request. Every tenth one is a turn longer.
    if (at % 10 === 9) growing.messages = [...bodyOf(`small ${at}`, 9, 2000).messages];
    const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(growing) };
    for (const [name, send] of at % 2 === 0
      ? [
          ["bare", fetch],
          ["wrapped", wrapped],
        ]
      : [
          ["wrapped", wrapped],
          ["bare", fetch],
        ]) {
      const started = performance.now();
      await (await send(url, init)).json();
      if (at >= requests / 5) samples[name].push(performance.now() - started);
    }
  }
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  return samples;
}

async function cpuMs(act) {
  const before = process.cpuUsage();
  const result = await act();
  const { user, system } = process.cpuUsage(before);
  return { cpuMs: (user + system) / 1000, result };
}

async function measureLarge(spillway, requests, faults) {
  const body = bodyOf("large", LARGE_RESULTS, LARGE_BYTES / LARGE_RESULTS);
  const headers = new Headers({ "content-type": "application/json" });
  let sent = 0;
  const send = async (bytes) => {
    sent = bytes.length;
    return { status: 200, headers, body: (async function* () {})() };
  };
  const pass = async () => {
    const bytes = new TextEncoder().encode(JSON.stringify(body));
    const request = { method: "POST", url: "/v1/messages", headers, body: bytes };
    return cpuMs(async () => (await spillway.exchange(request, send)).response);
  };
  const cold = await pass();
  const warm = [];
  for (let more = 0; more < requests; more++) {
    body.messages.push(...turn(LARGE_RESULTS + more, 2000));
    warm.push((await pass()).cpuMs);
  }
  if (sent === 0 || sent > LARGE_BYTES / 2) faults.push(`a request of ${LARGE_BYTES} bytes was sent with ${sent}`);
  return { cold: cold.cpuMs, warm };
}

const quantile = (values, share) => values.toSorted((a, b) => a - b)[Math.floor(values.length * share)];

/** Measures what a wrapped fetch adds. */
export async function benchFetch(options, { progress }) {
  const [{ createSpillway }, { createFetch }] = await Promise.all([
    import(pathToFileURL(options.index).href),
    import(new URL("fetch.js", pathToFileURL(options.index)).href),
  ]);
  const faults = [];
  const spillway = await createSpillway({ store: null, ledger: null, env: {} });
  progress(`fetch, bodies of ${SMALL_BYTES / 1000} KB`);
  const small = await measureSmall(createFetch({ spillway }), options.smoke ? 200 : 2000);
  progress(`exchange, a body of ${LARGE_BYTES / 1e6} MB`);
  const large = await measureLarge(spillway, options.smoke ? 5 : WARM_REQUESTS, faults);
  const [bare, wrapped] = [small.bare, small.wrapped].map((values) => [quantile(values, 0.5), quantile(values, 0.99)]);
  const added = wrapped[0] - bare[0];
  const warm = median(large.warm);
  const verdict = (value, target, unit) => `${value <= target ? "" : "MISSED: "}<= ${target} ${unit}`;
  const table = {
    title: "A wrapped fetch",
    columns: ["what", "p50", "p99", "must reach"],
    rows: [
      [`fetch alone, ${SMALL_BYTES / 1000} KB, ms`, bare[0].toFixed(3), bare[1].toFixed(3), ""],
      ["wrapped, ms", wrapped[0].toFixed(3), wrapped[1].toFixed(3), ""],
      ["added, ms", added.toFixed(3), (wrapped[1] - bare[1]).toFixed(3), verdict(added, TARGET.addedMs, "ms")],
      [
        `exchange, ${LARGE_BYTES / 1e6} MB, ${LARGE_RESULTS} results, first time, CPU ms`,
        large.cold.toFixed(1),
        "",
        "",
      ],
      [
        "the same, one turn more, CPU ms",
        warm.toFixed(1),
        quantile(large.warm, 0.99).toFixed(1),
        verdict(warm, TARGET.warmCpuMs, "ms"),
      ],
    ],
    notes: ["CPU includes the collector's and the compiler's threads."],
  };
  return { tables: [table], results: { bare, wrapped, added, ...large }, faults };
}

await runAlone(import.meta.url, benchFetch);
