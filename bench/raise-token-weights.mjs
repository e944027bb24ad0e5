// Raises the weights in src/stages/measure/token-weights.ts until the estimate is at or above three real counts (o200k,
// cl100k and ai-tokenizer's claude vocabulary) on texts that nobody writes: one character again and again, two or three of
// them in turn, random punctuation, white space, box drawing. Weights that real logs use least are raised first.
//   node bench/raise-token-weights.mjs          raises and writes
//   node bench/raise-token-weights.mjs --check  only prints what is under, and the margins on real logs
// Run it after bench/learn-token-weights.mjs. Reads the corpus from SPILLWAY_CORPUS (default ../shared/corpus).
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { Tokenizer } from "ai-tokenizer";
import * as claude from "ai-tokenizer/encoding/claude";
import { buildSync } from "esbuild";
import { countTokens as countCl100k } from "gpt-tokenizer/encoding/cl100k_base";
import { countTokens as countO200k } from "gpt-tokenizer/encoding/o200k_base";

const root = fileURLToPath(new URL("..", import.meta.url));
const corpus = process.env.SPILLWAY_CORPUS ?? `${root}../shared/corpus`;
const measure = `${root}src/stages/measure/`;
const unitsPerToken = 1024;
const load = async (file) => {
  const built = buildSync({ entryPoints: [measure + file], bundle: true, format: "esm", write: false });
  return import(`data:text/javascript;base64,${Buffer.from(built.outputFiles[0].contents).toString("base64")}`);
};
const { tokenClasses, spreadOf, groupOf } = await load("estimate-tokens.ts");
const { singleTokens } = await load("single-tokens.ts");
const { oddShapes, tokenSamples } = await load("../../../test/token-samples.ts");
const { placeWeights, joinWeights, mixWeights, changeWeight } = await load("token-weights.ts");

const claudeCounter = new Tokenizer({ ...claude, special_tokens: {} });
const plain = { disallowedSpecial: new Set() };
const realCount = (text) =>
  Math.max(countO200k(text, plain), countCl100k(text, plain), claudeCounter.encode(text).length);

// ---- features: places in runs, joins of runs, changes within a class ----
const classes = new Uint8Array(0x10000).fill(tokenClasses.length - 1);
for (const [from, to, data] of singleTokens)
  Buffer.from(data, "base64").forEach((bits, at) => {
    for (let place = 0; place < 4 && from + at * 4 + place <= to; place++)
      classes[from + at * 4 + place] = tokenClasses.length - ((bits >> (2 * place)) & 3);
  });
tokenClasses.forEach(({ ranges }, index) => {
  for (const [from, to] of ranges) classes.fill(index, from, to + 1);
});
const firstWide = tokenClasses.findIndex(({ name }) => name === "latin");
const runOf = (index) => tokenClasses[index].run ?? tokenClasses[index].name;
const firstPlace = [];
let features = 0;
for (const [index, { places }] of tokenClasses.entries()) {
  // Small letters share the weights of their places.
  const same = runOf(index) === "lower" ? tokenClasses.findIndex((_, other) => runOf(other) === "lower") : index;
  firstPlace.push(same < index ? firstPlace[same] : features);
  if (same === index) features += places;
}
const firstJoin = features;
const side = firstWide + 1;
features += side * side;
const firstMix = features;
features += tokenClasses.length;
const change = features++;
const weights = new Float64Array(features);
for (const [index, list] of placeWeights.entries())
  list.forEach((value, at) => (weights[firstPlace[index] + at] = value));
for (const [left, row] of joinWeights.entries())
  row.forEach((value, at) => (weights[firstJoin + left * side + at] = value));
for (const [index, value] of mixWeights.entries()) weights[firstMix + index] = value;
weights[change] = changeWeight;

const groups = Uint8Array.from(classes, (_, unit) => groupOf(unit));

/** Letters outside of ASCII have no joins between them. */
const isScript = (index) => /^(latin|cyrillic|rare cyrillic|(one|two|three) tokens?)$/.test(tokenClasses[index].name);
/** Letters of a script follow each other as they like. */
const mixes = (index) => index < firstWide || /^(bar|symbol)$/.test(tokenClasses[index].name);

/** How often each feature stands in a text. */
function describe(text) {
  const counts = new Map();
  const add = (feature) => counts.set(feature, (counts.get(feature) ?? 0) + 1);
  let open = -1;
  let place = 0;
  let changes = 0;
  for (let at = 0; at < text.length; at++) {
    const [before, group] = [groups[text.charCodeAt(at - 1)] ?? 0, groups[text.charCodeAt(at)]];
    changes = before !== group && before > 0 && group > 0 ? changes + 1 : 0;
    if (changes > 6) add(change);
    const next = classes[text.charCodeAt(at)];
    const { run, places } = tokenClasses[next];
    const continues = open >= 0 && runOf(open) === runOf(next);
    if (open >= 0 && (open !== next || run !== undefined) && !(isScript(open) && isScript(next)))
      add(firstJoin + Math.min(open, firstWide) * side + Math.min(next, firstWide));
    else if (open === next && mixes(next) && spreadOf(text.charCodeAt(at)) !== spreadOf(text.charCodeAt(at - 1)))
      add(firstMix + next);
    place = continues ? Math.min(place + 1, places - 1) : 0;
    open = next;
    add(firstPlace[next] + place);
  }
  return counts;
}
const sumOf = (counts) => Array.from(counts).reduce((sum, [feature, count]) => sum + weights[feature] * count, 0);

