// Doubles the size of 40 shapes of text on every path and prints where the CPU grows to more than 2.6 times:
//   npm run check:linear                          all of it, some ten minutes of CPU
//   npm run check:linear -- --path redact,fold    only paths with one of these words in their names
//   npm run check:linear -- --shape spaces --list also prints each measurement
// Reads dist/. Exits with 1 if something is found. Sizes grow four times and are measured once; what grows too much is a
// suspect, and is measured several times at half the size, at the size and at twice the size before it is printed. It is
// found only if both doublings grow too much: a text that no longer fits a cache of the processor makes one step, and
// what is not linear grows at each.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const MOST_GROWTH = 2.6;
/** Less CPU than this is measured too coarsely to be compared. */
const LEAST_MS = 15;
const SIZES = [64, 256, 1024, 4096].map((kib) => kib * 1024);
/** From here on a path is slow enough to compare: larger sizes would only take longer. */
const ENOUGH_MS = 300;
/** How often a suspect is measured; the best counts. */
const BEST_OF = 3;

const root = fileURLToPath(new URL("..", import.meta.url));
const { createSpillway } = await import(`${root}dist/index.js`);
const { memoryStore, memoryLedger } = await import(`${root}dist/extend.js`);
const { classify } = await import(`${root}dist/overflow.js`);
const { clampText, defaultRules, errorForDisplay, forDisplay, startRedact, strategies, estimateCounter, boundValue } =
  await import(`${root}dist/stages.js`);

// ---- shapes: a text of about so many characters ----
const fill = (piece) => (chars) => piece.repeat(Math.ceil(chars / piece.length)).slice(0, chars);
const lines = (line) => (chars) => {
  let text = "";
  for (let index = 0; text.length < chars; index++) text += `${line(index)}\n`;
  return text;
};
const between = (open, inner, close) => (chars) => open + fill(inner)(chars) + close;
const json = (value) => (chars) => {
  const size = JSON.stringify(value(100)).length / 100;
  return JSON.stringify(value(Math.ceil(chars / size)));
};
const list = (count, each) => Array.from({ length: count }, (_, index) => each(index));
const word = (index) => ((index * 2_654_435_761) >>> 0).toString(36);
const shapes = {
  spaces: fill(" "),
  "line breaks": fill("\n"),
  "carriage returns": fill("10%\r20%\r"),
  tabs: fill("\t"),
  "white space of all kinds": fill(" \t\r\n \t"),
  "open brackets": fill("["),
  "open braces": fill('{"a":'),
  brackets: fill("[]{}()<>"),
  quotes: fill("\"'`"),
  "escaped quotes": fill('\\"'),
  backslashes: fill("\\"),
  "one long line": fill("word and another word, "),
  "one long word": fill("abcdefghij"),
  "many short lines": lines((index) => String(index % 7)),
  "the same line": fill("the same line again and again\n"),
  "two lines in turn": fill("first of two\nsecond of two\n"),
  "lines that differ in a number": lines((index) => `step ${index} of many took ${index % 900} ms`),
  "a key block without an end": between("-----BEGIN PRIVATE KEY-----\n", `${"Q1".repeat(32)}\n`, ""),
  "a key on one line": between("-----BEGIN PRIVATE KEY-----", "Q1w2E3r4", ""),
  "many key blocks": fill("-----BEGIN PRIVATE KEY-----\n"),
  "names of secrets": fill("password= token: secret='"),
  "a secret without an end": between("password='", "a1\\'", ""),
  addresses: fill("https://user:pass@host/path?x=1&sig=abc "),
  "an address without an end": between("https://", "a:b@", ""),
  "starts of tokens": fill("sk-ghp_xoxb-AKIA-eyJ."),
  base64: fill("QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo0NTY3ODkr"),
  hex: fill("00ff13ab9c"),
  "colour codes": fill("\u001b[31mred\u001b[0m "),
  "codes without an end": fill("\u001b["),
  "overwritten lines": fill("loading 10 %\rloading 20 %\u001b[2K\r\n"),
  "a flat object": json((count) => Object.fromEntries(list(count, (index) => [word(index), index]))),
  "a list of records": json((count) => list(count, (id) => ({ id, name: word(id), ok: id % 9 > 0 }))),
  "a nested object": (chars) => '{"a":['.repeat(chars / 8) + "]}".repeat(chars / 8),
  "a long string in JSON": (chars) => JSON.stringify({ text: fill('a "quoted" word\n')(chars * 0.9) }),
  "JSON lines": lines((id) => JSON.stringify({ id, level: id % 50 === 0 ? "error" : "info", text: word(id) })),
  xml: between("<a>", "<b c='d'><e/>", ""),
  html: lines((index) => `<tr><td class=x>${index}</td><td><a href="/p/${index}">${word(index)}</a></td></tr>`),
  "a table": lines((index) => `${String(index).padEnd(10)}${word(index).padEnd(12)}Running   ${index % 60}m`),
  "a diff": lines((index) => (index % 40 === 0 ? `@@ -${index},9 +${index},9 @@` : `${"+- "[index % 3]}line ${index}`)),
  "stack traces": lines((index) =>
    index % 12 === 0 ? `Error: it failed ${word(index)}` : `    at run (/app/src/${word(index % 30)}.js:${index}:7)`,
  ),
  matches: lines((index) => `src/${word(index % 40)}.ts:${index}: const ${word(index)} = 1;`),
  "a tree": lines((index) => `${"│   ".repeat(index % 5)}├── ${word(index)}`),
  "wide characters": fill("日本語のログ 😀 "),
  "lone surrogates": fill("\ud800x"),
};

