// How much of what explains a failure is still there after an output was cut: every way to cut beside every other, on
// real logs with known truth (see corpus.mjs for the scoring). `npm run bench:retention`
//   --set NAME      only this set; may be repeated
//   --split I/N     only groups of which this is the I-th of N parts, from 0
//   --every N       only every N-th case of sets that are not small: a quick look
//   --strategy NAME also this strategy of Spillway's
//   --own           only Spillway's rows: faster
//   --cases         what each case came to in Spillway's rows
//   --json          figures as JSON
//   --write         also into docs/reference/retention.md: each section in the place of the one before, the others stay. To score
//                   all sets beside all peers takes hours, most of them for one peer: name the sets that changed
// The weights of `signal` were learned from these logs: each log is scored with weights that were learned without its
// group (signal-folds.json). The other sets were not learned from.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import {
  cleanText,
  corpusFolder,
  factoryFolder,
  hasCorpus,
  readCases,
  readPrefixed,
  shareKept,
  summarize,
} from "./corpus.mjs";
import { peerCalls } from "./peers.mjs";
import { baselines } from "./retention-baselines.mjs";
import { scorePassing } from "./retention-passing.mjs";
import { code } from "./signal-training.mjs";

const BUDGETS = [4000, 8000, 20_000, 50_000];
/** The sets with the budgets that suit their sizes, and what their outputs are. */
const SETS = {
  logchunks: { what: "logs" },
  "logchunks-prefixed": { what: "logs", read: () => readPrefixed("logchunks") },
  cidiff: { what: "logs" },
  bugswarm: { what: "logs" },
  "rpm-builds": { what: "logs" },
  logreduce: { what: "logs", budgets: [2000, 4000, 8000] },
  "bgl-alerts": { what: "parts of a server log", budgets: [4000, 8000, 20_000] },
  compilers: { what: "outputs", budgets: [1000, 2000, 4000] },
  "k8s-questions": { what: "outputs", budgets: [2000, 4000, 8000] },
  "json-questions": { what: "JSON answers", budgets: [2000, 4000, 8000], folder: factoryFolder },
  kinds: {
    what: "outputs that are no logs,",
    budgets: [2000, 4000, 8000],
    folder: fileURLToPath(new URL("../test", import.meta.url)),
  },
  "made-logs": { what: "made logs", folder: factoryFolder },
  tools: {
    what: "outputs of tools, each with weights that did not see the tool,",
    budgets: [2000, 4000, 8000],
    folder: factoryFolder,
  },
};
/** Sets with fewer cases are always scored whole. */
const SMALL_SET = 100;
const budgetsOf = (set) => SETS[set]?.budgets ?? BUDGETS;
const PAGE = new URL("../docs/reference/retention.md", import.meta.url);

const { values: options } = parseArgs({
  options: {
    set: { type: "string", multiple: true, default: Object.keys(SETS) },
    split: { type: "string", default: "0/1" },
    every: { type: "string", default: "1" },
    strategy: { type: "string", multiple: true, default: [] },
    own: { type: "boolean", default: false },
    cases: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    write: { type: "boolean", default: false },
  },
});
if (!hasCorpus) {
  console.error("no corpus: set SPILLWAY_CORPUS");
  process.exit(2);
}

const folds = JSON.parse(readFileSync(new URL("./signal-folds.json", import.meta.url), "utf8"));
const shipped = { line: [...code.LINE_WEIGHTS], levels: [...code.LEVELS], context: [...code.CONTEXT_WEIGHTS] };
function useWeights({ line, levels, context }, scale) {
  code.LINE_WEIGHTS.set(line.map((weight) => weight * scale));
  code.LEVELS.set(levels.map((level) => level * scale));
  code.CONTEXT_WEIGHTS.set(context.map((weight) => weight * scale));
}

/** What a model would get from Spillway, folded as by default. */
function clamp(raw, limits, strategy, { exitCode = null, tool = "run_command", command, focus } = {}) {
  const admission = code.startAdmission({
    scope: "local",
    tool,
    session: null,
    call: null,
    limits,
    strategy,
    headShare: 0.3,
    fold: true,
    counter: code.estimateCounter,
    exitCode,
    ...(command !== undefined && { command }),
    ...(focus !== undefined && { focus }),
  });
  admission.add(raw);
  const { text, receipt } = code.writeEnded(admission.end());
  if (receipt.faults !== undefined) throw new Error(`${strategy.name}: ${receipt.faults}`);
  if (text.length > limits.maxChars) throw new Error(`${strategy.name} gave ${text.length} of ${limits.maxChars}`);
  return text;
}

