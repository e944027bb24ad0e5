import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer, Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { sql } from "kysely";
import { afterAll, describe, expect, it, vi } from "vitest";
import { startPostgres } from "../../../test/postgres.ts";
import { within } from "../../deadline.ts";
import { NUMBERS } from "../../stages/policy/defaults.ts";
import { eventOf } from "../../testing/arbitrary-event.ts";
import { testLedger } from "../../testing/test-ledger.ts";
import { pruneEvents } from "../ledgers/prune-events.ts";
import { sqlLedger } from "../ledgers/sql.ts";
import { all, change } from "../sql.ts";
import { openPostgres, type Postgres, placeOf } from "./postgres.ts";

vi.mock("../../deadline.ts", { spy: true });

const server = await startPostgres();
if (typeof server === "string") process.stderr.write(`not run: the ledger in PostgreSQL: ${server}\n`);
const fresh = () => (typeof server === "string" ? Promise.reject(new Error(server)) : server.fresh());
afterAll(() => (typeof server === "string" ? undefined : server.end()));

const withLedger = async (
  body: (
    ledger: ReturnType<typeof sqlLedger>,
    opened: Awaited<ReturnType<typeof openPostgres>>,
    address: string,
  ) => Promise<void>,
) => {
  const address = await fresh();
  const opened = await openPostgres(address);
  await body(sqlLedger(opened, "postgres"), opened, address).finally(() => opened.close());
};