// ---- paths: what is done with a text ----
const limits = { maxBytes: 50_000, maxLines: 2000 };
const quiet = { redact: "on", logger: { debug() {}, info() {}, warn() {}, error() {} } };
const spillway = await createSpillway({ ...quiet, store: memoryStore(), ledger: memoryLedger() });
const encoder = new TextEncoder();
const conversation = (text) => [
  { role: "user", content: "Why does it fail?" },
  ...list(8, (index) => [
    { role: "assistant", content: [{ type: "tool_use", id: `c${index}`, name: "bash", input: { command: "make" } }] },
    {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: `c${index}`, content: text.slice(0, text.length / 8) }],
    },
  ]).flat(),
];
/** A text in so many parts whatever its size: splitting it at spaces would take longer than what is measured. */
const inParts = (text, count = 1000) =>
  list(count, (index) => text.slice((text.length * index) / count, (text.length * (index + 1)) / count));
const scratch = mkdtempSync(join(tmpdir(), "check-linear-"));
const paths = {
  ...Object.fromEntries(
    strategies.map((strategy) => [`clampText ${strategy.name}`, (text) => clampText(text, limits, { strategy })]),
  ),
  "clampText in tokens": (text) => clampText(text, { maxTokens: 10_000 }),
  "clampText with folding": (text) => clampText(text, limits, { fold: true }),
  admit: (text) => spillway.admit({ tool: "bash", output: text }),
  "admit an object": (text) => spillway.admit({ tool: "x", output: { list: text.split("\n"), text } }),
  boundValue: (text) => boundValue({ list: inParts(text), text }, limits.maxBytes),
  redact: (text) => {
    const redact = startRedact(defaultRules, () => {});
    redact.add(encoder.encode(text));
    return redact.end();
  },
  "redact in small chunks": (text) => {
    const bytes = encoder.encode(text);
    const redact = startRedact(defaultRules, () => {});
    for (let at = 0; at < bytes.length; at += 100) redact.add(bytes.subarray(at, at + 100));
    return redact.end();
  },
  "the token estimate": (text) => estimateCounter.count(text),
  classify: (text) => [classify(text), classify({ status: 400, body: text, message: text })],
  forDisplay: (text) => [forDisplay(text), errorForDisplay(new Error(text))],
  guard: (text) => spillway.guard({ role: "assistant", content: text }),
  cap: (text) => spillway.cap(conversation(text)),
  prepare: (text) => spillway.prepare(conversation(text), { session: word(text.length), model: "claude-sonnet-4-5" }),
  search: async (text) => {
    const store = memoryStore();
    const own = await createSpillway({ ...quiet, store, ledger: memoryLedger() });
    const { receipt } = await own.admit({ tool: "bash", output: `${text}\nneedle\n${text}` });
    return own.search(receipt.artifact, { pattern: "needle|e[a-z]+d" });
  },
};

