// What the last good run of the same command adds: how much of what explains a failure is still there with it and without,
// and in the view of what changed. `node bench/since.mjs` (--cases prints each case)
// logreduce has consoles and builds, each with a good run; cidiff has Maven and Gradle builds, with those of cidiff-pass.
import { parseArgs } from "node:util";
import { cleanText, hasCorpus, readCases, shareKept, summarize } from "./corpus.mjs";
import { code } from "./signal-training.mjs";

const BUDGETS = [2000, 4000, 8000];
const { values: options } = parseArgs({ options: { cases: { type: "boolean", default: false } } });
if (!hasCorpus) {
  console.error("no corpus: set SPILLWAY_CORPUS");
  process.exit(2);
}

const runLines = (raw) => {
  const run = new code.RunLines();
  run.add(raw);
  return run.end();
};

function clamp(raw, maxChars, known) {
  const strategy = code.strategies.find(({ name }) => name === "auto");
  const admission = code.startAdmission({
    scope: "local",
    tool: "run_command",
    session: null,
    call: null,
    limits: { maxChars },
    strategy,
    headShare: 0.3,
    fold: true,
    counter: code.estimateCounter,
    exitCode: 1,
    ...(known && { known }),
  });
  admission.add(raw);
  const { text, receipt } = code.writeEnded(admission.end());
  if (receipt.faults !== undefined) throw new Error(receipt.faults);
  return text;
}

const passing = new Map(readCases("cidiff-pass").map((one) => [one.id, one.raw]));
const sets = {
  logreduce: readCases("logreduce"),
  cidiff: readCases("cidiff").map((one) => ({ ...one, previous: passing.get(one.id) })),
};
const ways = {
  "without it": ({ raw }, maxChars) => clamp(raw, maxChars),
  "weighed by it": ({ raw, good }, maxChars) => clamp(raw, maxChars, good),
  "view of what changed": ({ raw, good }, maxChars) =>
    code.changesText(
      code.compareRuns(good, runLines(raw)),
      { id: "a", exitCode: 0 },
      { id: "b", exitCode: 1 },
      maxChars,
    ),
};
for (const [set, cases] of Object.entries(sets)) {
  const shares = {};
  for (const one of cases) {
    const raw = one.raw();
    const read = { raw, good: runLines(one.previous()) };
    const said = [];
    for (const [way, cut] of Object.entries(ways))
      for (const budget of BUDGETS) {
        const text = cut(read, budget);
        if (text.length > budget) throw new Error(`${way}: ${text.length} of ${budget}`);
        const share = shareKept(one, cleanText(text).replace(/^[+-]\d+: /gm, ""));
        (shares[`${way}|${budget}`] ??= []).push(share);
        said.push(`${way} ${budget}: ${(100 * share).toFixed(0)}`);
      }
    if (options.cases) console.log(`${set} ${one.id} (${raw.length} bytes): ${said.join(", ")}`);
  }
  console.log(`\n${set}: ${cases.length} logs; mean share of the truth kept, in percent`);
  for (const way of Object.keys(ways))
    console.log(
      `  ${way.padEnd(22)}${BUDGETS.map((budget) => `${budget / 1000}k ${summarize(shares[`${way}|${budget}`]).mean.toFixed(1)}`).join("   ")}`,
    );
}
