import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openDatabase } from "../../src/storage/local/open-database.ts";
import { localStore } from "../../src/storage/stores/local.ts";
import { writeChildModule } from "../child-module.ts";
import { checkStore, filesOf } from "./check-store.mjs";

const ROUNDS = Number(process.env["SPILLWAY_ROUNDS"] ?? 8);
const ROUNDS_PER_STORE = 4;
/** Printed with the test's name; with SPILLWAY_SEED the same rounds come again. */
const SEED = Number(process.env["SPILLWAY_SEED"] ?? 1);
const base = await mkdtemp(join(tmpdir(), "spillway-kill-"));
const child = join(base, "child.mjs");
const source = `import { keepUntilKilled } from "./test/faults/store-child.ts"; await keepUntilKilled(...process.argv.slice(2));`;
beforeAll(() => writeChildModule(source, child));
afterAll(() => rm(base, { recursive: true }));

type Acknowledged = Parameters<typeof checkStore>[1][number];

/**
 * A child and what it has acknowledged: what another process has read of it. With an even seed it is ready when it has
 * acknowledged an artifact, so that each run of the test has something to lose on the slowest machine too. With an odd
 * seed it is ready as soon as it has opened the store, so that its first artifact is killed as well.
 */
function start(dir: string, seed: number, name: string) {
  const process_ = spawn(process.execPath, [child, dir, String(seed), name], { stdio: ["ignore", "pipe", "pipe"] });
  const artifacts: Acknowledged[] = [];
  const calls: string[] = [];
  const faults: string[] = [];
  let rest = "";
  const ready = new Promise<void>((resolve) => {
    process_.stdout.setEncoding("utf8").on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const told = JSON.parse(line) as { artifact?: Acknowledged; call?: string };
        if (told.artifact) artifacts.push(told.artifact);
        if (told.call) calls.push(told.call);
        if (seed % 2 || told.artifact) resolve();
      }
    });
    process_.on("close", () => resolve());
  });
  process_.stderr.setEncoding("utf8").on("data", (text: string) => faults.push(text));
  return { process: process_, artifacts, calls, faults, ready };
}

async function kill(process_: ChildProcess): Promise<void> {
  if (process_.exitCode !== null) return;
  const closed = once(process_, "close");
  process_.kill("SIGKILL");
  await closed;
}

/** Kills two children again and again over one store, and looks at all of it after each time. */
async function killOver(dir: string, first: number, rounds: number): Promise<number> {
  const artifacts: Acknowledged[] = [];
  const calls: string[] = [];
  for (let seed = first; seed < first + rounds; seed += 1) {
    // Every other time the two keep the same bytes.
    const children = [start(dir, seed, `a${seed}`), start(dir, seed + (seed % 2) * 500_000, `b${seed}`)];
    await Promise.all(children.map(({ ready }) => ready));
    for (const { process: each } of children) {
      await wait((seed * 7919) % 120);
      await kill(each);
    }
    for (const each of children) {
      expect([each.faults.join(""), each.process.signalCode], `SPILLWAY_SEED=${first}`).toEqual(["", "SIGKILL"]);
      artifacts.push(...each.artifacts);
      calls.push(...each.calls);
    }
    expect(checkStore(dir, artifacts, calls), `SPILLWAY_SEED=${first} SPILLWAY_ROUNDS=${rounds}`).toEqual([]);
  }
  const database = await openDatabase(dir);
  const store = await localStore({ dir, database });
  const report = await store.verify();
  expect([report.damaged, report.missing]).toEqual([[], []]);
  // What the killed left behind goes, and nothing else.
  await store.collect({ nowMs: Date.now() + 7_200_000, staleMs: 3_600_000 });
  expect((await store.verify()).orphaned).toEqual([]);
  await database.close();
  expect(filesOf(dir).filter((path) => path.endsWith(".part"))).toEqual([]);
  expect(checkStore(dir, artifacts, calls)).toEqual([]);
  return artifacts.length;
}

it(
  `keeps every acknowledged byte through kill -9 at any moment, and shows nothing half-written (SPILLWAY_SEED=${SEED} SPILLWAY_ROUNDS=${ROUNDS})`,
  async () => {
    let kept = 0;
    for (let round = 0; round < ROUNDS; round += ROUNDS_PER_STORE) {
      kept += await killOver(join(base, String(round)), SEED + round, Math.min(ROUNDS_PER_STORE, ROUNDS - round));
    }
    expect(kept).toBeGreaterThanOrEqual(2 * Math.floor(ROUNDS / 2));
  },
  600_000 + ROUNDS * 60_000,
);
