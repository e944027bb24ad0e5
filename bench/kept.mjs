// One child process: what reading back costs through the library. Arguments: index file, folder, text file, smoke or not.
import { spawnSync } from "node:child_process";
import { createReadStream } from "node:fs";
import { pathToFileURL } from "node:url";
import { rgPath } from "@vscode/ripgrep";
import { median } from "./median.mjs";

const [indexFile, dir, bigFile, smallFile, mode] = process.argv.slice(2);
const times = mode === "smoke" ? 10 : 100;
const { createSpillway } = await import(pathToFileURL(indexFile).href);
const spillway = await createSpillway({ dir, env: {}, redact: "off" });
const BATCH = 100;
const PATTERN = "worker-7\\] retried";

async function keep(file) {
  const output = createReadStream(file, { highWaterMark: 1024 * 1024 });
  return (await spillway.admit({ tool: "read_file", output, fold: false })).receipt;
}

async function milliseconds(act) {
  const started = performance.now();
  await act();
  return performance.now() - started;
}

const ripgrep = () => spawnSync(rgPath, ["--no-config", "--text", "--count", PATTERN, smallFile], { encoding: "utf8" });

const big = await keep(bigFile);
const middle = Math.floor(big.total.lines / 2);
const lines = [];
let page;
for (let i = 0; i < times; i++) {
  lines.push(
    await milliseconds(async () => {
      page = await spillway.recall(big.artifact, { lines: [middle, middle + 50] });
    }),
  );
}
const faults = page.lines[0] === middle ? [] : [`recalled lines ${page.lines}, not from ${middle}`];

const small = await keep(smallFile);
const query = { pattern: PATTERN };
/** Pairs run in turn, so that a busy machine slows both. */
async function searches(count) {
  const ours = [];
  const theirs = [];
  for (let i = 0; i < count; i++) {
    theirs.push(await milliseconds(ripgrep));
    let found;
    ours.push(
      await milliseconds(async () => {
        found = await spillway.search(small.artifact, query);
      }),
    );
    const total = Number(ripgrep().stdout);
    if (found.total !== total) faults.push(`found ${found.total} lines, ripgrep ${total}`);
  }
  return { oursMs: median(ours), rgMs: median(theirs), ratio: median(ours.map((ms, i) => ms / theirs[i])) };
}
const plain = await searches(times);

const outputs = mode === "smoke" ? 1000 : 10_000;
const bare = await createSpillway({ store: null, ledger: null, env: {} });
/** Of each output; the median of batches, since a busy machine holds some of them up. */
async function admitMany(through) {
  const batches = [];
  for (let first = 0; first < outputs; first += BATCH) {
    const batch = await milliseconds(async () => {
      for (let i = first; i < first + BATCH; i++) {
        await through.admit({ tool: "bash", session: "bench", output: `line ${i}\nall is well\n` });
      }
    });
    batches.push(batch / BATCH);
  }
  return median(batches);
}
await admitMany(bare);
const without = await admitMany(bare);
const withLedger = await admitMany(spillway);

const result = {
  times,
  outputs,
  linesMs: median(lines),
  plain,
  ledgerMsEach: withLedger - without,
  faults,
};
process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
