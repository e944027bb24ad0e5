// What standing before an MCP server costs: time and memory for large results, latency for small ones; and the hook's start.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { faultsOfText } from "./check.mjs";
import { runAlone } from "./entry.mjs";
import { median } from "./median.mjs";
import { PRELOAD } from "./run-shell.mjs";

const SERVER = fileURLToPath(new URL("./mcp-server.mjs", import.meta.url));
const LARGE = [
  { megabytes: 20, maxSeconds: 2, maxMb: 250 },
  { megabytes: 100, maxSeconds: 10, maxMb: 600 },
];
const SMALL_BYTES = [200, 4000];
const MAX_ADDED_MS = 2;
const MAX_HOOK_MS = 60;
const LIMITS = { maxBytes: 51_200, maxLines: 2000 };

/** A client over standard input and output; the SDKs' stop at 10 MiB when there is no proxy. */
async function connect(args, env) {
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"], env });
  const waiting = new Map();
  let parts = [];
  child.stdout.on("data", (chunk) => {
    let from = 0;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      parts.push(chunk.subarray(from, at));
      const { id, result } = JSON.parse(Buffer.concat(parts));
      parts = [];
      from = at + 1;
      waiting.get(id)?.(result);
      waiting.delete(id);
    }
    parts.push(chunk.subarray(from));
  });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  let asked = 0;
  const ask = (method, params) =>
    new Promise((resolve, reject) => {
      const id = ++asked;
      waiting.set(id, resolve);
      void ended.then((code) => reject(new Error(`${args.join(" ")} ended with ${code}`)));
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    });
  await ask("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "b", version: "1" } });
  return {
    call: async (bytes) => (await ask("tools/call", { name: "log", arguments: { bytes } })).content[0].text,
    async close() {
      child.stdin.end();
      await ended;
    },
  };
}

async function timed(client, bytes) {
  const started = performance.now();
  const text = await client.call(bytes);
  return { ms: performance.now() - started, text };
}

async function benchLarge(options, workDir, env, { megabytes, maxSeconds, maxMb }) {
  const usageFile = `${workDir}/mcp-usage.json`;
  const proxied = ["--require", PRELOAD, options.cli, "mcp", "--", process.execPath, SERVER];
  const direct = await connect([SERVER], env);
  const base = await timed(direct, megabytes * 1e6);
  await direct.close();
  const client = await connect(proxied, { ...env, BENCH_USAGE_FILE: usageFile });
  const { ms, text } = await timed(client, megabytes * 1e6);
  await client.close();
  const { peakRssMb: peakMb } = JSON.parse(readFileSync(usageFile, "utf8"));
  const isMissed = ms > maxSeconds * 1000 || peakMb > maxMb;
  const verdict = `${isMissed ? "MISSED: " : ""}<= ${maxSeconds} s, <= ${maxMb} MB`;
  return {
    row: [`${megabytes} MB`, (base.ms / 1000).toFixed(2), (ms / 1000).toFixed(2), peakMb.toFixed(0), verdict],
    result: { megabytes, directMs: base.ms, proxiedMs: ms, peakMb },
    faults: faultsOfText(text, LIMITS).map((fault) => `mcp, ${megabytes} MB: ${fault}`),
  };
}

async function benchSmall(options, env, rounds) {
  const direct = await connect([SERVER], env);
  const proxied = await connect([options.cli, "mcp", "--", process.execPath, SERVER], env);
  const results = [];
  for (const bytes of SMALL_BYTES) {
    const samples = [];
    for (let round = -20; round < rounds; round++) {
      // In turn; the first calls warm both up.
      const [one, two] = [await timed(direct, bytes), await timed(proxied, bytes)];
      if (one.text !== two.text) throw new Error(`a result of ${bytes} bytes was changed`);
      if (round >= 0) samples.push({ direct: one.ms, proxied: two.ms });
    }
    const [directMs, proxiedMs] = ["direct", "proxied"].map((key) => median(samples.map((sample) => sample[key])));
    results.push({ bytes, directMs, proxiedMs, addedMs: proxiedMs - directMs });
  }
  await Promise.all([direct.close(), proxied.close()]);
  return results;
}

