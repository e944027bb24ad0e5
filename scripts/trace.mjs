// Prints how large the source is and through how many files one output passes: `npm run trace`, `--list` names those files.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import ts from "typescript";

const MAX_PARAMETERS = 5;
const MAX_BRANCHES = 25;
const SCRAP_LINES = 40;

const root = dirname(dirname(fileURLToPath(import.meta.url)));
process.chdir(root);
const isListed = process.argv.includes("--list");

const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "src"], {
  encoding: "utf8",
})
  .split("\n")
  .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
  .filter((file) => ts.sys.fileExists(file));
const sources = new Map(files.map((file) => [file, readFileSync(file, "utf8")]));

const lineCount = [...sources.values()].reduce((sum, text) => sum + text.split("\n").length - 1, 0);
say("files in src/ without tests", files.length);
say("lines in them", lineCount);

const scraps = findScraps();
say(`files of ${SCRAP_LINES} lines or less whose one importer is in the same folder`, scraps.length, scraps);

const functions = [...sources].flatMap(([file, text]) => measureFunctions(file, text));
const wide = functions.filter(({ parameters }) => parameters > MAX_PARAMETERS);
say(
  `functions with more than ${MAX_PARAMETERS} parameters`,
  wide.length,
  wide.map(({ place, parameters }) => `${place} ${parameters}`),
);
const branchy = functions.filter(({ branches }) => branches > MAX_BRANCHES);
say(
  `functions with more than ${MAX_BRANCHES} branches`,
  branchy.length,
  branchy.map(({ place, branches }) => `${place} ${branches}`),
);

// Inside node_modules, so that the bundle finds its dependencies.
const folder = mkdtempSync(resolve("node_modules/.spillway-trace-"));
try {
  const output = Array.from({ length: 5000 }, (_, index) => `line ${index + 1} of a plain output`).join("\n");
  const plain = await trace({ dir: join(folder, "store") }, { output, strategy: "head-tail", fold: false });
  say("files that a string over its limits passes through, cut by head-tail and saved", plain.length, plain);
  const shipped = await trace({ dir: join(folder, "store") }, { tool: "run_command", output });
  say("files that the same string passes through as shipped", shipped.length, shipped);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function say(what, count, names = []) {
  console.log(`${String(count).padStart(7)}  ${what}`);
  if (isListed) for (const name of names) console.log(`           ${name}`);
}

/** Small files that hold no idea of their own, judged by who imports them. */
function findScraps() {
  const importers = new Map(files.map((file) => [file, new Set()]));
  for (const [file, text] of sources) {
    for (const { fileName } of ts.preProcessFile(text, true, true).importedFiles) {
      if (fileName.startsWith(".")) importers.get(join(dirname(file), fileName))?.add(file);
    }
  }
  return files.filter((file) => {
    const [importer, ...others] = importers.get(file);
    if (importer === undefined || others.length > 0 || dirname(importer) !== dirname(file)) return false;
    return sources.get(file).split("\n").length - 1 <= SCRAP_LINES;
  });
}

/** How many parameters and branches each function has; functions inside it count for themselves. */
function measureFunctions(file, text) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found = [];
  const visit = (node, owner) => {
    let inside = owner;
    if (ts.isFunctionLike(node) && "body" in node && node.body !== undefined) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart());
      const name = node.name?.getText() ?? node.parent?.name?.getText?.() ?? "function";
      inside = { place: `${file}:${line + 1} ${name}`, parameters: node.parameters.length, branches: 0 };
      found.push(inside);
    }
    if (inside !== undefined && isBranch(node)) inside.branches++;
    ts.forEachChild(node, (child) => visit(child, inside));
  };
  visit(source, undefined);
  return found;
}

function isBranch(node) {
  if (ts.isBinaryExpression(node)) {
    const kind = node.operatorToken.kind;
    return kind === ts.SyntaxKind.AmpersandAmpersandToken || kind === ts.SyntaxKind.BarBarToken;
  }
  return (
    ts.isIfStatement(node) ||
    ts.isConditionalExpression(node) ||
    ts.isIterationStatement(node, false) ||
    ts.isCaseClause(node) ||
    ts.isCatchClause(node)
  );
}

/** The source files of which some function ran between a call of `admit` and its answer. */
async function trace(options, request) {
  const bundle = join(folder, `trace-${request.tool ?? "plain"}.mjs`);
  await build({
    entryPoints: ["src/index.ts"],
    outfile: bundle,
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
    logLevel: "error",
    absWorkingDir: root,
  });
  process.env.SPILLWAY_DIR ??= join(folder, "store");
  const { createSpillway } = await import(pathToFileURL(bundle));
  const spillway = await createSpillway(options);
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  await session.post("Profiler.takePreciseCoverage");
  const { receipt } = await spillway.admit(request);
  const { result } = await session.post("Profiler.takePreciseCoverage");
  session.disconnect();
  if (receipt.cuts.length === 0) throw new Error("the traced output was expected to be cut; it passed whole");
  const script = result.find(({ url }) => basename(url) === basename(bundle));
  const text = readFileSync(bundle, "utf8");
  // esbuild names the file of each module in a comment before its code.
  const starts = [...text.matchAll(/^\s*\/\/ (src\/\S+\.ts)$/gm)].map(({ index, 1: file }) => ({ index, file }));
  const passed = new Set();
  for (const { functionName, ranges } of script.functions) {
    const [{ startOffset, count }] = ranges;
    // The bundle itself, and functions that only load a module, are not steps of the output.
    if (count === 0 || startOffset === 0 || functionName.startsWith("src/")) continue;
    const start = starts.findLast(({ index }) => index <= startOffset);
    if (start !== undefined) passed.add(start.file);
  }
  return [...passed].sort();
}
