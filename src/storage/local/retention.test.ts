import { mkdir, mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { sqlLedger } from "../ledgers/sql.ts";
import { localStore } from "../stores/local.ts";
import { openDatabase } from "./open-database.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const START = Date.UTC(2030, 0, 1);
const base = await mkdtemp(join(tmpdir(), "spillway-retention-"));
afterAll(() => rm(base, { recursive: true }));
let made = 0;

async function open(limits = {}) {
  const dir = join(base, String((made += 1)));
  const clock = { nowMs: START };
  const database = await openDatabase(dir);
  const store = await localStore({ dir, database, limits, now: () => clock.nowMs });
  const keep = async (name: string, bytes: number, session: string | null = "s", scope = "local") => {
    const writer = await store.begin({ scope, session, tool: "x", call: null });
    await writer.add(Buffer.alloc(bytes, `${name}\n`));
    return (await writer.end()).id;
  };
  const left = async (scope = "local") => [...new Set((await store.list({ scope })).map(({ id }) => id).reverse())];
  return { dir, clock, database, store, keep, left, ledger: sqlLedger(database, "sqlite") };
}

describe("collect", () => {
  it("removes by age, files and rows, and only says so in a dry run", async () => {
    const { clock, store, keep, left } = await open();
    const old = [await keep("old row", 100), await keep("old file", 100_000)];
    clock.nowMs += 7 * DAY + 2 * HOUR;
    const young = await keep("young", 100_000, "other");
    const dry = await store.collect({ dryRun: true });
    expect(await left()).toEqual([...old, young]);
    const report = await store.collect();
    expect({ ...report, dryRun: true }).toEqual(dry);
    expect(report).toMatchObject({ removed: 2, removedBytes: 100_100, remaining: 1, remainingBytes: 100_000 });
    expect(report.artifacts.map(({ id, reason }) => [id, reason])).toEqual(old.map((id) => [id, "age"]));
    expect(await left()).toEqual([young]);
    expect((await store.verify()).orphaned).toEqual([]);
  });

  it("removes the oldest until all together, and each session, are within their bytes", async () => {
    const { clock, store, keep, left } = await open();
    const ids: string[] = [];
    for (const [session, bytes] of [
      ["a", 50_000],
      ["b", 90_000],
      ["a", 50_000],
      ["b", 90_000],
      ["c", 10],
    ] as const) {
      ids.push(await keep(`${ids.length}`, bytes, session));
      clock.nowMs += HOUR;
    }
    clock.nowMs += HOUR;
    const bySession = await store.collect({ maxSessionBytes: 100_000 });
    expect(bySession.artifacts.map(({ id, reason }) => [id, reason])).toEqual([[ids[1], "session-bytes"]]);
    const dry = await store.collect({ maxBytes: 100_000, dryRun: true });
    const byTotal = await store.collect({ maxBytes: 100_000 });
    expect(byTotal.artifacts).toEqual(dry.artifacts);
    expect(byTotal.artifacts.map(({ id, reason }) => [id, reason])).toEqual([
      [ids[0], "total-bytes"],
      [ids[2], "total-bytes"],
    ]);
    expect(await left()).toEqual([ids[3], ids[4]]);
    // Exactly as much as they may be.
    expect((await store.collect({ maxBytes: 90_010 })).removed).toBe(0);
  });

  it("leaves what belongs to a session that is pinned or was seen just now, whatever its age and size", async () => {
    const { clock, store, keep, left, ledger } = await open();
    const pinned = await keep("pinned", 100, "pinned");
    const shared = await keep("shared", 100, "gone");
    await keep("shared", 100, "seen");
    const gone = await keep("gone", 100, "gone");
    await ledger.pin("pinned", true);
    clock.nowMs += 30 * DAY;
    const seen = { kind: "output-passed" as const, atMs: clock.nowMs - 60_000, session: "seen", tool: "x", call: null };
    await ledger.record({ ...seen, artifact: null, receipt: null, more: null });
    const fresh = await keep("fresh", 100, null);
    const report = await store.collect({ maxBytes: 0, maxSessionBytes: 0 });
    expect(report.artifacts.map(({ id }) => id)).toEqual([gone]);
    expect((await left()).sort()).toEqual([pinned, shared, fresh].sort());
    await ledger.pin("pinned", false);
    clock.nowMs += 2 * HOUR;
    await store.collect({ maxBytes: 0 });
    expect(await left()).toEqual([]);
  });

  it("does not go by a clock that jumped back", async () => {
    const { clock, store, keep, left } = await open();
    const id = await keep("from the future", 100);
    clock.nowMs -= 30 * DAY;
    await store.collect({ maxBytes: 0 });
    expect(await left()).toEqual([id]);
  });

  it("keeps an artifact young that was kept again", async () => {
    const { clock, store, keep, left } = await open();
    const id = await keep("same", 100, "a");
    clock.nowMs += 6 * DAY;
    await keep("same", 100, "b");
    clock.nowMs += 2 * DAY;
    await store.collect();
    expect(await left()).toEqual([id]);
  });

  it("leaves what was kept again after it was chosen and before it was removed", async () => {
    const { dir, clock, database, keep } = await open();
    const ids = [await keep("again", 100, "a"), await keep("not again", 100, "a")];
    clock.nowMs += 30 * DAY;
    let meanwhile = () => {};
    const commit: typeof database.commit = (steps) => {
      meanwhile();
      return database.commit(steps);
    };
    const store = await localStore({ dir, database: { ...database, commit }, now: () => clock.nowMs });
    meanwhile = () => {
      meanwhile = () => {};
      const about = { scope: "local", session: "b", tool: "x", call: null };
      expect(store.keepNow?.(about, Buffer.alloc(100, "again\n"), { count: 0, bytes: 0 })?.id).toBe(ids[0]);
    };
    const report = await store.collect({ nowMs: clock.nowMs });
    expect(report.artifacts.map(({ id }) => id)).toEqual([ids[1]]);
    expect(await store.read(ids[0] ?? "", "local", { from: 0, to: 5 })).toEqual(new Uint8Array(Buffer.from("again")));
  });

  it("sweeps what nobody owns, once it is old, and leaves what is being written", async () => {
    const { dir, clock, store, keep } = await open();
    clock.nowMs = Date.now();
    await keep("kept", 100_000);
    const key = "ab".padEnd(64, "0");
    await writeFile(join(dir, "spool", "old.part"), "x");
    await writeFile(join(dir, "spool", "new.part"), "x");
    await store.collect();
    await utimes(join(dir, "spool", "old.part"), new Date(0), new Date(0));
    await mkdir(join(dir, "artifacts", "ab"), { recursive: true });
    await writeFile(join(dir, "artifacts", "ab", key), "orphan");
    expect((await store.verify()).orphaned).toEqual([join("artifacts", "ab", key)]);
    expect((await store.collect()).files).toEqual([join("spool", "old.part")]);
    const later = await store.collect({ nowMs: Date.now() + 2 * HOUR, maxAgeMs: 1e15 });
    expect(later.files.sort()).toEqual([join("artifacts", "ab", key), join("spool", "new.part")]);
    expect(await store.verify()).toMatchObject({ checked: 1, damaged: [], missing: [], orphaned: [] });
  });
});

describe("removeSession", () => {
  it("deletes what belongs only to it, and unties the rest; another scope keeps its session of the same name", async () => {
    const { store, keep, left } = await open();
    await keep("mine", 100_000, "a");
    const elsewhere = await keep("mine", 100_000, "a", "other");
    const shared = await keep("shared", 100, "b");
    await keep("shared", 100, "a");
    const none = await keep("of none too", 100, null);
    await keep("of none too", 100, "a");
    expect(await store.removeSession("a", "local")).toEqual({ removed: 1, removedBytes: 100_000, untied: 2 });
    expect((await left()).sort()).toEqual([shared, none].sort());
    expect(await left("other")).toEqual([elsewhere]);
    expect(await store.list({ scope: "local", session: "a" })).toEqual([]);
    expect((await store.find(shared, "local"))?.session).toBe("b");
    expect((await store.verify()).orphaned).toEqual([]);
    expect(await store.removeSession("a", "local")).toEqual({ removed: 0, removedBytes: 0, untied: 0 });
  });
});

describe("the quota", () => {
  it("makes room by collecting, and refuses in words when all is in use", async () => {
    const { clock, store, keep, left } = await open({ maxBytes: 400_000 });
    const old = await keep("old", 300_000, "a");
    clock.nowMs += 2 * HOUR;
    const second = await keep("second", 150_000, "b");
    const third = await keep("third", 150_000, "b");
    expect(await left()).toEqual([second, third]);
    expect(old).not.toBe(second);
    await keep("fourth", 150_000, "b");
    await expect(keep("fifth", 150_000, "b")).rejects.toMatchObject({ code: "store-full" });
    expect((await store.verify()).orphaned).toEqual([]);
  });

  it("foresees a full disk", async () => {
    const { keep } = await open({ freeReserveBytes: 2 ** 60 });
    await expect(keep("any", 100)).rejects.toThrow(/bytes free/);
  });
});

describe("resolvePrefix", () => {
  it("finds ids by 6 characters or more, in their scope only", async () => {
    const { store, keep } = await open();
    const id = await keep("x", 10);
    expect(await store.resolvePrefix(id.slice(0, 6), "local")).toEqual([id]);
    expect(await store.resolvePrefix(id, "local")).toEqual([id]);
    for (const prefix of [id.slice(0, 5), "", "%%%%%%", "______", `${id}a`]) {
      expect(await store.resolvePrefix(prefix, "local")).toEqual([]);
    }
    expect(await store.resolvePrefix(id.slice(0, 6), "other")).toEqual([]);
  });
});
