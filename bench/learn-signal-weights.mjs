// Learns the weights of the strategy `signal` from logs whose truth is known, in two steps: what a line's own features
// are worth, then what its surroundings are worth. Everything is deterministic.
//   node bench/learn-signal-weights.mjs    writes src/stages/clamp/signal/weights.ts, learned from all groups, and
//                                          bench/signal-folds.json: weights each learned without one quarter of the
//                                          groups, with which bench/retention.mjs scores that quarter
// Reads the corpus from SPILLWAY_CORPUS (default ../shared/corpus beside the project). Takes some minutes.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { hasCorpus, readCases, readPrefixed } from "./corpus.mjs";
import { code, contextData, fit, levelsOf, lineData } from "./signal-training.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const FOLDS = 4;
/** How much a log of a set counts: the few of cidiff stand for a whole kind of log. */
const SETS = { logchunks: 1, cidiff: 3 };
const PREFIXED_EVERY = 3;
const PREFIXED_WEIGHT = 0.5;
const LINE_FIT = { pull: 0.015, smooth: 0.03, ordered: code.ORDERED_LINE };
const CONTEXT_FIT = { pull: 0.01, smooth: 0.05, ordered: code.ORDERED };

if (!hasCorpus) {
  console.error("no corpus: set SPILLWAY_CORPUS");
  process.exit(2);
}
const cases = Object.entries(SETS).flatMap(([set, weight]) => readCases(set).map((one) => ({ ...one, weight })));
// Some logs once more, as another system would have logged them: where the end tells nothing, and with much before each line.
const others = readPrefixed("logchunks").filter((_, index) => index % PREFIXED_EVERY === 0);
cases.push(...others.map((one) => ({ ...one, weight: PREFIXED_WEIGHT })));
for (const one of cases) one.line = lineData(one.raw(), one.truth, 7);
const groups = [...new Set(cases.map(({ group }) => group))].sort();
const learnable = cases.filter(({ line }) => line.shares.size > 0);
console.error(`${learnable.length} logs of ${groups.length} groups`);

const rounded = (weights) => Array.from(weights, (weight) => Math.round(weight * 100));

function learn(logs) {
  const own = logs.map(({ line, weight }) => ({ data: line, weight }));
  code.LINE_WEIGHTS.set(rounded(fit(own, code.LINE_FEATURES, LINE_FIT)).map((weight) => weight / 100));
  const line = code.LINE_WEIGHTS.slice(0, code.LINE_FEATURES);
  code.LEVELS.set(levelsOf(own, line).map((level) => Math.round(level * 100) / 100));
  const around = logs.map((one) => ({ data: contextData(one.raw(), one.line), weight: one.weight }));
  const context = fit(around, code.CONTEXT_FEATURES, CONTEXT_FIT);
  return { line: rounded(line), levels: rounded(code.LEVELS), context: rounded(context) };
}

const all = learn(learnable);
const list = (name, comment, values) =>
  `/** ${comment} */\nexport const ${name}: Float32Array = hundredths([${values}]);\n`;
const file = `${root}src/stages/clamp/signal/weights.ts`;
writeFileSync(
  file,
  `// Learned: written by bench/learn-signal-weights.mjs, not by hand. Hundredths of natural logarithms.\n${[
    list("LINE_WEIGHTS", "What each feature of a line is worth, in the order of line-features.ts.", all.line),
    list("LEVELS", "Scores from which a line is of the next level.", all.levels),
    list("CONTEXT_WEIGHTS", "What each step of its surroundings is worth, in the order of context.ts.", all.context),
  ].join("\n")}
function hundredths(values: readonly number[]): Float32Array {
  return Float32Array.from(values, (value) => value / 100);
}
`,
);
execFileSync("npx", ["biome", "format", "--write", file], { cwd: root, stdio: "ignore" });
console.error("weights.ts is written");

const folds = [];
for (let fold = 0; fold < FOLDS; fold++) {
  const held = groups.filter((_, index) => index % FOLDS === fold);
  folds.push({ groups: held, ...learn(learnable.filter(({ group }) => !held.includes(group))) });
  console.error(`fold ${fold + 1} of ${FOLDS}`);
}
writeFileSync(
  `${root}bench/signal-folds.json`,
  `${folds.map((fold, index) => `${index === 0 ? "[" : ""}${JSON.stringify(fold)}${index === FOLDS - 1 ? "]" : ","}`).join("\n")}\n`,
);
