// Recorded sessions sent request by request through `call`, to a provider with a small window: how often it refuses, and how
// many summaries are made, for a host that keeps its message objects and for hosts that build them anew.
import { readdirSync, readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";
import { corpusFolder, hasCorpus } from "./corpus.mjs";
import { runAlone } from "./entry.mjs";

const LIMIT = 16_000;
const TAU_SESSIONS = 9;
const SMOKE_SESSIONS = 4;
const read = (path) => gunzipSync(readFileSync(`${corpusFolder}/${path}`)).toString("utf8");

/** Commands in code blocks and outputs in a user's words, as calls and results. */
function asCalls(messages) {
  const block = /```(?:bash|sh)\n([\s\S]*?)\n?```/;
  const isCalled = (message) => message?.role === "assistant" && block.test(message.content);
  return messages.map((message, at) => {
    if (message.role === "user" && isCalled(messages[at - 1]))
      return { role: "tool", tool_call_id: `call_${at - 1}`, content: message.content };
    if (!isCalled(message) || messages[at + 1]?.role !== "user")
      return { role: message.role, content: message.content };
    const command = block.exec(message.content)[1];
    const call = {
      id: `call_${at}`,
      type: "function",
      function: { name: "bash", arguments: JSON.stringify({ command }) },
    };
    return { role: "assistant", content: message.content.replace(block, ""), tool_calls: [call] };
  });
}

function sessionsOf() {
  const swe = readdirSync(`${corpusFolder}/mini-swe`).filter((name) => name.endsWith(".json.gz"));
  const runs = swe.map((name) => ({
    wire: "openai-chat",
    messages: asCalls(JSON.parse(read(`mini-swe/${name}`)).messages),
  }));
  const tau = JSON.parse(read("tau-bench/airline.json.gz")).slice(0, TAU_SESSIONS);
  const lines = read("pi-sessions/large-session.jsonl.gz").split("\n").filter(Boolean);
  const pi = lines
    .map((line) => JSON.parse(line))
    .flatMap(({ type, message }) => (type === "message" ? [message] : []));
  return [...runs, ...tau.map(({ traj }) => ({ wire: "openai-chat", messages: traj })), { wire: "pi", messages: pi }];
}

const UNSENT = new Set(["details", "usage", "timestamp", "api", "provider", "model", "stopReason"]);
const textOf = (message) => JSON.stringify(message, (key, value) => (UNSENT.has(key) ? undefined : value));
/** Messages are counted once: they are sent again with every request. */
const counted = new WeakMap();
function tokensOf(message) {
  const known = counted.get(message) ?? Math.ceil(textOf(message).length / 4);
  counted.set(message, known);
  return known;
}

/** Takes what is within the limit, and refuses the rest with both numbers. */
function newProvider(count) {
  return (messages) => {
    const tokens = messages.reduce((sum, message) => sum + tokensOf(message), 0);
    if (tokens <= LIMIT)
      return { usage: { prompt_tokens: tokens, completion_tokens: 1 }, choices: [{ finish_reason: "stop" }] };
    count.refusals++;
    throw Object.assign(new Error(`prompt is too long: ${tokens} tokens > ${LIMIT} maximum`), { status: 400 });
  };
}

/** Keeps the task and the newest turn. */
function newCompactor(count) {
  return {
    async compact({ wire, messages }) {
      count.summaries++;
      const cut = messages.findLastIndex((message) => wire.read(message).role === "assistant");
      const first = messages.findIndex((message) => wire.read(message).role === "user");
      const head = [...messages.slice(0, first + 1), wire.say("Summary of what came before: files were read.")];
      return cut > first ? { messages: [...head, ...messages.slice(cut)], summaryTokens: 20 } : null;
    },
  };
}

/** Sends all requests of a session; ends where one cannot be made to fit. */
async function play({ wire, messages }, host, open, count) {
  let spillway = await open();
  const send = newProvider(count);
  const ends = messages.flatMap(({ role }, at) => (role === "assistant" && at > 0 ? [at] : []));
  for (const [request, end] of ends.entries()) {
    if (host.restarts && request === Math.floor(ends.length / 2)) spillway = await open();
    const given = messages.slice(0, end);
    count.requests++;
    try {
      const sent = host.rebuilds ? JSON.parse(JSON.stringify(given)) : given;
      const compactor = host.compacts ? { compactor: newCompactor(count) } : {};
      await spillway.call(sent, send, { wire, beside: "", ...compactor });
    } catch (error) {
      if (error.code !== "overflow") throw error;
      count.ended++;
      return;
    }
  }
}

const HOSTS = [
  { name: "same objects" },
  { name: "objects built anew", rebuilds: true },
  { name: "built anew, and a restart half-way", rebuilds: true, restarts: true },
  { name: "same objects, with a compactor", compacts: true },
  { name: "objects built anew, with a compactor", rebuilds: true, compacts: true },
];

const HALVES = ["chosen on", "held out"];

/** Counts refusals over the recorded sessions. */
export async function benchRefusals(options, { progress }) {
  if (!hasCorpus) {
    progress(`refusals: no corpus at ${corpusFolder}`);
    return { tables: [], results: { corpus: null }, faults: [] };
  }
  const { createSpillway } = await import(pathToFileURL(options.index).href);
  const { memoryStore, memoryLedger } = await import(
    pathToFileURL(options.index.replace(/index\.js$/, "extend.js")).href
  );
  const sessions = sessionsOf().slice(0, options.smoke ? SMOKE_SESSIONS : undefined);
  const results = [];
  for (const host of HOSTS) {
    progress(`refusals, ${host.name}`);
    const halves = HALVES.map((half) => ({ host: host.name, half, requests: 0, refusals: 0, summaries: 0, ended: 0 }));
    for (const [at, session] of sessions.entries()) {
      const parts = { store: memoryStore(), ledger: memoryLedger(), env: {}, logger: { info() {}, warn() {} } };
      await play(session, host, () => createSpillway(parts), halves[at % 2]);
    }
    results.push(...halves);
  }
  const table = {
    title: `${sessions.length} recorded sessions at a limit of ${LIMIT} tokens of four characters`,
    columns: ["host", "sessions", "requests", "refusals", "summaries", "sessions that ended early"],
    rows: results.map(({ host, half, requests, refusals, summaries, ended }) => {
      return [host, half, requests, refusals, summaries, ended];
    }),
    notes: [
      "A session ends early where a request cannot be made to fit.",
      "Every second session is held out: how much room recovery leaves was chosen on the others.",
    ],
  };
  return { tables: [table], results, faults: [] };
}

await runAlone(import.meta.url, benchRefusals);