const named = (name) => {
  const strategy = code.strategies.find((one) => one.name === name);
  if (strategy === undefined) throw new Error(`no strategy ${name}`);
  return strategy;
};
const own = [
  ...["signal", "head-tail", ...options.strategy].map((name) => ({
    name: `spillway ${name}`,
    cut: (_, maxChars, one) => clamp(one.bytes, { maxChars }, named(name)),
  })),
  {
    name: "spillway auto, tool and exit code known",
    cut: (_, maxChars, one) => clamp(one.bytes, { maxChars }, named("auto"), one),
  },
  {
    name: "spillway auto, question as intent",
    asks: true,
    cut: (_, maxChars, one) =>
      clamp(one.bytes, { maxChars }, named("auto"), { ...one, focus: code.compileIntent({ user: one.question }) }),
  },
  {
    name: "spillway auto, question as focus",
    asks: true,
    cut: (_, maxChars, one) =>
      clamp(one.bytes, { maxChars }, named("auto"), { ...one, focus: code.compileFocus(one.question) }),
  },
];
const peers = await Promise.all(
  peerCalls
    .filter(({ installed }) => installed)
    .map(async ({ label, load, mostChars }) => {
      const call = await load(tmpdir());
      return {
        name: mostChars === Infinity ? label : `${label}, only outputs up to ${mostChars / 1000} KB`,
        mostChars,
        cut: async (text, maxChars, one) => (await call(text, { maxBytes: maxChars, maxLines: 1_000_000 }, one)).text,
      };
    }),
);
const ways = options.own ? own : [...own, ...baselines, ...peers];
/** What `spillway run` does without any setting. */
const defaults = [
  { name: "spillway run, as shipped", cut: (_, one) => clamp(one.bytes, SHIPPED, named("auto")) },
  { name: "head-tail, same limits", cut: (_, one) => clamp(one.bytes, SHIPPED, named("head-tail")) },
  { name: "tail, same limits", cut: (text) => text.split("\n").slice(-200).join("\n").slice(-20_000) },
].filter(({ name }) => name !== "spillway run, as shipped" || code.strategies.some((one) => one.name === "auto"));
const SHIPPED = { maxChars: 20_000, maxLines: 200 };

const [part, parts] = options.split.split("/").map(Number);
const results = [];
const sets = options.set.filter(
  (set) => SETS[set]?.read !== undefined || existsSync(`${SETS[set]?.folder ?? corpusFolder}/${set}/cases.jsonl`),
);
for (const set of sets) {
  const all = SETS[set]?.read?.() ?? readCases(set, SETS[set]?.folder);
  const every = all.length < SMALL_SET ? 1 : Number(options.every);
  const some = all.filter((_, index) => index % every === 0);
  const groups = [...new Set(some.map(({ group }) => group))].sort();
  const cases = some.filter(({ group }) => groups.indexOf(group) % parts === part);
  const shares = new Map();
  const note = (way, budget, fold, share, group) => {
    const key = `${way}|${budget}`;
    if (!shares.has(key)) shares.set(key, []);
    shares.get(key).push({ share, fold, group });
  };
  for (const one of cases) {
    const fold = folds.findIndex((each) => each.groups.includes(one.group));
    if (fold === -1) useWeights(shipped, 1);
    else useWeights(folds[fold], 0.01);
    one.bytes = one.raw();
    const text = cleanText(one.bytes.toString());
    const lines = [];
    for (const { name, cut, fixed, asks, mostChars = Infinity } of ways) {
      if ((asks && one.question === undefined) || text.length > mostChars) continue;
      for (const budget of budgetsOf(set)) {
        if (fixed !== undefined && fixed !== budget) continue;
        const share = shareKept(one, await cut(text, budget, one));
        note(name, budget, fold, share, one.group);
        if (name.startsWith("spillway")) lines.push(`${name} ${budget}: ${(100 * share).toFixed(0)}`);
      }
    }
    if (options.cases) process.stderr.write(`${set} ${one.id}: ${lines.join(", ")}\n`);
    for (const { name, cut } of defaults) note(name, "shipped", fold, shareKept(one, await cut(text, one)));
    one.bytes = null;
  }
  for (const [key, scored] of shares) {
    const [way, budget] = key.split("|");
    const byFold = folds.map((_, fold) => scored.filter((one) => one.fold === fold).map(({ share }) => share));
    results.push({
      set,
      cases: cases.length,
      groups: new Set(cases.map(({ group }) => group)).size,
      way,
      budget,
      ...summarize(scored.map(({ share }) => share)),
      folds: byFold.filter((one) => one.length > 0).map(summarize),
      byGroup: Object.fromEntries(
        [...new Set(scored.map(({ group }) => group))].map((group) => [
          group,
          summarize(scored.filter((one) => one.group === group).map(({ share }) => share)),
        ]),
      ),
    });
  }
  process.stderr.write(`${set}: ${cases.length} logs\n`);
}

const cell = (found) => (found === undefined ? "" : `${found.mean.toFixed(1)} / ${found.all.toFixed(1)}`);
const find = (set, way, budget) =>
  results.find((one) => one.set === set && one.way === way && one.budget === String(budget));
