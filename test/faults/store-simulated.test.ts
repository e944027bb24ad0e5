import { AsyncLocalStorage } from "node:async_hooks";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Artifact } from "../../src/contract/store.ts";
import { type Database, openDatabase } from "../../src/storage/local/open-database.ts";
import { type LocalStore, localStore } from "../../src/storage/stores/local.ts";
import { checkStore, filesOf } from "./check-store.mjs";
import { afterPowerCut, changed, disk } from "./simulated-disk.ts";

vi.mock("node:fs", async () => (await import("./simulated-disk.ts")).simulatedFs);
vi.mock("node:fs/promises", async () => (await import("./simulated-disk.ts")).simulatedPromises);

const base = mkdtempSync(join(tmpdir(), "spillway-simulated-"));
afterAll(() => rmSync(base, { recursive: true }));
let made = 0;
const freshFolder = () => join(base, String((made += 1)));

beforeEach(() => {
  // Nothing depends on how fast this machine is.
  vi.spyOn(performance, "now").mockReturnValue(0);
});
afterEach(() => {
  Object.assign(disk, { calls: 0, failAt: 0, schedule: (run: () => void) => run() });
  disk.unflushed.clear();
  vi.restoreAllMocks();
});

const ABOUT = { scope: "local", session: "s", tool: "x", call: null };

/** Opens a store whose commits count as changes of the log. */
async function openStore(dir: string): Promise<{ store: LocalStore; database: Database }> {
  const opened = await openDatabase(dir);
  const logged = <T>(act: () => T) => {
    const done = act();
    changed(`${opened.path}-wal`);
    return done;
  };
  const database: Database = {
    ...opened,
    write: (act) => opened.write(() => logged(act)),
    transaction: (act) => opened.transaction(() => logged(act)),
  };
  return { database, store: await localStore({ dir, database }) };
}

async function save(store: LocalStore, output: Buffer, chunkBytes = 50_000): Promise<Artifact> {
  const writer = await store.begin(ABOUT);
  let fault: unknown = null;
  for (let from = 0; from < output.length && fault === null; from += chunkBytes) {
    try {
      await writer.add(output.subarray(from, from + chunkBytes));
    } catch (error) {
      fault = error;
    }
  }
  return writer.end();
}

/** Gives what a power cut could still take of an artifact: its file, the folder's entry of it, the database's log. */
async function unflushed(store: LocalStore, { path }: Database, id: string): Promise<string[]> {
  const file = await store.file(id, "local");
  const own = [`${path}-wal`, ...(file === null ? [] : [file, dirname(file)])];
  return own.filter((each) => disk.unflushed.has(each));
}

describe("a fault at every call", () => {
  /** Does everything a store does, and tells what was acknowledged. Faults are passed over, as an agent's spill does. */
  async function everything(dir: string) {
    const acknowledged: { artifact: Artifact; output: Buffer }[] = [];
    const wrong: string[] = [];
    const attempt = async (act: () => Promise<unknown> | unknown) => {
      try {
        await act();
      } catch (error) {
        if (!(error instanceof Error && /simulated/.test(error.message))) wrong.push(String(error));
      }
    };
    await attempt(async () => {
      const { store, database } = await openStore(dir);
      const large = Buffer.from(Array.from({ length: 20_000 }, (_none, at) => `line ${at}\n`).join(""));
      for (const output of [Buffer.from("small\n"), large, large]) {
        await attempt(async () => {
          const artifact = await save(store, output);
          wrong.push(...(await unflushed(store, database, artifact.id)));
          acknowledged.push({ artifact, output });
        });
      }
      await attempt(async () => {
        const output = Buffer.alloc(80_000, "now\n");
        const artifact = store.keepNow?.(ABOUT, output, { count: 0, bytes: 0 });
        if (artifact === undefined) return;
        wrong.push(...(await unflushed(store, database, artifact.id)));
        acknowledged.push({ artifact, output });
      });
      for (const { artifact, output } of acknowledged) {
        await attempt(async () => {
          const bytes = await store.read(artifact.id, "local", { from: 0, to: output.length });
          if (bytes !== null && !output.subarray(0, bytes.length).equals(bytes)) wrong.push("other bytes were read");
        });
      }
      await attempt(() => store.collect({ nowMs: Date.now() + 1000 }));
      await attempt(() => database.close());
    });
    return { acknowledged, wrong };
  }

  async function countCalls(): Promise<number> {
    disk.calls = 0;
    await everything(freshFolder());
    return disk.calls;
  }

  it("loses and breaks nothing that was acknowledged", async () => {
    const calls = await countCalls();
    expect(calls).toBeGreaterThan(50);
    for (let failAt = 1; failAt <= calls; failAt += 1) {
      const dir = freshFolder();
      disk.unflushed.clear();
      Object.assign(disk, { calls: 0, failAt, code: ["EMFILE", "EIO", "ENOSPC"][failAt % 3] });
      const { acknowledged, wrong } = await everything(dir);
      disk.failAt = 0;
      const { store, database } = await openStore(dir);
      const where = `call ${failAt} of ${calls}`;
      expect({ where, wrong }).toEqual({ where, wrong: [] });
      for (const { artifact, output } of acknowledged) {
        const bytes = (await store.read(artifact.id, "local", { from: 0, to: output.length })) ?? Buffer.alloc(0);
        const isWhole = Buffer.compare(output.subarray(0, artifact.bytes), bytes) === 0;
        expect({ where, isWhole, saved: artifact.saved }).toEqual({
          where,
          isWhole: true,
          saved: artifact.bytes === output.length ? "yes" : "partial",
        });
      }
      expect({ where, ...(await store.verify()) }).toMatchObject({ where, damaged: [], missing: [] });
      // What was left behind is swept, and the store takes outputs again.
      await store.collect({ nowMs: Date.now() + 7_200_000, retainMs: 0 });
      expect({ where, parts: filesOf(dir).filter((path) => path.endsWith(".part")) }).toEqual({ where, parts: [] });
      expect((await save(store, Buffer.alloc(90_000, "again\n"))).saved).toBe("yes");
      await database.close();
      expect({ where, wrong: checkStore(dir, []) }).toEqual({ where, wrong: [] });
      rmSync(dir, { recursive: true });
    }
  });
});

