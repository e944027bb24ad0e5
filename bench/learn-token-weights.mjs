// Derives src/stages/measure/token-weights.ts: weights with which the estimate stays at or above the larger of two real
// counts (o200k and ai-tokenizer's claude vocabulary) on nearly every sample, and otherwise as near to it as it can.
//   node bench/learn-token-weights.mjs          learns and writes; then run bench/raise-token-weights.mjs
//   node bench/learn-token-weights.mjs --check  only prints the margins of the weights that are there
// Reads the corpus from SPILLWAY_CORPUS (default ../shared/corpus beside the project) and text in node_modules.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { Tokenizer } from "ai-tokenizer";
import * as claude from "ai-tokenizer/encoding/claude";
import { buildSync, transformSync } from "esbuild";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";

const root = fileURLToPath(new URL("..", import.meta.url));
const corpus = process.env.SPILLWAY_CORPUS ?? `${root}../shared/corpus`;
const measure = `${root}src/stages/measure/`;
const weightsFile = `${measure}token-weights.ts`;
const unitsPerToken = 1024;
/** An under-estimate weighs this many times an over-estimate of the same share. */
const underWeight = 60;
const sampleChars = 3000;

if (!existsSync(corpus)) {
  console.error(`no corpus at ${corpus}: set SPILLWAY_CORPUS`);
  process.exit(2);
}
const load = async (file) => {
  const built = buildSync({ entryPoints: [measure + file], bundle: true, format: "esm", write: false });
  return import(`data:text/javascript;base64,${Buffer.from(built.outputFiles[0].contents).toString("base64")}`);
};
const { tokenClasses } = await load("estimate-tokens.ts");
const { singleTokens } = await load("single-tokens.ts");
const { tokenSamples, seededRandom } = await load("../../../test/token-samples.ts");
const firstWideClass = tokenClasses.findIndex(({ name }) => name === "latin");
const runOf = ({ name, run }) => run ?? name;
const classes = new Uint8Array(0x10000).fill(tokenClasses.length - 1);
for (const [from, to, data] of singleTokens)
  Buffer.from(data, "base64").forEach((bits, at) => {
    for (let place = 0; place < 4 && from + at * 4 + place <= to; place++)
      classes[from + at * 4 + place] = tokenClasses.length - ((bits >> (2 * place)) & 3);
  });
tokenClasses.forEach(({ ranges }, index) => {
  for (const [from, to] of ranges) classes.fill(index, from, to + 1);
});
const random = seededRandom(7);

// ---- samples: { kind, text, held } ----
const samples = [];
const add = (kind, text, held) =>
  text.length >= 2000 && samples.push({ kind, text: text.toWellFormed?.() ?? text, held });
const windows = (kind, text, most, held) => {
  if (text.length <= sampleChars) return add(kind, text, held);
  for (let i = 0; i < Math.min(most, Math.ceil(text.length / sampleChars)); i++) {
    const from = Math.floor(random() * (text.length - sampleChars));
    add(kind, text.slice(from, from + sampleChars), held);
  }
};
const unzip = (file) => gunzipSync(readFileSync(`${corpus}/${file}`)).toString();

for (const line of readFileSync(`${corpus}/logchunks/cases.jsonl`, "utf8").trim().split("\n")) {
  const { file, group } = JSON.parse(line);
  // Held out by repository, never by log.
  windows("ci logs", unzip(`logchunks/${file}`), 4, group.length % 3 === 0);
}
for (const [index, file] of readdirSync(`${corpus}/mini-swe`).entries()) {
  const run = JSON.parse(unzip(`mini-swe/${file}`));
  const text = (run.messages ?? run).map(({ content }) => contentText(content)).join("\n");
  windows("shell and code", text, 12, index % 3 === 0);
}
for (const [index, run] of JSON.parse(unzip("tau-bench/airline.json.gz")).entries()) {
  const tools = run.traj.filter(({ role }) => role === "tool").map(({ content }) => contentText(content));
  windows("tool json", tools.join("\n"), 6, index % 3 === 0);
}
windows("session json", unzip("pi-sessions/large-session.jsonl.gz"), 150, false);

function contentText(content) {
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.map((part) => part.text ?? "").join("\n") : "";
}