/** The CPU that a call takes, in milliseconds. */
async function cpuOf(run, text) {
  const before = process.cpuUsage();
  await run(text);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** The same for the command, less what it takes with nothing to do. */
function cpuOfCommand(text) {
  const usage = join(scratch, "usage.json");
  const input = join(scratch, "input");
  writeFileSync(input, text);
  const env = { ...process.env, BENCH_USAGE_FILE: usage, SPILLWAY_DIR: join(scratch, "store") };
  const preload = join(root, "bench/usage-preload.cjs");
  spawnSync(process.execPath, ["--require", preload, join(root, "dist/cli.cjs"), "clamp", input], { env });
  const { userSeconds, systemSeconds } = JSON.parse(readFileSync(usage, "utf8"));
  return (userSeconds + systemSeconds) * 1000;
}

const option = (name) => {
  const at = process.argv.indexOf(name);
  return at < 0 ? null : (process.argv[at + 1] ?? "").split(",");
};
const wanted = (name, words) => words === null || words.some((part) => name.includes(part));
const isListed = process.argv.includes("--list");
const found = [];

const texts = new Map();
function textOf(shape, size) {
  const key = `${shape}:${size}`;
  if (!texts.has(key)) texts.set(key, shapes[shape](size));
  return texts.get(key);
}

async function bestOf(measure, text) {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < BEST_OF; round++) best = Math.min(best, await measure(text));
  return best;
}

/** Goes to the next size until it takes long enough to compare. */
async function check(path, shape, measure) {
  let before = 0;
  for (const [index, size] of SIZES.entries()) {
    const last = await measure(textOf(shape, size));
    if (isListed) console.log(`${path}, ${shape}, ${size / 1024} KiB: ${last.toFixed(1)} ms`);
    const doublings = Math.log2(size / (SIZES[index - 1] ?? size));
    if (last > LEAST_MS * 2 && last > Math.max(1, before) * MOST_GROWTH ** doublings && index > 0) {
      const sizes = [size / 2, size, size * 2];
      const took = [];
      for (const each of sizes) {
        took.push(await bestOf(measure, textOf(shape, each)));
        if (took.length > 1 && took.at(-1) <= took.at(-2) * MOST_GROWTH) break;
      }
      const grew = `${took.map((ms) => ms.toFixed(0)).join(" -> ")} ms from ${size / 2048} KiB on`;
      if (isListed) console.log(`${path}, ${shape}: ${grew}`);
      if (took.length === sizes.length && took[1] > LEAST_MS && took[2] > took[1] * MOST_GROWTH) {
        found.push(`${path}, ${shape}: ${grew}`);
        console.log(found.at(-1));
        return;
      }
    }
    if (last > ENOUGH_MS && index > 0) return;
    before = last;
  }
}

const names = Object.keys(shapes).filter((name) => wanted(name, option("--shape")));
for (const [path, run] of Object.entries(paths).filter(([name]) => wanted(name, option("--path")))) {
  await run(shapes["stack traces"](SIZES[0]));
  for (const shape of names) await check(path, shape, (text) => cpuOf(run, text));
  console.error(`${path}: ${(process.cpuUsage().user / 1e6).toFixed(0)} s of CPU so far`);
}
if (wanted("spillway clamp", option("--path"))) {
  const idle = cpuOfCommand("");
  for (const shape of names) await check("spillway clamp", shape, (text) => Math.max(0, cpuOfCommand(text) - idle));
}
rmSync(scratch, { recursive: true, force: true });
console.log(`${names.length} shapes, ${found.length} found that grow to more than ${MOST_GROWTH} times when doubled`);
process.exit(found.length > 0 ? 1 : 0);
