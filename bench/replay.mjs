// Recorded conversations under our pruning and under the published rules of others.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { corpusFolder, hasCorpus } from "./corpus.mjs";
import { runAlone } from "./entry.mjs";
import { markdownTables } from "./table.mjs";

const SETS = ["mini-swe", "tau-bench", "pi-sessions"];
const WINDOWS = [32_000, 64_000];
const SMOKE_FILES = 8;
const MIN_UNCHANGED = 0.98;
const PAGE = fileURLToPath(new URL("../docs/reference/replay.md", import.meta.url));
const [START, END] = ["<!-- replay:start (written by bench/replay.mjs --docs) -->", "<!-- replay:end -->"];
/** The saving that is expected of compressing tool output. */
const EXPECTED = "50-80 %";

/** A set's files, unpacked; null if the corpus does not have it. */
function filesOf(set, workDir, smoke) {
  const folder = `${corpusFolder}/${set}`;
  if (!existsSync(folder)) return null;
  const names = readdirSync(folder).filter((name) => /\.jsonl?\.gz$/.test(name) && name !== "cases.jsonl.gz");
  mkdirSync(`${workDir}/${set}`, { recursive: true });
  return names.slice(0, smoke ? SMOKE_FILES : undefined).map((name) => {
    const file = `${workDir}/${set}/${name.slice(0, -3)}`;
    writeFileSync(file, gunzipSync(readFileSync(`${folder}/${name}`)));
    return file;
  });
}

function replay({ cli }, files, window, prices) {
  const args = [cli, "replay", ...files, "--window", String(window), "--prices", prices, "--json"];
  const child = spawnSync(process.execPath, args, { encoding: "utf8", maxBuffer: 2 ** 30, timeout: 900_000 });
  if (child.status !== 0) throw new Error(`spillway replay: exit ${child.status}\n${child.stderr}`);
  return JSON.parse(child.stdout);
}

const grouped = (value) => Math.round(value).toLocaleString("en-US");
const counted = (value, what) => `${grouped(value)} ${what}${value === 1 ? "" : "s"}`;
const percent = (share, digits = 1) => (share === null ? "" : `${(share * 100).toFixed(digits)} %`);

/** Checks what we promise of a replay and lists what does not hold. */
function verdictsOf({ totals, conversations }) {
  const [ours, whole] = ["ours", "none"].map((name) => totals.find(({ policy }) => policy === name));
  const better = totals.filter(
    ({ policy, cost, misses }) => policy !== "none" && policy !== "ours" && cost < ours.cost && misses < ours.misses,
  );
  const costOf = ({ requests }) => requests.reduce((sum, { cost }) => sum + cost, 0);
  const dearer = conversations.filter(({ played }) => {
    const [none, own] = ["none", "ours"].map((name) => played.find(({ policy }) => policy === name));
    return !own.fired && costOf(own) !== costOf(none);
  });
  return [
    verdict(
      better.length === 0,
      "no listed policy is both cheaper and lower in misses",
      better.map((one) => one.policy),
    ),
    verdict(ours.cost <= whole.cost, "pruning costs no more than doing nothing", []),
    verdict(
      dearer.length === 0,
      "where pruning did not act, cost is that of none",
      dearer.map((one) => one.name),
    ),
  ];
}

function verdict(holds, text, exceptions) {
  return holds ? `Holds: ${text}` : ["MISSED:", text, ...exceptions].join(" ");
}

function tableOf(set, window, replayed) {
  const { totals, conversations, prices } = replayed;
  const [none] = totals;
  return {
    title: `${set}, window ${grouped(window)}, prices ${prices.name}`,
    notes: [
      `${counted(conversations.length, "conversation")}, ${counted(none.requests, "request")}; ${prices.source}.`,
      ...verdictsOf(replayed).map((text) => `${text}.`),
    ],
    columns: [
      "policy",
      "acted in",
      "tokens",
      `saved (expected: ${EXPECTED})`,
      "net of recalls",
      "cost",
      "net cost",
      "over",
      "missed",
      "unchanged",
    ],
    rows: totals.map((one) => [
      one.policy,
      one.fired,
      grouped(one.tokens),
      percent(1 - one.tokens / none.tokens),
      percent(1 - (one.tokens + one.recallTokens) / none.tokens),
      `$${one.cost.toFixed(3)}`,
      `$${(one.cost + one.recallCost).toFixed(3)}`,
      one.overflows,
      one.misses,
      percent(one.unchangedShareFired ?? 1, 2),
    ]),
  };
}

const sumOf = ({ requests }, of) => requests.reduce((total, request) => total + of(request), 0);
const policyOf = ({ played }, name) => played.find(({ policy }) => policy === name);

/** The same weighed by bytes, so that large requests count more: for each conversation in which we acted. */
function sharesByBytes({ conversations }) {
  const ours = conversations.map((one) => policyOf(one, "ours")).filter(({ fired }) => fired);
  return ours.map(
    (one) => sumOf(one, ({ unchangedBytes }) => unchangedBytes) / sumOf(one, ({ previousBytes }) => previousBytes),
  );
}

