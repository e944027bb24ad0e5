// The dashboard at size: a ledger of a million events and a saved output of 200 MB, both made through the library, asked
// through `spillway serve` and, if a browser is there, looked at in it. CPU is that of the server's process.
import { spawn } from "node:child_process";
import { createReadStream, existsSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { runAlone } from "./entry.mjs";
import { writeInput } from "./inputs.mjs";
import { median } from "./median.mjs";

const TARGET = { openMs: 1000, scrollMs: 200 };
const DAYS = 30;
const TOOLS = 40;
const IN_A_SESSION = 500;
const AT_ONCE = 5000;
const PLACES = 25;

/** The events of an agent's session, in the shares that recorded sessions have them. */
export function eventAt(at, atMs) {
  const session = `session-${Math.floor(at / IN_A_SESSION)}`;
  const about = { atMs, session, tool: `tool-${(at * 7) % TOOLS}`, call: `call-${at}`, artifact: null, receipt: null };
  const turn = at % 10;
  if (turn < 3) {
    const more = {
      model: "m",
      wire: "anthropic",
      inputTokens: 20_000 + turn,
      outputTokens: 90,
      cacheReadTokens: 15_000,
    };
    return { ...about, tool: null, call: null, kind: "request-answered", more };
  }
  if (turn === 3) return { ...about, kind: "artifact-recalled", more: { bytes: 400, tokens: 100 } };
  if (at % 5000 === 4)
    return { ...about, tool: null, kind: "overflow-detected", more: { kind: "context-overflow", model: "m" } };
  if (at % 5000 === 5) return { ...about, tool: null, kind: "overflow-recovered", more: { estimatedTokens: 9000 } };
  const bytes = 1000 + ((at * 7919) % 90_000);
  const shown = { bytes: Math.min(bytes, 20_000), chars: 20_000, lines: 200, tokens: Math.min(bytes, 20_000) >> 2 };
  const omitted = { bytes: bytes - shown.bytes, lines: (bytes - shown.bytes) >> 6 };
  const none = { bytes: 0, lines: 0 };
  const receipt = {
    tool: about.tool,
    session,
    call: about.call,
    total: { bytes, chars: bytes, lines: bytes >> 6 },
    shown,
    kept: { bytes: shown.bytes, lines: shown.lines },
    folded: none,
    redacted: none,
    omitted,
    cuts: [],
    moreCuts: 0,
  };
  return { ...about, kind: omitted.bytes > 0 ? "output-clamped" : "output-passed", receipt, more: null };
}

async function fill(options, dir, events, input, progress) {
  const { openLocalFolder } = await import(pathToFileURL(options.index.replace(/index\.js$/, "extend.js")).href);
  const { createSpillway } = await import(pathToFileURL(options.index).href);
  const folder = await openLocalFolder(dir, { retention: "off" });
  const beganMs = Date.now() - DAYS * 86_400_000;
  for (let from = 0; from < events; from += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, events - from) }, (_none, at) => from + at);
    const when = (at) => Math.floor(beganMs + (at / events) * DAYS * 86_400_000);
    await Promise.all(some.map((at) => folder.ledger.record(eventAt(at, when(at)))));
    if (from % 200_000 === 0) progress(`${from + some.length} events`);
  }
  await folder.close();
  progress(`saving an output of ${input.bytes / 1e6} MB`);
  const spillway = await createSpillway({ dir, retention: "off" });
  const output = createReadStream(input.path, { highWaterMark: 1024 * 1024 });
  const { receipt } = await spillway.admit({ tool: "bash", session: "large", call: "large", output });
  return receipt.artifact;
}

/** The CPU time of a process in milliseconds, where the system has /proc. */
export function cpuMs(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return Number.NaN;
  }
}

async function measure(pid, name, times, limitMs, run, { before, after } = {}) {
  const runs = [];
  for (let at = 0; at < times; at++) {
    const given = (await before?.()) ?? at;
    const [startMs, startCpu] = [performance.now(), cpuMs(pid)];
    await run(given);
    runs.push({ ms: performance.now() - startMs, cpu: cpuMs(pid) - startCpu });
    await after?.(given);
  }
  const ms = median(runs.map((each) => each.ms));
  const mostMs = Math.max(...runs.map((each) => each.ms));
  return { name, ms, mostMs, cpuMs: runs.reduce((sum, { cpu }) => sum + cpu, 0) / times, limitMs };
}

function findBrowser() {
  const names = ["chromium", "chromium-browser", "google-chrome"];
  const folders = (process.env.PATH ?? "").split(delimiter);
  const found = names.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) => existsSync(path));
  return process.env.SPILLWAY_BROWSER ?? found;
}

