import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeChildModule } from "../../../test/child-module.ts";
import { eventOf } from "../../testing/arbitrary-event.ts";
import { testLedger } from "../../testing/test-ledger.ts";
import { openDatabase } from "../local/open-database.ts";
import { pruneEvents } from "./prune-events.ts";
import { sqlLedger } from "./sql.ts";

const run = promisify(execFile);
let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-ledger-"));
});
afterAll(() => rm(folder, { recursive: true }));
const freshFolder = () => mkdtemp(join(folder, "db-"));

testLedger(
  async () => {
    const dir = await freshFolder();
    const first = await openDatabase(dir);
    return {
      ledger: sqlLedger(first, "sqlite"),
      async reopen() {
        await first.close();
        const database = await openDatabase(dir);
        const ledger = sqlLedger(database, "sqlite");
        return { ...ledger, close: () => database.close() };
      },
      discard: () => first.close(),
    };
  },
  { describe, it },
  // Few runs, because each run makes a database of its own.
  { numRuns: 10 },
);

async function withLedger(
  body: (ledger: ReturnType<typeof sqlLedger>, database: Awaited<ReturnType<typeof openDatabase>>) => Promise<void>,
): Promise<void> {
  const database = await openDatabase(await freshFolder());
  try {
    await body(sqlLedger(database, "sqlite"), database);
  } finally {
    await database.close();
  }
}