/** Every second conversation of the largest set: numbers of ours were chosen on the others. */
function halvesOf(set, window, { conversations }) {
  return ["chosen on", "held out"].map((half, at) => {
    const some = conversations.filter((_, index) => index % 2 === at);
    const [none, ours] = ["none", "ours"].map((name) => some.map((one) => policyOf(one, name)));
    const total = (played, of) => played.reduce((sum, one) => sum + sumOf(one, of), 0);
    const fired = ours.filter((one) => one.fired);
    const shareOf = ({ requests: [, ...later] }) =>
      later.reduce((sum, { unchangedBytes, previousBytes }) => sum + unchangedBytes / previousBytes, 0) / later.length;
    const share = fired.reduce((sum, one) => sum + shareOf(one), 0) / fired.length;
    const dollars = (played) => `$${total(played, ({ cost }) => cost).toFixed(3)}`;
    const over = (played) => total(played, ({ isOver }) => Number(isOver));
    const missed = total(ours, ({ missed: texts }) => Number(texts.length > 0));
    return [
      `${set}, ${grouped(window)}`,
      half,
      some.length,
      fired.length,
      dollars(none),
      dollars(ours),
      over(none),
      over(ours),
      missed,
      percent(share, 2),
    ];
  });
}

const HALVES = {
  title: "Ours on conversations that are held out",
  columns: [
    "set, window",
    "half",
    "conversations",
    "acted in",
    "cost of none",
    "cost",
    "over with none",
    "over",
    "missed",
    "unchanged",
  ],
  notes: ["The first, third, fifth ... conversation by name are those that numbers were chosen on. Prices anthropic."],
};

/** How much of a request stays as it was, over all conversations in which we acted, whatever the window. */
function stability(results) {
  // Prices do not change what is sent, so one of them is enough.
  const played = results.filter(({ prices }) => prices === "anthropic");
  const ours = played
    .map(({ totals }) => totals.find(({ policy }) => policy === "ours"))
    .filter(({ fired }) => fired > 0);
  const acted = ours.reduce((sum, { fired }) => sum + fired, 0);
  const share = ours.reduce((sum, one) => sum + one.fired * one.unchangedShareFired, 0) / acted;
  const byBytes = played.flatMap((one) => one.byBytes).reduce((sum, each) => sum + each, 0) / acted;
  const goal = `${share >= MIN_UNCHANGED ? "" : "MISSED: "}>= ${percent(MIN_UNCHANGED, 0)}`;
  return {
    title: "Prompt-cache stability of ours",
    notes: [
      "The share of a request's bytes with which the next one begins too: on average over the requests of a conversation, then over those in which pruning acted, at either window.",
    ],
    columns: ["conversations in which it acted", "unchanged", "must reach", "weighed by bytes"],
    rows: acted === 0 ? [] : [[acted, percent(share, 2), goal, percent(byBytes, 2)]],
  };
}

/** Puts the tables into the page that publishes them. */
function publish(tables) {
  const page = readFileSync(PAGE, "utf8");
  const [from, to] = [page.indexOf(START), page.indexOf(END)];
  if (from < 0 || to < from) throw new Error(`${PAGE} has no place for the tables`);
  writeFileSync(PAGE, `${page.slice(0, from)}${START}\n\n${markdownTables(tables)}\n${page.slice(to)}`);
}

/** Replays the corpus at small windows. */
export async function benchReplay(options, { workDir, progress }) {
  if (!hasCorpus) {
    progress(`replay: no corpus at ${corpusFolder}: set SPILLWAY_CORPUS to a folder with ${SETS.join("/, ")}/`);
    return { tables: [], results: { corpus: null }, faults: [] };
  }
  const [tables, results, faults, halves] = [[], [], [], []];
  for (const set of SETS) {
    const files = filesOf(set, workDir, options.smoke);
    if (files === null) {
      progress(`replay: ${corpusFolder} has no ${set}`);
      continue;
    }
    for (const window of options.smoke ? WINDOWS.slice(0, 1) : WINDOWS) {
      for (const prices of options.smoke ? ["anthropic"] : ["anthropic", "openai"]) {
        progress(`replay of ${set}, window ${window}, prices ${prices}`);
        const replayed = replay(options, files, window, prices);
        if (replayed.conversations.length === 0) faults.push(`no conversation was found in ${set}`);
        tables.push(tableOf(set, window, replayed));
        const { totals } = replayed;
        if (set === SETS[0] && prices === "anthropic") halves.push(...halvesOf(set, window, replayed));
        results.push({ set, window, prices, totals, byBytes: sharesByBytes(replayed), verdicts: verdictsOf(replayed) });
      }
    }
  }
  // A few conversations are not enough for an average.
  if (!options.smoke) tables.push(stability(results), { ...HALVES, rows: halves });
  if (options.docs && !options.smoke) publish(tables);
  return { tables, results, faults };
}

await runAlone(import.meta.url, benchReplay);
