// The gateway beside a bare pass-through proxy (node:http and undici) and, if it is installed, @portkey-ai/gateway, all before
// the same provider on loopback, each in a process of its own: latency at a steady rate, saturation, a large request, and
// many streams at once.
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Agent, request as send } from "undici";
import { runAlone } from "./entry.mjs";

const TARGET = { addedP50: 0.5, addedP99: 3, ofBare: 0.45, largeCpuMs: 15, rssBytes: 400 * 1024 * 1024 };
const RATE = 200;
const SMALL_RESULTS = 9;
const LARGE = { bytes: 5_000_000, results: 2000 };

const line = "2026-01-01T00:00:00Z INFO worker[12] handled /api/v1/items?id=4711 in 12 ms status=200\n";

/** A call and its result. */
export function turn(at, bytes) {
  const id = `toolu_${at}`;
  return [
    { role: "assistant", content: [{ type: "tool_use", id, name: "bash", input: { command: `tail part-${at}.log` } }] },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: id, content: `${at}\n${line.repeat(bytes / 60 + 1)}`.slice(0, bytes) },
      ],
    },
  ];
}

/** A request of a conversation that has come this far. */
export function bodyOf(name, turns, bytes) {
  const messages = [{ role: "user", content: `Find the slow requests, ${name}.` }];
  for (let at = 0; at < turns; at++) messages.push(...turn(at, bytes));
  return { model: "some-model", max_tokens: 1000, system: "You are an agent.", messages };
}

const ANSWER =
  '{"type":"message","content":[{"type":"text","text":"ok"}],"stop_reason":"end_turn","usage":{"input_tokens":5000,"output_tokens":1}}';