describe("sqlite ledger", () => {
  it("writes the events that come while others are written in one transaction, and a fault hits only its own", async () => {
    await withLedger(async (_ledger, database) => {
      const turns: (() => void)[] = [];
      let isFull = false;
      const commit: typeof database.commit = async (steps) => {
        await new Promise<void>((resolve) => turns.push(resolve));
        if (isFull) throw new Error("full");
        return database.commit(steps);
      };
      const ledger = sqlLedger({ ...database, commit }, "sqlite");
      const record = async (count: number) => {
        const recorded = [];
        for (let at = 0; at < count; at += 1) {
          recorded.push(ledger.record(eventOf({ kind: "output-passed", atMs: at, session: "s", tool: "t" })));
          await new Promise(setImmediate);
        }
        return Promise.allSettled(recorded);
      };
      const [first, second] = [record(1), record(20)];
      while (turns.length === 0) await new Promise(setImmediate);
      for (let at = 0; at < 30; at += 1) await new Promise(setImmediate);
      expect(turns).toHaveLength(1);
      turns[0]?.();
      while (turns.length === 1) await new Promise(setImmediate);
      const third = record(5);
      for (let at = 0; at < 10; at += 1) await new Promise(setImmediate);
      isFull = true;
      turns[1]?.();
      while (turns.length === 2) await new Promise(setImmediate);
      isFull = false;
      turns[2]?.();
      const kinds = async (of: ReturnType<typeof record>) => new Set((await of).map(({ status }) => status));
      // The first one of the second call came in time for the first transaction.
      expect((await second).map(({ status }) => status)).toEqual(["fulfilled", ...Array(19).fill("rejected")]);
      expect([await kinds(first), await kinds(third)]).toEqual([new Set(["fulfilled"]), new Set(["fulfilled"])]);
      expect(await ledger.events()).toHaveLength(7);
    });
  });

  it("keeps scopes apart: the same names in another are other sessions, sums and forms", async () => {
    await withLedger(async (ledger, database) => {
      const other = sqlLedger(database, "sqlite", "other");
      const event = eventOf({ kind: "output-passed", atMs: 1, session: "s", tool: "t" });
      for (let at = 0; at < 3; at += 1) await ledger.record(event);
      await ledger.saveProjection({ key: "k", text: "theirs", step: 5, session: "s" });
      await ledger.pin("s", true);
      const before = await Promise.all([ledger.events(), ledger.sessions(), ledger.stats({ by: "hour" })]);
      expect(await other.events()).toEqual([]);
      expect(await other.sessions({ session: "s" })).toEqual([]);
      expect(await other.projection("k")).toBeNull();
      await other.record(event);
      await other.saveProjection({ key: "k", text: "ours", step: 1, session: "s" });
      await other.pin("s", false);
      expect(await other.sessions()).toMatchObject([{ session: "s", calls: 1, pinned: false }]);
      expect(await other.stats({ by: "all" })).toMatchObject([{ calls: 1 }]);
      expect(await other.projection("k")).toMatchObject({ text: "ours" });
      // A session that is pinned elsewhere is not pinned here.
      const late = { olderThanMs: 0, sumsOlderThanMs: 0, nowMs: Date.now() + 1e12 };
      expect(await pruneEvents(database, late)).toEqual({ events: 1, projections: 1, sums: 1, sessions: 1 });
      await other.record(event);
      expect(await other.removeSession("s")).toBe(1);
      expect(await Promise.all([ledger.events(), ledger.sessions(), ledger.stats({ by: "hour" })])).toEqual(before);
      expect(await ledger.projection("k")).toMatchObject({ text: "theirs" });
    });
  });

  it("takes events of several processes at once, from the first open on: none lost, none refused", async () => {
    const dir = await freshFolder();
    const child = join(dir, "child.mjs");
    await writeChildModule(
      `import { openDatabase } from "./src/storage/local/open-database.ts";
      import { sqlLedger } from "./src/storage/ledgers/sql.ts";
      import { eventOf } from "./src/testing/arbitrary-event.ts";
      const [dir = "", name = ""] = process.argv.slice(2);
      const ledger = sqlLedger(await openDatabase(dir), "sqlite");
      for (let at = 0; at < 150; at += 1) await ledger.record(eventOf({ session: "shared", tool: name, call: name + at }));`,
      child,
    );
    const names = ["a", "b", "c", "d"];
    await Promise.all(names.map((name) => run(process.execPath, [child, join(dir, "data"), name])));
    const database = await openDatabase(join(dir, "data"));
    const ledger = sqlLedger(database, "sqlite");
    const calls = (await ledger.events({ max: 10_000 })).map(({ call }) => call);
    expect(new Set(calls).size).toBe(600);
    expect(calls).toHaveLength(600);
    expect((await ledger.stats({ by: "tool" })).map(({ tool, calls }) => [tool, calls])).toEqual(
      names.map((name) => [name, 150]),
    );
    await database.close();
  });

  it("writes an event, its sums and its session together or not at all", async () => {
    await withLedger(async (ledger, database) => {
      database.raw.exec("create trigger refuse before insert on sessions begin select raise(abort, 'no room'); end");
      await expect(ledger.record(eventOf({}))).rejects.toThrow("no room");
      expect(await ledger.events()).toEqual([]);
      expect((await ledger.stats({ by: "all" }))[0]?.calls).toBe(0);
      database.raw.exec("drop trigger refuse");
      await ledger.record(eventOf({}));
      expect((await ledger.stats({ by: "all" }))[0]?.calls).toBe(1);
    });
  });

  it("leaves it to the store which artifacts a removed session had", async () => {
    await withLedger(async (ledger, { raw }) => {
      const add = raw.prepare("insert into artifact_sessions (key, session) values (?, ?)");
      for (const session of ["a", "b"]) add.run("k", session);
      await ledger.removeSession("a");
      expect(raw.prepare("select session from artifact_sessions").all()).toEqual([{ session: "a" }, { session: "b" }]);
    });
  });

  it("prunes old events and projections, but not of sessions that are pinned or in use, and not the sums", async () => {
    await withLedger(async (ledger, database) => {
      for (const [session, atMs] of [
        ["a", 100],
        ["pinned", 100],
        ["a", 900],
        [null, 100],
        ["live", 100],
        ["live", 990],
      ] as const) {
        await ledger.record(eventOf({ session, atMs }));
      }
      await ledger.saveProjection({ key: "k", text: "t", step: 0 });
      await ledger.pin("pinned", true);
      const options = { nowMs: 1000, olderThanMs: 500, retainMs: 50 };
      const expected = { events: 2, projections: 0, sums: 0, sessions: 0 };
      expect(await pruneEvents(database, { ...options, isDryRun: true })).toEqual(expected);
      expect(await ledger.events()).toHaveLength(6);
      expect(await pruneEvents(database, options)).toEqual(expected);
      expect((await ledger.events()).map(({ session, atMs }) => [session, atMs])).toEqual([
        ["pinned", 100],
        ["a", 900],
        ["live", 100],
        ["live", 990],
      ]);
      expect((await ledger.stats({ by: "all" }))[0]?.calls).toBe(6);
      const late = { nowMs: Date.now() + 1000, olderThanMs: 0, sumsOlderThanMs: 0 };
      expect(await pruneEvents(database, late)).toEqual({ events: 3, projections: 1, sums: 3, sessions: 2 });
      expect((await ledger.sessions()).map(({ session, calls }) => [session, calls])).toEqual([["pinned", 1]]);
    });
  });

  it("gives room back to the disk after pruning", async () => {
    await withLedger(async (ledger, database) => {
      const more = { words: "x".repeat(4000) };
      await Promise.all(Array.from({ length: 3000 }, () => ledger.record(eventOf({ atMs: 1, more }))));
      const pages = () => database.raw.prepare<{ page_count: number }>("pragma page_count").get()?.page_count ?? 0;
      const before = pages();
      await pruneEvents(database, { olderThanMs: 0 });
      expect(pages()).toBeLessThan(before / 4);
    });
  });
});