describe("two processes and a crash, simulated", () => {
  const first = Number(process.env["SPILLWAY_SEED"] ?? 1);
  const seeds = Array.from({ length: Number(process.env["SPILLWAY_SEEDS"] ?? 12) }, (_none, at) => first + at);

  it.each(seeds)("seed %d: nothing that was acknowledged is lost", async (seed) => {
    const random = randomFrom(seed);
    const dir = freshFolder();
    const owner = new AsyncLocalStorage<string>();
    const waiting: { who: string | undefined; run: () => void }[] = [];
    const opened = { a: await openStore(dir), b: await openStore(dir) };
    disk.schedule = (run) => void waiting.push({ who: owner.getStore(), run });
    const acknowledged = new Map<string, { id: string; output: Buffer }>();

    async function work({ store }: { store: LocalStore }): Promise<void> {
      for (let round = 0; round < 6; round += 1) {
        // Few different outputs, so that both keep the same bytes at the same time.
        const size = random(2) === 0 ? random(3000) : 66_000 + random(3) * 90_000;
        const output = Buffer.alloc(size, `output ${random(3)}\n`);
        const { id, saved } = await save(store, output, 1 + random(120_000));
        expect(saved).toBe("yes");
        acknowledged.set(id, { id, output });
        const known = [...acknowledged.values()][random(acknowledged.size)];
        if (known !== undefined) await expectKept(store, known);
        if (random(4) === 0) await store.collect({ nowMs: Date.now() + 1000 });
      }
    }
    const ended = { a: false, b: false };
    const actors = (["a", "b"] as const).map((who) =>
      owner.run(who, () => work(opened[who]).finally(() => void (ended[who] = true))),
    );
    const failed = Promise.race(actors.map((actor) => actor.then(() => new Promise<never>(() => {}))));
    failed.catch(() => {});

    /** Lets the processes go on, one call at a time, until all have ended or so many calls are done. */
    async function goOn(calls: number, alive: readonly ("a" | "b")[]): Promise<void> {
      for (let done = 0; done < calls && alive.some((who) => !ended[who]); ) {
        await new Promise(setImmediate);
        const mine = waiting.filter(({ who }) => alive.includes(who as "a" | "b"));
        const next = mine[random(mine.length)];
        if (next === undefined) continue;
        waiting.splice(waiting.indexOf(next), 1);
        next.run();
        done += 1;
      }
    }

    await goOn(20 + random(300), ["a", "b"]);
    // The machine loses its power: what comes up again has all that was acknowledged.
    const copy = freshFolder();
    afterPowerCut(dir, copy, random);
    const before = new Map(acknowledged);
    // One process is killed. The other goes on to its end.
    await goOn(Infinity, ["b"]);
    await Promise.race([actors[1], failed]);
    disk.schedule = (run) => run();
    for (const [place, kept] of [
      [dir, acknowledged],
      [copy, before],
    ] as const) {
      disk.unflushed.clear();
      const { store, database } = await openStore(place);
      expect(await store.verify()).toMatchObject({ damaged: [], missing: [] });
      for (const known of kept.values()) await expectKept(store, known);
      await store.collect({ nowMs: Date.now() + 7_200_000, retainMs: 0 });
      expect(filesOf(place).filter((path) => path.endsWith(".part"))).toEqual([]);
      await database.close();
      expect(checkStore(place, [])).toEqual([]);
    }
    await opened.a.database.close();
    await opened.b.database.close();
  });

  async function expectKept(store: LocalStore, { id, output }: { id: string; output: Buffer }): Promise<void> {
    const bytes = await store.read(id, "local", { from: 0, to: output.length });
    expect(bytes !== null && Buffer.compare(output, bytes) === 0).toBe(true);
  }

  function randomFrom(seed: number): (below: number) => number {
    let state = seed * 2_654_435_761;
    return (below) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
      return below <= 0 ? 0 : (state >>> 8) % below;
    };
  }
});