/** Answers at once, or with a stream of numbered pieces over some seconds. */
export async function startProvider() {
  const server = createServer((request, response) => {
    let streamMs = 0;
    request.on("data", (chunk) => (streamMs ||= Number(/"stream_ms":(\d+)/.exec(chunk)?.[1] ?? 0)));
    request.on("end", () => {
      if (streamMs === 0) {
        response.writeHead(200, { "content-type": "application/json" });
        response.end(ANSWER);
        return;
      }
      response.writeHead(200, { "content-type": "text/event-stream" });
      const endMs = Date.now() + streamMs;
      let at = 0;
      const timer = setInterval(() => {
        const isLast = Date.now() >= endMs;
        response.write(`event: content_block_delta\ndata: {"type":"content_block_delta","at":${at++}}\n\n`);
        if (!isLast) return;
        clearInterval(timer);
        response.end(`event: message_stop\ndata: {"type":"message_stop","pieces":${at}}\n\n`);
      }, 100);
      response.once("close", () => clearInterval(timer));
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    stop: () => server.closeAllConnections() ?? server.close(),
  };
}

/** Starts a process that says where it listens. */
export async function startProcess(words, env, pattern) {
  const child = spawn(process.execPath, words, {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const url = await new Promise((resolve, reject) => {
    let said = "";
    child.stdout.on("data", (chunk) => {
      said += chunk;
      const found = pattern.exec(said);
      if (found) resolve(found[1]);
    });
    child.once("exit", (code) => reject(new Error(`${words[0]} ended with ${code}`)));
  });
  return { url, pid: child.pid, stop: () => child.kill("SIGKILL") };
}

const PORTKEY = "@portkey-ai/gateway";

/** Where the other gateway's program is, or null if it is not installed beside this file. */
function findPortkey() {
  try {
    return createRequire(import.meta.url).resolve(`${PORTKEY}/build/start-server.js`);
  } catch {
    return null;
  }
}

/** Takes a free port: this gateway does not say which one it got. */
export async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const agent = new Agent({ connections: 600, pipelining: 1 });

/** Sends a request and returns the answer's text. Throws unless it is 200. */
export async function post({ url, headers: more }, body) {
  const headers = { "content-type": "application/json", "x-api-key": "k", ...more };
  const { statusCode, body: answer } = await send(`${url}/v1/messages`, {
    dispatcher: agent,
    method: "POST",
    headers,
    body,
  });
  const text = await answer.text();
  if (statusCode !== 200) throw new Error(`${statusCode}: ${text.slice(0, 200)}`);
  return text;
}

/** The value below which this share of the values is. */
export const quantile = (values, share) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN;

/** Sends at a steady rate, whether answers come or not. Each conversation has a first message of its own. */
async function steady(target, seconds) {
  const samples = [];
  const waiting = [];
  const body = (at) => JSON.stringify(bodyOf(`steady ${at % 20}`, SMALL_RESULTS, 2000));
  for (let at = 0; at < RATE * seconds; at++) {
    const startedMs = performance.now();
    const sent = body(at);
    waiting.push(post(target, sent).then(() => samples.push(performance.now() - startedMs)));
    await new Promise((resolve) => setTimeout(resolve, 1000 / RATE));
  }
  await Promise.all(waiting);
  return samples.slice(Math.floor(samples.length / 5));
}

/** Sends as fast as answers come, 32 at a time. */
async function saturate(target, seconds) {
  const bodies = Array.from({ length: 32 }, (_, at) => JSON.stringify(bodyOf(`full ${at}`, SMALL_RESULTS, 2000)));
  for (const body of bodies) await post(target, body);
  const endMs = performance.now() + seconds * 1000;
  let count = 0;
  await Promise.all(
    bodies.map(async (body) => {
      for (; performance.now() < endMs; count++) await post(target, body);
    }),
  );
  return count / seconds;
}

async function streams(target, count, ms, faults) {
  const body = (at) => JSON.stringify({ ...bodyOf(`stream ${at}`, 1, 500), stream: true, stream_ms: ms });
  await Promise.all(
    Array.from({ length: count }, async (_, at) => {
      const text = await post(target, body(at));
      const seen = [...text.matchAll(/"at":(\d+)/g)].map(([, piece]) => Number(piece));
      const said = Number(/"pieces":(\d+)/.exec(text)?.[1] ?? -1);
      if (seen.length !== said || seen.some((piece, index) => piece !== index))
        faults.push(`a stream lost or mixed pieces`);
    }),
  );
}

async function rssOf(pid) {
  const { readFile } = await import("node:fs/promises");
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? Number.NaN) * 1024;
}

/** CPU of the exchange for a large request that grows by a turn each time, the way the gateway calls it. */
async function largeCpu(options, requests) {
  const { createSpillway } = await import(pathToFileURL(options.index).href);
  const spillway = await createSpillway({ store: null, ledger: null, env: {} });
  const body = bodyOf("large", LARGE.results, LARGE.bytes / LARGE.results);
  const headers = { get: (name) => (name === "content-type" ? "application/json" : null) };
  const answer = async () => ({ status: 200, headers, body: (async function* () {})() });
  const samples = [];
  for (let at = 0; at <= requests; at++) {
    body.messages.push(...turn(LARGE.results + at, 2000));
    const bytes = Buffer.from(JSON.stringify(body));
    const before = process.cpuUsage();
    await spillway.exchange({ method: "POST", url: "/v1/messages", headers, body: bytes }, answer, { records: "all" });
    const { user, system } = process.cpuUsage(before);
    samples.push((user + system) / 1000);
  }
  return samples.slice(1);
}

/** Measures the gateway. */
export async function benchGateway(options, { workDir, progress }) {
  const faults = [];
  const provider = await startProvider();
  const running = [];
  const start = async (...given) => {
    const started = await startProcess(...given);
    running.push(started);
    return started;
  };
  try {
    const here = fileURLToPath(new URL("bare-proxy.mjs", import.meta.url));
    const bare = await start([here, provider.url], {}, /(http:\S+)/);
    const env = { SPILLWAY_DIR: join(workDir, "gateway"), HOME: workDir };
    const words = [options.cli, "serve", "--port", "0", "--anthropic", provider.url];
    const ours = await start(words, env, /listens at (\S+)\. /);
    const seconds = options.smoke ? 1 : 10;
    const targets = { "no proxy": provider, "bare undici proxy": bare, spillway: ours };
    const portkey = findPortkey();
    if (portkey !== null) {
      const port = await freePort();
      await start([portkey, `--port=${port}`, "--headless"], {}, /(Ready for connections|running|localhost:\d+)/i);
      const headers = { "x-portkey-provider": "anthropic", "x-portkey-custom-host": `${provider.url}/v1` };
      targets[PORTKEY] = { url: `http://127.0.0.1:${port}`, headers };
    }
    const rows = [];
    const results = {};
    for (const [name, target] of Object.entries(targets)) {
      progress(`gateway: ${name}`);
      const samples = await steady(target, seconds);
      const perSecond = await saturate(target, seconds);
      results[name] = { p50: quantile(samples, 0.5), p99: quantile(samples, 0.99), perSecond };
      const { p50, p99 } = results[name];
      rows.push([name, p50.toFixed(2), p99.toFixed(2), perSecond.toFixed(0)]);
    }
    if (portkey === null) rows.push([`${PORTKEY}, which is not installed`, "-", "-", "-"]);
    const [direct, proxy, own] = Object.values(results);
    const [addedP50, addedP99] = [own.p50 - direct.p50, own.p99 - direct.p99];
    const ofBare = own.perSecond / proxy.perSecond;
    const count = options.smoke ? 50 : 500;
    progress(`gateway: ${count} streams`);
    await streams(ours, count, options.smoke ? 1000 : 60_000, faults);
    const rss = await rssOf(ours.pid);
    progress("gateway: a request of 5 MB");
    const large = quantile(await largeCpu(options, options.smoke ? 5 : 30), 0.5);
    const verdict = (isMet, text) => `${isMet ? "" : "MISSED: "}${text}`;
    const met = [
      ["added p50, ms", addedP50.toFixed(2), verdict(addedP50 < TARGET.addedP50, `< ${TARGET.addedP50}`)],
      ["added p99, ms", addedP99.toFixed(2), verdict(addedP99 < TARGET.addedP99, `< ${TARGET.addedP99}`)],
      [
        "requests a second, share of the bare proxy's",
        ofBare.toFixed(2),
        verdict(ofBare >= TARGET.ofBare, `>= ${TARGET.ofBare}`),
      ],
      [
        `5 MB, ${LARGE.results} results, one turn more, CPU ms`,
        large.toFixed(1),
        verdict(large < TARGET.largeCpuMs, `< ${TARGET.largeCpuMs}`),
      ],
      [
        `most memory with ${count} streams, MB`,
        (rss / 1024 / 1024).toFixed(0),
        verdict(rss < TARGET.rssBytes, "< 400"),
      ],
    ];
    return {
      tables: [
        {
          title: `The gateway, 20 KB requests, ${RATE} a second`,
          columns: ["what", "p50 ms", "p99 ms", "at most a second"],
          rows,
          notes: portkey === null ? [`To measure it too: npm install --no-save --prefix bench ${PORTKEY}@1.15.2`] : [],
        },
        { title: "The gateway against what it must reach", columns: ["what", "is", "must reach"], rows: met },
      ],
      results: { ...results, addedP50, addedP99, ofBare, large, rss },
      faults,
    };
  } finally {
    for (const each of running) each.stop();
    provider.stop();
  }
}

await runAlone(import.meta.url, benchGateway);