const table = (columns, rows) => {
  const line = (cells) => `| ${cells.join(" | ")} |`;
  return [line(columns), line(columns.map(() => "---")), ...rows.map(line)].join("\n");
};
const sections = sets.map((set) => {
  const { cases, groups } = results.find((one) => one.set === set);
  const budgets = budgetsOf(set);
  const rows = ways
    .map(({ name }) => [name, ...budgets.map((budget) => cell(find(set, name, budget)))])
    .filter((row) => row.slice(1).some((each) => each !== ""));
  const split = find(set, "spillway signal", 8000)?.folds ?? [];
  const bySplit =
    split.length > 1 ? `\n\n\`signal\` at 8,000 characters by part of the groups: ${split.map(cell).join(", ")}.` : "";
  return `### ${set}: ${cases} ${SETS[set]?.what ?? "outputs"} of ${groups} groups\n\n${table(
    ["", ...budgets.map((budget) => `${budget / 1000}k characters`)],
    rows,
  )}${bySplit}`;
});
/** Each tool of the factory by itself, and the mean over tools: a tool with many cases counts no more than another. */
function toolSection(set) {
  const budgets = budgetsOf(set);
  const found = budgets.map((budget) => find(set, "spillway signal", budget).byGroup);
  const tools = Object.keys(found[0]).sort();
  const means = found.map((byGroup) => tools.reduce((sum, tool) => sum + byGroup[tool].mean, 0) / tools.length);
  const rows = tools.map((tool) => [tool, ...found.map((byGroup) => cell(byGroup[tool]))]);
  return `### ${set}, tool by tool: \`signal\` none of them learned from\n\n${table(
    ["", ...budgets.map((budget) => `${budget / 1000}k characters`)],
    [["mean over tools", ...means.map((mean) => mean.toFixed(1))], ...rows],
  )}`;
}
if (sets.includes("tools")) sections.push(toolSection("tools"));
const shippedRows = defaults.map(({ name }) => [name, ...sets.map((set) => cell(find(set, name, "shipped")))]);
sections.push(`### As shipped: 20,000 characters and 200 lines\n\n${table(["", ...sets], shippedRows)}`);
if (options.split === "0/1" && !options.own) {
  useWeights(shipped, 1);
  const known = {
    name: "spillway signal, exit code 0 known",
    cut: (_, maxChars, one) => clamp(one.bytes, { maxChars }, named("signal"), { exitCode: 0 }),
  };
  const shown = [
    known,
    ...ways.filter(({ name }) => ["spillway signal", "spillway head-tail", "tail", "30/70"].includes(name)),
  ];
  const passing = await scorePassing(shown, BUDGETS);
  results.push(...passing);
  const rows = shown.map(({ name }) => [
    name,
    ...BUDGETS.map((budget) => {
      const found = passing.find((one) => one.way === name && one.budget === String(budget));
      return `${found.warnings.toFixed(1)} / ${found.summary.toFixed(1)}`;
    }),
  ]);
  const invented = passing.filter(({ way }) => way.startsWith("spillway")).reduce((sum, one) => sum + one.invented, 0);
  sections.push(
    `### cidiff-pass: ${passing[0].cases} logs in which nothing failed\n\nShare of the sorts of warnings kept / share of the last eight lines kept. Lines that Spillway showed, its markers aside, and that the log does not have: ${invented}.\n\n${table(
      ["", ...BUDGETS.map((budget) => `${budget / 1000}k characters`)],
      rows,
    )}`,
  );
}
const page = `${sections.join("\n\n")}\n`;
process.stdout.write(options.json ? `${JSON.stringify(results, null, 2)}\n` : page);
/** The page with a section in the place of the one of the same name. With --own the other ways' rows stay, if they are of the same outputs. */
function withSection(text, section) {
  const name = `\n${section.slice(0, section.indexOf(":") + 1)}`;
  const from = text.indexOf(name) + 1;
  if (from === 0) return text.replace("<!-- retention:end -->", `${section}\n\n<!-- retention:end -->`);
  const ends = ["\n#", "\n<!--"].map((mark) => text.indexOf(mark, from)).filter((at) => at !== -1);
  const to = Math.min(...ends, text.length - 1);
  const old = text.slice(from, to).trimEnd();
  const counts = (each) => each.split("\n")[0].match(/\d+/g)?.join();
  const isSame = options.own && counts(old) === counts(section);
  const rowName = (line) => line.split(" | ")[0];
  const fresh = new Set(section.split("\n").map(rowName));
  const kept = isSame ? old.split("\n").filter((line) => line.startsWith("| ") && !fresh.has(rowName(line))) : [];
  const lastRow = section.lastIndexOf("\n| ");
  const after = section.indexOf("\n", lastRow + 1);
  const end = after === -1 ? section.length : after;
  const merged = [section.slice(0, end), ...kept].join("\n") + section.slice(end);
  return `${text.slice(0, from)}${merged}\n${text.slice(to)}`;
}
if (options.write) {
  if (options.split !== "0/1" || options.every !== "1")
    throw new Error("--write needs all outputs of a set: leave out --split and --every");
  // The table of what is shipped has one column for each of three sets.
  const isWhole = ["logchunks", "cidiff", "bugswarm"].every((set) => sets.includes(set));
  const made = sections.filter((section) => isWhole || !section.startsWith("### As shipped"));
  writeFileSync(PAGE, made.reduce(withSection, readFileSync(PAGE, "utf8")));
}
process.exit(0);