function benchHook(options, workDir, env, rounds) {
  const event = (stdout) =>
    JSON.stringify({ hook_event_name: "PostToolUse", tool_name: "Bash", tool_response: { stdout, stderr: "" } });
  const calls = [
    { label: "node -e 0", args: ["-e", "0"], input: "" },
    { label: "spillway hook, a small result", args: [options.cli, "hook"], input: event("ok\n"), isJudged: true },
    {
      label: "spillway hook, a long result, saved",
      args: [options.cli, "hook"],
      input: event("a line\n".repeat(9000)),
    },
  ];
  const usageFile = `${workDir}/hook-usage.json`;
  const settings = { env: { ...env, BENCH_USAGE_FILE: usageFile }, cwd: workDir, encoding: "utf8" };
  const samples = calls.map(() => []);
  for (let round = 0; round < rounds; round++) {
    calls.forEach(({ label, args, input }, i) => {
      const started = performance.now();
      const child = spawnSync(process.execPath, ["--require", PRELOAD, ...args], { ...settings, input });
      const wallMs = performance.now() - started;
      const { userSeconds, systemSeconds } = JSON.parse(readFileSync(usageFile, "utf8"));
      samples[i].push({ wallMs, cpuMs: (userSeconds + systemSeconds) * 1000 });
      if (child.status !== 0 || (i === 2) !== child.stdout.includes("updatedToolOutput")) {
        throw new Error(`${label}: exit ${child.status}, printed ${child.stdout.length} characters\n${child.stderr}`);
      }
    });
  }
  return calls.map(({ label, isJudged }, i) => {
    const of = (key) => median(samples[i].map((sample) => sample[key]));
    const over = (key) => median(samples[i].map((sample, round) => sample[key] - samples[0][round][key]));
    return {
      label,
      isJudged,
      wallMs: of("wallMs"),
      overWallMs: over("wallMs"),
      cpuMs: of("cpuMs"),
      overCpuMs: over("cpuMs"),
    };
  });
}

/** Measures the proxy beside the server alone, and the hook beside a bare Node. */
export async function benchMcp(options, { workDir, progress }) {
  const home = `${workDir}/mcp-home`;
  mkdirSync(home);
  const env = { PATH: process.env.PATH, HOME: home, USERPROFILE: home, SPILLWAY_DIR: `${home}/data` };
  const large = [];
  for (const size of options.smoke ? LARGE.slice(0, 1) : LARGE) {
    progress(`mcp, a result of ${size.megabytes} MB`);
    large.push(await benchLarge(options, workDir, env, size));
  }
  const rounds = options.smoke ? 50 : 200;
  progress(`mcp, ${rounds} small results`);
  const small = await benchSmall(options, env, rounds);
  const starts = options.smoke ? 7 : 21;
  progress(`hook, ${starts} starts`);
  const hook = benchHook(options, workDir, env, starts);
  const tables = [
    {
      title: "One large result through the MCP proxy",
      columns: ["result", "direct s", "proxied s", "peak MB", "must reach"],
      rows: large.map(({ row }) => row),
    },
    {
      title: `Small results through the MCP proxy (medians of ${rounds}, in turn)`,
      columns: ["result", "direct ms", "proxied ms", "added ms", "must reach"],
      rows: small.map(({ bytes, directMs, proxiedMs, addedMs }) => [
        `${bytes} bytes`,
        directMs.toFixed(2),
        proxiedMs.toFixed(2),
        addedMs.toFixed(2),
        `${addedMs <= MAX_ADDED_MS ? "" : "MISSED: "}<= ${MAX_ADDED_MS} ms`,
      ]),
    },
    {
      title: `The hook (medians of ${starts}, in turn)`,
      columns: ["command", "wall ms", "over node", "CPU ms", "over node", "must reach"],
      rows: hook.map(({ label, wallMs, overWallMs, cpuMs, overCpuMs, isJudged }, i) => [
        label,
        wallMs.toFixed(1),
        i === 0 ? "" : overWallMs.toFixed(1),
        cpuMs.toFixed(1),
        i === 0 ? "" : overCpuMs.toFixed(1),
        isJudged ? `${overWallMs <= MAX_HOOK_MS ? "" : "MISSED: "}<= ${MAX_HOOK_MS} ms over node` : "",
      ]),
    },
  ];
  const results = { large: large.map(({ result }) => result), small, hook };
  return { tables, results, faults: large.flatMap(({ faults }) => faults) };
}

await runAlone(import.meta.url, benchMcp);