const modules = `${root}node_modules/`;
const script = readFileSync(`${modules}typescript/lib/_tsc.js`, "utf8");
windows("script", script, 150, false);
windows("script", readFileSync(`${modules}commander/lib/command.js`, "utf8"), 30, true);
windows("types", readFileSync(`${modules}typescript/lib/lib.dom.d.ts`, "utf8"), 60, false);
windows("types", readFileSync(`${modules}zod/v4/core/schemas.d.ts`, "utf8"), 30, true);
const minify = (source) => transformSync(source, { minify: true }).code;
for (const [file, held] of [
  ["yaml/dist/compose/resolve-flow-collection.js", true],
  ["yaml/dist/parse/lexer.js", false],
  ["commander/lib/command.js", false],
  ["zod/v4/core/schemas.js", false],
  ["zod/v4/core/to-json-schema.js", true],
  ["fast-check/lib/fast-check.js", true],
]) {
  if (existsSync(modules + file)) windows("minified", minify(readFileSync(modules + file, "utf8")), 40, held);
}
for (const name of readdirSync(modules)) {
  const readme = `${modules}${name}/README.md`;
  if (existsSync(readme)) windows("markdown", readFileSync(readme, "utf8"), 4, name.length % 3 === 0);
}
windows("lock file", readFileSync(`${root}package-lock.json`, "utf8"), 60, false);
for (const language of ["cs", "de", "es", "fr", "it", "ja", "ko", "pl", "pt-br", "ru", "tr", "zh-cn", "zh-tw"]) {
  const messages = JSON.parse(
    readFileSync(`${modules}typescript/lib/${language}/diagnosticMessages.generated.json`, "utf8"),
  );
  windows(`messages ${language}`, Object.values(messages).join("\n"), 12, false);
}
// Names of countries, languages and currencies from Node's own data: words of scripts for which little else is at hand.
for (const language of [
  "ar",
  "fa",
  "ur",
  "he",
  "hi",
  "mr",
  "bn",
  "ta",
  "te",
  "kn",
  "ml",
  "gu",
  "pa",
  "si",
  "th",
  "el",
  "ru",
  "uk",
  "bg",
  "ko",
  "ja",
  "zh",
  "vi",
  "tr",
  "pl",
  "hu",
  "ka",
  "hy",
  "am",
  "my",
  "km",
  "lo",
  "ne",
]) {
  const names = Intl.supportedValuesOf("currency").map((code) =>
    new Intl.DisplayNames([language], { type: "currency" }).of(code),
  );
  const regions = new Intl.DisplayNames([language], { type: "region" });
  const letters = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];
  for (const a of letters) for (const b of letters) if (regions.of(a + b) !== a + b) names.push(regions.of(a + b));
  windows(`names ${language}`, names.join(", "), 4, false);
}
for (let seed = 1; seed <= 8; seed++) {
  for (const [kind, text] of Object.entries(tokenSamples(seed, 2500)))
    samples.push({ kind: `made: ${kind}`, text, held: seed > 5 });
}

// ---- real counts ----
const claudeCounter = new Tokenizer({ ...claude, special_tokens: {} });
/** Both counters are quadratic in unbroken runs: count those in pieces. */
const inPieces = (text, counter) => text.match(/[\s\S]{1,600}/g).reduce((sum, piece) => sum + counter(piece), 0);
for (const sample of samples) {
  const broken =
    /^(?!made: (base64|hex|digits|random|spaces|newlines|combining|rare|private|controls|letters|punctuation))/.test(
      sample.kind,
    );
  const counted = (counter) => (broken ? counter(sample.text) : inPieces(sample.text, counter));
  sample.o200k = counted((text) => countTokens(text, { disallowedSpecial: new Set() }));
  sample.claude = counted((text) => claudeCounter.encode(text).length);
  sample.target = Math.max(sample.o200k, sample.claude);
}
console.log(`${samples.length} samples, ${samples.filter(({ held }) => held).length} held out`);

// ---- features: places in runs, joins of runs ----
const firstPlace = [];
let features = 0;
for (const [index, tokenClass] of tokenClasses.entries()) {
  // Small letters share the weights of their places.
  const same = runOf(tokenClass) === "lower" ? tokenClasses.findIndex((other) => runOf(other) === "lower") : index;
  firstPlace.push(same < index ? firstPlace[same] : features);
  if (same === index) features += tokenClass.places;
}
const firstJoin = features;
const joinSide = firstWideClass + 1;
features += joinSide * joinSide;
const floor = (feature) => (feature >= firstJoin ? 0 : feature < firstPlace[firstWideClass] ? 16 : 48) / unitsPerToken;

/** Within a class there is none, except between the letters of a word. */
const hasJoin = (open, next) =>
  (open !== next || tokenClasses[open].run !== undefined) && !(isScript(open) && isScript(next));
const isScript = (index) => /^(latin|cyrillic|rare cyrillic|(one|two|three) tokens?)$/.test(tokenClasses[index].name);

function describe(text) {
  const row = new Float64Array(features);
  let open = -1;
  let place = 0;
  for (let index = 0; index < text.length; index++) {
    const next = classes[text.charCodeAt(index)];
    const continues = open >= 0 && runOf(tokenClasses[open]) === runOf(tokenClasses[next]);
    if (open >= 0 && hasJoin(open, next))
      row[firstJoin + Math.min(open, firstWideClass) * joinSide + Math.min(next, firstWideClass)]++;
    place = continues ? Math.min(place + 1, tokenClasses[next].places - 1) : 0;
    open = next;
    row[firstPlace[next] + place]++;
  }
  return row;
}
for (const sample of samples) {
  sample.row = describe(sample.text);
  for (let feature = 0; feature < features; feature++) sample.row[feature] /= sample.target;
}

