import { parseArgs } from "node:util";
import { DOORS, tryDoor } from "../test/promises/doors.mjs";
import { shrink } from "../test/promises/shrink.mjs";

// Holds random outputs against what the README promises. Prints each broken promise with its seed and a small case.

/** How many violations of one promise are told in full; the others are counted. */
const MOST_TOLD = 3;

async function main() {
  const { values } = parseArgs({
    options: {
      cases: { type: "string" },
      seed: { type: "string" },
      door: { type: "string", default: "all" },
      help: { type: "boolean", short: "h" },
    },
  });
  const names = values.door === "all" ? Object.keys(DOORS) : values.door.split(",");
  const seed = Number(values.seed ?? Date.now() % 1_000_000_000);
  const unknown = names.find((name) => DOORS[name] === undefined);
  if (values.help || unknown !== undefined || !Number.isSafeInteger(seed) || !(Number(values.cases ?? 1) > 0)) {
    console.error(
      `usage: npm run check:promises -- [--door ${Object.keys(DOORS).join("|")}|all] [--cases n] [--seed n]`,
    );
    process.exitCode = values.help ? 0 : 2;
    return;
  }
  const rows = [];
  for (const name of names) {
    const cases = Number(values.cases ?? DOORS[name].cases);
    const startedMs = Date.now();
    let toldMs = startedMs;
    const told = new Map();
    const onBroken = async (finding) => {
      const times = (told.get(finding.promise) ?? 0) + 1;
      told.set(finding.promise, times);
      if (times <= MOST_TOLD) await tell(name, finding);
    };
    const onProgress = (done, broken) => {
      if (Date.now() - toldMs < 10_000) return;
      toldMs = Date.now();
      console.error(`${name}: ${done} of ${cases} cases, ${broken} violations`);
    };
    const broken = await tryDoor(name, { seed, cases, onProgress, onBroken });
    for (const [promise, times] of told) console.log(`${name}: ${promise}: ${times} violations`);
    rows.push({
      door: name,
      cases,
      "from seed": seed,
      violations: broken.length,
      seconds: Math.round((Date.now() - startedMs) / 1000),
    });
  }
  console.table(rows);
  process.exitCode = rows.some(({ violations }) => violations > 0) ? 1 : 0;
}

async function tell(name, { promise, why, given }) {
  console.log(`${name}: ${promise}: ${why}`);
  console.log(`  npm run check:promises -- --door ${name} --cases 1 --seed ${given.seed}`);
  console.log(`  ${await shrink(given, promise, DOORS[name].through)}`);
}

await main();