async function inBrowser(url, id, lines, pid) {
  const executablePath = findBrowser();
  if (executablePath === undefined) return [];
  const { chromium } = await import("playwright-core");
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
  try {
    // A tab with a cache of its own, so that every page is loaded for the first time. Its making is the browser's time.
    const tab = {
      before: () => browser.newPage({ viewport: { width: 1280, height: 800 } }),
      after: (page) => page.close(),
    };
    const open = async (page, hash, ready) => {
      await page.goto(`${url}/${hash}`);
      await page.waitForSelector(ready);
    };
    const TEXT = ".text-row .text-line:not(:empty)";
    const overview = (page) => open(page, "#/overview?range=all", ".chart canvas");
    const output = (page) => open(page, `#/outputs/${id}`, TEXT);
    const page = await tab.before();
    const rows = [
      await measure(pid, "browser: Overview opens", 3, TARGET.openMs, overview, tab),
      await measure(pid, "browser: the output opens", 3, TARGET.openMs, output, tab),
    ];
    await output(page);
    rows.push(
      await measure(pid, "browser: a place of the output", PLACES, TARGET.scrollMs, async (at) => {
        const line = 1 + ((at * 7_654_321) % lines);
        await page.getByLabel("Go to line").fill(String(line));
        await page.keyboard.press("Enter");
        await page.waitForSelector(`[data-line="${line}"] .text-line:not(:empty)`);
      }),
    );
    return rows;
  } finally {
    await browser.close();
  }
}

/** Measures the dashboard's data, and the dashboard in a browser. */
export async function benchDashboard(options, { workDir, progress }) {
  const events = options.smoke ? 50_000 : 1_000_000;
  const input = await writeInput("log", (options.smoke ? 20 : 200) * 1e6, `${workDir}/input`);
  const dir = join(workDir, "kept");
  const id = await fill(options, dir, events, input, progress);
  const server = spawn(process.execPath, [options.cli, "serve", "--dir", dir, "--port", "0"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  server.stdout.on("data", (chunk) => (said += chunk));
  try {
    let url;
    while (url === undefined) {
      if (server.exitCode !== null) throw new Error(said);
      await setTimeout(20);
      url = /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0];
    }
    const ask = async (path) => {
      const response = await fetch(url + path);
      const body = await response.json();
      if (!response.ok) throw new Error(`${path}: ${JSON.stringify(body)}`);
      return body;
    };
    const artifact = await ask(`/api/artifacts/${id}`);
    progress("asking");
    const { pid } = server;
    const api = (name, times, limitMs, run) => measure(pid, `API: ${name}`, times, limitMs, run);
    const overview = ["/api/stats?by=all", "/api/stats?by=hour", "/api/stats?by=tool"];
    const overflows = "/api/events?kind=overflow-recovered,overflow-failed&max=5";
    const rows = [
      await api(`Overview of ${events} events, all its questions`, 3, TARGET.openMs, () =>
        Promise.all([...overview, overflows].map(ask)),
      ),
      await api("sessions, the last 200", 3, TARGET.openMs, () => ask("/api/sessions?max=200")),
      await api("tools", 3, TARGET.openMs, () => ask("/api/stats?by=tool")),
      await api("overflows", 3, TARGET.openMs, () =>
        ask("/api/events?kind=overflow-detected,overflow-reduced,overflow-recovered,overflow-failed&max=1000"),
      ),
      await api("the output: what is known of it", 3, TARGET.openMs, () =>
        Promise.all([
          ask(`/api/artifacts/${id}`),
          ask(`/api/receipts?artifact=${id}&max=100`),
          ask(`/api/artifacts/${id}/lines?from=1&to=100`),
        ]),
      ),
      await api("the output: 100 lines at any place", PLACES, TARGET.scrollMs, (at) => {
        const from = 1 + ((at * 7_654_321) % artifact.lines);
        return ask(`/api/artifacts/${id}/lines?from=${from}&to=${from + 99}`);
      }),
      // Before the text is made again, so that the page's lines are read while that goes on.
      ...(await inBrowser(url, id, artifact.lines, pid)),
      await api("the output: as the model read it, again", 1, TARGET.openMs, () => ask(`/api/artifacts/${id}/view`)),
    ];
    return { tables: [tableOf(rows, events, artifact)], results: rows, faults: [] };
  } finally {
    server.kill();
  }
}

function tableOf(rows, events, { bytes, lines }) {
  return {
    title: `The dashboard with ${events} events and an output of ${bytes / 1e6} MB, ${lines} lines`,
    columns: ["what", "ms", "slowest ms", "server's CPU ms", "must reach"],
    rows: rows.map(({ name, ms, mostMs, cpuMs, limitMs }) => [
      name,
      ms.toFixed(0),
      mostMs.toFixed(0),
      cpuMs.toFixed(0),
      limitMs === undefined ? "" : `${mostMs < limitMs ? "" : "MISSED: "}< ${limitMs} ms`,
    ]),
    notes: [
      "ms: the median. Wall clock means little on a machine that is busy; the server's CPU is the work that there is.",
    ],
  };
}

await runAlone(import.meta.url, benchDashboard);