describe.skipIf(typeof server === "string")("in PostgreSQL", () => {
  testLedger(
    async () => {
      const address = await fresh();
      const opened = await openPostgres(address);
      return {
        ledger: sqlLedger(opened, "postgres"),
        async reopen() {
          const again = await openPostgres(address);
          return { ...sqlLedger(again, "postgres"), close: () => again.close() };
        },
        discard: () => opened.close(),
      };
    },
    { describe, it },
    // Few runs, because each run makes its tables.
    { numRuns: 6 },
  );

  it("makes its tables once, however many processes open it at the same time", async () => {
    const address = await fresh();
    const opened = await Promise.all(Array.from({ length: 6 }, () => openPostgres(address)));
    const [{ kysely, read }] = opened as [Postgres];
    const versions = await read(() => all(kysely.selectFrom("versions").select("version")));
    expect(versions.length).toBeGreaterThan(0);
    expect(versions.map(({ version }) => version)).toEqual(versions.map((_, index) => index + 1));
    await Promise.all(opened.map((each) => each.close()));
  });

  it("refuses tables of a newer version and leaves them alone", async () => {
    const address = await fresh();
    const opened = await openPostgres(address);
    await opened.commit(() => change(opened.kysely.insertInto("versions").values({ version: 99, applied_ms: 0 })));
    await opened.close();
    await expect(openPostgres(address)).rejects.toMatchObject({
      code: "store-unavailable",
      message: expect.stringMatching(/version 99, made by a newer Spillway.*Update Spillway/),
    });
  });

  it("gives a follower every event, whichever of several writers commits first", async () => {
    const address = await fresh();
    const opened = await Promise.all(Array.from({ length: 4 }, () => openPostgres(address)));
    const seen: (string | null)[] = [];
    let isDone = false;
    const follow = async () => {
      const ledger = sqlLedger(opened[0] ?? (await openPostgres(address)), "postgres");
      for (let afterId = 0; ; ) {
        const ending = isDone;
        const page = await ledger.events({ afterId, max: 50 });
        seen.push(...page.map(({ call }) => call));
        afterId = page.at(-1)?.id ?? afterId;
        if (ending && page.length === 0) return;
      }
    };
    const writing = opened.map(async (each, writer) => {
      const ledger = sqlLedger(each, "postgres");
      for (let round = 0; round < 40; round += 1) {
        // Batches of many sizes take more or less time between the first id and the commit.
        const calls = Array.from({ length: 1 + ((round * 7) % 30) }, (_, at) => `${writer}.${round}.${at}`);
        await Promise.all(calls.map((call) => ledger.record(eventOf({ call, session: `s${round % 3}` }))));
      }
    });
    const following = follow();
    await Promise.all(writing);
    isDone = true;
    await following;
    const expected = [0, 1, 2, 3].flatMap((writer) =>
      Array.from({ length: 40 }, (_, round) =>
        Array.from({ length: 1 + ((round * 7) % 30) }, (_none, at) => `${writer}.${round}.${at}`),
      ).flat(),
    );
    expect(seen.toSorted()).toEqual(expected.toSorted());
    const [all] = await sqlLedger(opened[1] as (typeof opened)[0], "postgres").stats({ by: "all" });
    expect(all?.calls).toBe(expected.length);
    await Promise.all(opened.map((each) => each.close()));
  });

  it("writes events, their sums and their sessions together or not at all", async () => {
    await withLedger(async (ledger, { kysely, commit }) => {
      await expect(
        commit(function* () {
          yield* change(
            kysely
              .insertInto("sessions")
              .values({ scope: "local", session: "s", first_seen_ms: 1, last_seen_ms: 1, pinned: 0 }),
          );
          yield* change(kysely.deleteFrom("events").where("id", "in", kysely.selectFrom("events").select("id")));
          throw new Error("in the middle");
        }),
      ).rejects.toThrow("in the middle");
      expect(await ledger.sessions()).toEqual([]);
    });
  });

  it("records an event once though the connection breaks before the commit is answered", async () => {
    await withLedger(async (ledger, { kysely, read, commit }) => {
      let attempts = 0;
      await commit(function* () {
        attempts += 1;
        yield* change(
          kysely.insertInto("events").values({
            scope: "local",
            kind: "output-passed",
            at_ms: 1,
            session: null,
            tool: null,
            call: `c${attempts}`,
            artifact: null,
            receipt: null,
            more: null,
          }),
        );
        // Ends its own connection: the first attempt never commits.
        if (attempts === 1)
          yield* all(
            kysely.selectNoFrom(({ fn }) =>
              fn<boolean>("pg_terminate_backend", [fn<number>("pg_backend_pid")]).as("done"),
            ),
          );
      });
      expect(attempts).toBe(2);
      expect((await ledger.events()).map(({ call }) => call)).toEqual(["c2"]);
      expect(await read(() => all(kysely.selectFrom("events").select("id")))).toHaveLength(1);
    });
  });

  it("records an event once though the connection breaks after the commit and before its answer", async () => {
    const address = new URL(await fresh());
    let isCut = false;
    const proxy = createServer((client) => {
      const upstream = connect(Number(address.port), address.hostname);
      const end = () => [client, upstream].forEach((socket) => void socket.destroy());
      for (const socket of [client, upstream]) socket.on("error", end).on("close", end);
      upstream.on("data", (bytes) => void (client.destroyed || client.write(bytes)));
      client.on("data", (bytes) => {
        if (isCut || !bytes.includes("commit\0")) return void upstream.write(bytes);
        // The server gets it, and its answer goes nowhere.
        isCut = true;
        upstream.removeAllListeners("data").on("data", end);
        upstream.write(bytes);
      });
    }).listen(0, "127.0.0.1");
    await once(proxy, "listening");
    const opened = await openPostgres(address.href);
    await opened.close();
    const through = new URL(address);
    through.port = String((proxy.address() as AddressInfo).port);
    const cut = await openPostgres(through.href);
    const ledger = sqlLedger(cut, "postgres");
    await ledger.record(eventOf({ call: "once" }));
    expect(isCut).toBe(true);
    expect((await ledger.events()).map(({ call }) => call)).toEqual(["once"]);
    expect((await ledger.stats({ by: "all" }))[0]?.calls).toBe(1);
    await cut.close();
    proxy.close();
  });

  it("prunes old events and sums, but nothing of sessions that are pinned or in use", async () => {
    await withLedger(async (ledger, opened) => {
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
      await ledger.pin("pinned", true);
      const options = { nowMs: 1000, olderThanMs: 500, retainMs: 50 };
      expect(await pruneEvents(opened, { ...options, isDryRun: true })).toMatchObject({ events: 2, sums: 0 });
      expect(await pruneEvents(opened, options)).toMatchObject({ events: 2, sums: 0 });
      const late = { nowMs: Date.now() + 1000, olderThanMs: 0, sumsOlderThanMs: 0 };
      expect(await pruneEvents(opened, late)).toEqual({ events: 3, projections: 0, sums: 3, sessions: 2 });
      expect((await ledger.sessions()).map(({ session }) => session)).toEqual(["pinned"]);
    });
  });

  it("does what one process at a time may do in one of them only", async () => {
    await withLedger(async (_ledger, opened, address) => {
      const other = await openPostgres(address);
      const inner = await opened.alone("retention", () => other.alone("retention", async () => "both"));
      expect(inner).toBeNull();
      expect(await other.alone("retention", async () => "after")).toBe("after");
      await other.close();
    });
  });

  it("goes on when a connection breaks between two queries", async () => {
    await withLedger(async (ledger, { kysely, alone, read }) => {
      // Held and idle, so that no query could be told of it.
      await alone("retention", async () => {
        const ended = sql<boolean>`pg_terminate_backend(pid)`.as("ended");
        const others = sql<boolean>`pid <> pg_backend_pid() and application_name = 'spillway'`;
        const ends = kysely
          .selectFrom(sql<{ pid: number }>`pg_stat_activity`.as("activity"))
          .select(ended)
          .where(others);
        expect((await read(() => all(ends))).length).toBeGreaterThan(0);
        await new Promise((resolve) => setTimeout(resolve, 200));
      });
      await ledger.record(eventOf({ call: "after" }));
      expect((await ledger.events()).map(({ call }) => call)).toEqual(["after"]);
    });
  });

  it("says what is wrong with a password, a database and a server, and never shows the password", async () => {
    const wrong = async (change: (url: URL) => void) => {
      const url = new URL(await fresh());
      change(url);
      const asked = async () => {
        const opened = await openPostgres(url.href);
        await sqlLedger(opened, "postgres")
          .sessions()
          .finally(() => opened.close());
      };
      return asked().then(
        () => "answered",
        (error: Error) => error.message,
      );
    };
    const password = await wrong((url) => void (url.password = "not-the-password"));
    expect(password).toMatch(/refuses the user or the password/);
    expect(password).not.toContain("not-the-password");
    expect(await wrong((url) => void (url.pathname = "/nowhere"))).toMatch(
      /has no such database; make it with createdb/,
    );
    expect(await wrong((url) => void (url.port = "1"))).toMatch(/cannot be reached: .*ECONNREFUSED/);
  });

  it.skipIf(typeof server === "string" || server.stop === undefined)(
    "holds nobody up for a server that was given up, and tells once that it is down and that it is back",
    async () => {
      if (typeof server === "string") return;
      const told: string[] = [];
      const opened = await openPostgres(await fresh(), undefined, (news) => told.push(news));
      const ledger = sqlLedger(opened, "postgres");
      await ledger.record(eventOf({ call: "before" }));
      await server.stop?.();
      await expect(ledger.record(eventOf({ call: "first" }))).rejects.toThrow(/cannot be reached/);
      const attempts = vi.spyOn(Socket.prototype, "connect");
      for (let at = 0; at < 6; at += 1) {
        await expect(ledger.sessions({ max: 1 })).rejects.toThrow(/cannot be reached/);
        await new Promise((resolve) => setTimeout(resolve, 300));
      }
      // Who waits tries again and again.
      expect(attempts.mock.calls.length).toBeLessThanOrEqual(6);
      attempts.mockRestore();
      expect(told).toEqual([
        expect.stringMatching(/cannot be reached: .*; nothing is recorded there until it answers$/),
      ]);
      await server.start?.();
      await vi.waitFor(() => ledger.record(eventOf({ call: "after" })), { timeout: 120_000, interval: 200 });
      expect(told.slice(1)).toEqual([expect.stringMatching(/ answers again$/)]);
      expect((await ledger.events({ max: 9 })).map(({ call }) => call)).toEqual(["before", "after"]);
      await opened.close();
    },
  );

  it.skipIf(typeof server === "string" || server.stop === undefined)(
    "waits for a server that is started again, and loses nothing that it acknowledged",
    async () => {
      if (typeof server === "string") return;
      await withLedger(async (ledger) => {
        const acknowledged: string[] = [];
        const done = new AbortController();
        const writing = (async () => {
          for (let at = 0; !done.signal.aborted; at += 1) {
            await ledger.record(eventOf({ call: `c${at}` })).then(
              () => acknowledged.push(`c${at}`),
              () => {},
            );
          }
        })();
        for (let round = 0; round < 2; round += 1) {
          const before = acknowledged.length;
          while (acknowledged.length < before + 20) await new Promise((resolve) => setTimeout(resolve, 5));
          await server.stop?.();
          await server.start?.();
        }
        const before = acknowledged.length;
        while (acknowledged.length < before + 20) await new Promise((resolve) => setTimeout(resolve, 5));
        done.abort();
        await writing;
        const calls = (await ledger.events({ max: 10_000 })).map(({ call }) => call);
        expect(new Set(calls).size).toBe(calls.length);
        expect(acknowledged.filter((call) => !calls.includes(call))).toEqual([]);
      });
    },
  );
});

it("hardly waits for a server that was silent a moment ago, and longer for any other", async () => {
  const downFile = join(mkdtempSync(join(tmpdir(), "spillway-down-")), "ledger-down");
  writeFileSync(downFile, "postgres://127.0.0.1:2/db");
  const waits = async () => {
    await (await openPostgres("postgres://me@127.0.0.1:1/db", downFile)).close();
    return vi.mocked(within).mock.calls.findLast(([, , what]) => what === "the connection")?.[1];
  };
  expect(await waits()).toBe(NUMBERS.postgresOpenMs.default);
  expect(await waits()).toBe(NUMBERS.postgresDownMs.default);
  rmSync(dirname(downFile), { recursive: true });
});

it("takes only addresses of PostgreSQL, and shows them without who asks", () => {
  expect(placeOf("postgresql://me:secret@db.example:5433/spill?sslmode=require")).toBe(
    "postgres://db.example:5433/spill",
  );
  for (const address of ["mysql://u:secret@h/d", "secret", ""]) {
    expect(() => placeOf(address)).toThrow(/postgres:\/\/user:password@host/);
    expect(() => placeOf(address)).not.toThrow(/secret/);
  }
});