// ---- real text: what each weight costs there ----
const cut = (text, from) => text.slice(from, from + 4000);
const folder = (name, every) =>
  readdirSync(`${corpus}/${name}`)
    .filter((_, index) => index % every === 0)
    .map((file) => gunzipSync(readFileSync(`${corpus}/${name}/${file}`)).toString());
const logs = [
  ...folder("logchunks/logs", 4).map((text) => cut(text, text.length / 2)),
  ...folder("mini-swe", 6).map((text) => cut(text, 20_000)),
]
  .filter((text) => text.length > 2000)
  .map((text) => ({ counts: describe(text), o200k: countO200k(text, plain), real: realCount(text) }));
const usage = new Float64Array(features).fill(0.02);
for (const { counts } of logs) for (const [feature, count] of counts) usage[feature] += count;
// JSON and scripts are as frequent as logs where tools answer.
const usual = /^(json|json pretty|minified script|csv numbers|times and levels|addresses|indents|english)$/;
for (const [kind, text] of Object.entries(tokenSamples(3, 40_000)))
  if (usual.test(kind)) for (const [feature, count] of describe(text)) usage[feature] += count;
// It says the most of what nobody writes.
usage[change] *= 0.3;
function margins() {
  const ratios = logs.map(({ counts, o200k }) => sumOf(counts) / unitsPerToken / o200k).sort((a, b) => a - b);
  const under = logs.filter(({ counts, real }) => sumOf(counts) < real * unitsPerToken).length;
  const at = (share) => ratios[Math.floor(ratios.length * share)].toFixed(3);
  return `real logs: median ${at(0.5)}, ninth decile ${at(0.9)} of o200k; ${under} of ${logs.length} under`;
}

// ---- raise ----
const shapes = Array.from(oddShapes(7), ([name, text]) => ({ name, counts: describe(text), real: realCount(text) }));
const missing = ({ counts, real }) => real * unitsPerToken - sumOf(counts);
const isUnder = (shape) => missing(shape) > 0;
console.log(`${shapes.length} shapes, ${shapes.filter(isUnder).length} under; ${margins()}`);
const most = (feature) =>
  feature >= firstMix + firstWide ? 3400 : feature >= firstJoin ? 2048 : feature >= firstPlace[firstWide] ? 2600 : 1100;
if (!process.argv.includes("--check")) {
  for (let pass = 0; pass < 8 && shapes.some(isUnder); pass++) {
    for (const shape of shapes.filter(isUnder)) {
      let left = missing(shape);
      // Others have raised its weights by now.
      if (left <= 0) continue;
      const byCost = [...shape.counts].filter(([, count]) => count > 2);
      byCost.sort(([one, many], [other, few]) => few / usage[other] - many / usage[one]);
      for (const [feature, count] of byCost) {
        const more = Math.min(Math.max(0, most(feature) - weights[feature]), left / count + 1);
        weights[feature] += more;
        left -= more * count;
        if (left <= 0) break;
      }
    }
  }
  const whole = Array.from(weights, Math.ceil);
  const rows = (list) => list.map((row) => `  [${row.join(", ")}],`).join("\n");
  const places = tokenClasses.map((tokenClass, index) =>
    whole.slice(firstPlace[index], firstPlace[index] + tokenClass.places),
  );
  const joins = Array.from({ length: side }, (_, left) =>
    whole.slice(firstJoin + left * side, firstJoin + (left + 1) * side),
  );
  const file = `${measure}token-weights.ts`;
  const [notes] = readFileSync(file, "utf8").split("/** The weight of each place");
  writeFileSync(
    file,
    `${notes}/** The weight of each place of a run, for each class in the order of \`tokenClasses\`. The last weight is for all later places. */\n` +
      `export const placeWeights: readonly (readonly number[])[] = [\n${rows(places)}\n];\n\n` +
      `/** What it adds if one run ends and another begins, by the class on the left, then the class on the right. */\n` +
      `export const joinWeights: readonly (readonly number[])[] = [\n${rows(joins)}\n];\n\n` +
      `/** What it adds if another character of the same class follows, by class. */\n` +
      `export const mixWeights: readonly number[] = [${whole.slice(firstMix, change).join(", ")}];\n\n` +
      `/** What each change from one group of characters to another adds, from the seventh in a row on. */\n` +
      `export const changeWeight: number = ${whole[change]};\n`,
  );
}
const still = shapes.filter(isUnder).sort((one, other) => missing(other) / other.real - missing(one) / one.real);
console.log(`${still.length} under; ${margins()}`);
for (const shape of still.slice(0, 20))
  console.log(`  ${(sumOf(shape.counts) / unitsPerToken / shape.real).toFixed(2)} ${shape.name}`);