// ---- learn: asymmetric least squares on the relative error, one weight after another, none below its floor ----
function learn() {
  const learned = samples.filter(({ held }) => !held);
  const perKind = new Map();
  for (const { kind } of learned) perKind.set(kind, (perKind.get(kind) ?? 0) + 1);
  const trust = (kind) => (/^made: (random|rare|private|lone)/.test(kind) ? 0.02 : kind.startsWith("made: ") ? 0.3 : 1);
  const share = learned.map(({ kind }) => trust(kind) / Math.sqrt(perKind.get(kind)));
  const columns = Array.from({ length: features }, (_, feature) =>
    Float64Array.from(learned, ({ row }) => row[feature]),
  );
  const beta = Float64Array.from({ length: features }, (_, feature) =>
    Math.max(floor(feature), feature >= firstJoin ? 0 : 0.2),
  );
  const low = tokenClasses.findIndex(({ name }) => name === "low");
  const fixed = new Map([[firstPlace[low], 1]]);
  // What a character takes by itself is known.
  for (const tokens of [1, 2, 3]) fixed.set(firstPlace[tokenClasses.length - 4 + tokens], tokens * 1.015);
  for (const [feature, value] of fixed) beta[feature] = value;
  const predicted = new Float64Array(learned.length);
  columns.forEach((column, feature) =>
    column.forEach((value, i) => {
      predicted[i] += value * beta[feature];
    }),
  );
  const weight = new Float64Array(learned.length);
  const goal = 1.06;
  const ridge = 0.01;
  for (let sweep = 0; sweep < 600; sweep++) {
    for (let i = 0; i < weight.length; i++) weight[i] = share[i] * (predicted[i] < goal ? underWeight : 1);
    for (let feature = 0; feature < features; feature++) {
      if (fixed.has(feature)) continue;
      const column = columns[feature];
      let slope = -ridge * beta[feature];
      let curve = ridge;
      for (let i = 0; i < weight.length; i++) {
        const value = column[i];
        if (value === 0) continue;
        slope += weight[i] * value * (goal - predicted[i]);
        curve += weight[i] * value * value;
      }
      const next = Math.max(floor(feature), beta[feature] + slope / curve);
      const change = next - beta[feature];
      if (change === 0) continue;
      beta[feature] = next;
      for (let i = 0; i < weight.length; i++) predicted[i] += column[i] * change;
    }
  }
  return Array.from(beta, (value) => Math.round(value * unitsPerToken));
}
function write(weights) {
  const rows = (list) => list.map((row) => `  [${row.join(", ")}],`).join("\n");
  const places = tokenClasses.map(({ places: count }, index) =>
    weights.slice(firstPlace[index], firstPlace[index] + count),
  );
  const joins = Array.from({ length: joinSide }, (_, left) =>
    weights.slice(firstJoin + left * joinSide, firstJoin + (left + 1) * joinSide),
  );
  writeFileSync(
    weightsFile,
    `// Written by bench/learn-token-weights.mjs, in 1/${unitsPerToken} of a token.\n\n` +
      `/** The weight of each place of a run, for each class in the order of \`tokenClasses\`. The last weight is for all later places. */\n` +
      `export const placeWeights: readonly (readonly number[])[] = [\n${rows(places)}\n];\n\n` +
      `/** What it adds if one run ends and another begins, by the class on the left, then the class on the right. */\n` +
      `export const joinWeights: readonly (readonly number[])[] = [\n${rows(joins)}\n];\n`,
  );
}

if (!process.argv.includes("--check")) write(learn());

// ---- margins, with the estimate as it is shipped ----
const { estimateCounter } = await load("estimate-tokens.ts");
const ratio = (list) => {
  const sorted = list.toSorted((a, b) => a - b);
  const at = (q) => sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))].toFixed(2);
  return `${at(0)} ${at(0.05)} ${at(0.5)} ${at(0.95)} ${at(1)}`;
};
const margins = new Map();
for (const sample of samples) {
  const estimate = estimateCounter.count(sample.text);
  const kind = `${sample.kind}${sample.held ? " (held out)" : ""}`;
  const margin = margins.get(kind) ?? { o200k: [], claude: [], under: 0 };
  margin.o200k.push(estimate / sample.o200k);
  margin.claude.push(estimate / sample.claude);
  if (estimate < sample.target) margin.under++;
  margins.set(kind, margin);
}
console.log("estimate / o200k and / claude: min, 5 %, median, 95 %, max; samples below the larger of the two");
for (const [kind, margin] of [...margins].sort()) {
  console.log(
    `${kind.padEnd(34)} ${ratio(margin.o200k)}   ${ratio(margin.claude)}   ${margin.under}/${margin.o200k.length}`,
  );
}
const all = [...margins.values()];
console.log(`below: ${all.reduce((sum, { under }) => sum + under, 0)} of ${samples.length}`);
