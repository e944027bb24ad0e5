import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, open, rename, rm, stat, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeChildModule } from "../../../test/child-module.ts";
import { all, change } from "../sql.ts";
import { openDatabase } from "./open-database.ts";
import { loadDriver, openConnection, type SqliteConnection } from "./sqlite-connection.ts";

const run = promisify(execFile);
let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-database-"));
  await chmod(folder, 0o755);
});
afterAll(() => rm(folder, { recursive: true }));
const freshFolder = () => mkdtemp(join(folder, "db-"));
const file = (dir: string) => join(dir, "spillway.db");

describe("a local database", () => {
  it("makes its folder and files for their owner only", async () => {
    const dir = join(await freshFolder(), "new", "data");
    const database = await openDatabase(dir);
    database.raw.prepare("insert into sessions values ('local', ?, 0, 0, 0)").run("s");
    expect((await stat(dir)).mode & 0o777).toBe(0o700);
    for (const end of ["", "-wal", "-shm"]) expect((await stat(`${file(dir)}${end}`)).mode & 0o777).toBe(0o600);
    await database.close();
  });

  it("takes back rights that were given to others", async () => {
    const dir = await freshFolder();
    await writeFile(file(dir), "", { mode: 0o644 });
    await (await openDatabase(dir)).close();
    expect((await stat(file(dir))).mode & 0o777).toBe(0o600);
  });

  it("does not open through a link", async () => {
    const dir = await freshFolder();
    await symlink(join(folder, "elsewhere.db"), file(dir));
    await expect(openDatabase(dir)).rejects.toMatchObject({ code: "store-unavailable", message: /is a link/ });
  });

  it("answers typed queries and prepared ones from the same rows", async () => {
    const { commit, close, kysely, now, raw, read } = await openDatabase(await freshFolder());
    const row = { scope: "local", session: "s", first_seen_ms: 1, last_seen_ms: 2 ** 52, pinned: 0 };
    expect(await commit(() => change(kysely.insertInto("sessions").values(row)))).toBe(1);
    expect(raw.prepare("select * from sessions").all()).toEqual([row]);
    expect(now(all(kysely.deleteFrom("sessions").returning("session")))).toEqual([{ session: "s" }]);
    now(change(kysely.insertInto("small").values({ key: "k", data: new Uint8Array([0, 255]) })));
    const [small] = await read(() => all(kysely.selectFrom("small").selectAll()));
    expect([...(small?.data ?? [])]).toEqual([0, 255]);
    await close();
  });

  it("does not run a query by itself, since it would be a transaction of its own", async () => {
    const database = await openDatabase(await freshFolder());
    await expect(database.kysely.selectFrom("events").selectAll().execute()).rejects.toThrow(/read\(\) or commit\(\)/);
    await database.close();
  });

  it("refuses a text with a NUL, which a driver would cut short", async () => {
    const database = await openDatabase(await freshFolder());
    expect(() => database.raw.prepare("select ?").get("a\0b")).toThrow(/NUL/);
    await database.close();
  });

  it("holds no more statements than it may", async () => {
    const database = await openDatabase(await freshFolder());
    const first = database.raw.prepare("select 1 as one");
    expect(database.raw.prepare("select 1 as one")).toBe(first);
    for (let at = 0; at < 100; at += 1) database.raw.prepare(`select ${at} as a`).get();
    expect(database.raw.prepare("select 1 as one")).not.toBe(first);
    expect(first.get()).toEqual({ one: 1 });
    await database.close();
  });

  it("may be closed twice, and says so when it is used after", async () => {
    const database = await openDatabase(await freshFolder());
    const statement = database.raw.prepare("select 1");
    await database.close();
    await database.close();
    expect(() => statement.get()).toThrow(/is closed/);
    expect(() => database.transaction(() => 1)).toThrow(/is closed/);
    await expect(database.read(() => all(database.kysely.selectFrom("events").selectAll()))).rejects.toThrow(
      /is closed/,
    );
  });
});

describe("a transaction", () => {
  const sessions = (raw: Pick<SqliteConnection, "prepare">) =>
    raw
      .prepare<{ session: string }>("select session from sessions")
      .all()
      .map(({ session }) => session);
  const add = (raw: Pick<SqliteConnection, "prepare">, session: string) =>
    raw.prepare("insert into sessions values ('local', ?, 0, 0, 0)").run(session);

  it("is all or nothing", async () => {
    const database = await openDatabase(await freshFolder());
    const fail = () =>
      database.transaction(() => {
        add(database.raw, "lost");
        throw new Error("halfway");
      });
    expect(fail).toThrow("halfway");
    expect(database.transaction(() => add(database.raw, "kept").changes)).toBe(1);
    expect(sessions(database.raw)).toEqual(["kept"]);
    await database.close();
  });

  it("does not wait for promises, does not nest, and is not Kysely's", async () => {
    const database = await openDatabase(await freshFolder());
    const waits = () =>
      database.transaction(async () => {
        add(database.raw, "lost");
      });
    expect(waits).toThrow(/must not wait/);
    expect(() => database.transaction(() => database.transaction(() => 1))).toThrow(/inside a transaction/);
    await expect(database.kysely.transaction().execute(async () => 1)).rejects.toThrow(/read\(\) or commit\(\)/);
    expect(sessions(database.raw)).toEqual([]);
    await database.close();
  });
});

describe("a database that cannot be used", () => {
  it("says that it is damaged and what to do, when it is no database", async () => {
    const dir = await freshFolder();
    await writeFile(file(dir), "not a database at all. ".repeat(500));
    await expect(openDatabase(dir)).rejects.toMatchObject({
      code: "store-damaged",
      message: expect.stringMatching(/^database .*spillway\.db is damaged: .*Move it away/),
    });
  });

  it("says so when pages of it are overwritten or missing", async () => {
    const dir = await freshFolder();
    const database = await openDatabase(dir);
    for (let at = 0; at < 200; at += 1) {
      database.now(change(database.kysely.insertInto("small").values({ key: `k${at}`, data: new Uint8Array(4000) })));
    }
    await database.close();
    const { size } = await stat(file(dir));
    const handle = await open(file(dir), "r+");
    await handle.write(Buffer.alloc(size - 8192, 0xa5), 0, size - 8192, 8192);
    await handle.close();
    const read = async () => {
      const again = await openDatabase(dir);
      try {
        again.now(all(again.kysely.selectFrom("small").selectAll()));
      } finally {
        await again.close();
      }
    };
    await expect(read()).rejects.toMatchObject({ code: "store-damaged" });
    await truncate(file(dir), 4096);
    await expect(read()).rejects.toMatchObject({ code: "store-damaged" });
  });

  it("says that it is full, keeps what it has, and goes on when there is room", async () => {
    const database = await openDatabase(await freshFolder());
    const put = (key: string) =>
      database.transaction(() =>
        database.raw.prepare("insert into small values (?, ?)").run(key, new Uint8Array(50_000)),
      );
    put("first");
    database.raw.exec("pragma max_page_count = 40");
    const fill = () => {
      for (let at = 0; at < 100; at += 1) put(`k${at}`);
    };
    expect(fill).toThrow(
      expect.objectContaining({ code: "store-full", message: expect.stringMatching(/cannot grow/) }),
    );
    expect(database.raw.prepare("select key from small where key = 'first'").get()).toEqual({ key: "first" });
    database.raw.exec("pragma max_page_count = 100000");
    expect(put("later").changes).toBe(1);
    await database.close();
  });

  it("says that a newer Spillway made it", async () => {
    const dir = await freshFolder();
    const database = await openDatabase(dir);
    database.raw.exec("insert into versions values (99, 0)");
    await database.close();
    await expect(openDatabase(dir)).rejects.toMatchObject({
      code: "store-unavailable",
      message: expect.stringMatching(/version 99, made by a newer Spillway/),
    });
  });

  it("says that its folder cannot be written", async () => {
    const parent = await freshFolder();
    const dir = join(parent, "read-only");
    const child = join(parent, "child.mjs");
    await writeChildModule(
      `import { openDatabase } from "./src/storage/local/open-database.ts";
      await openDatabase(process.argv[2] ?? "").catch((error) => console.log(error.code, error.message));`,
      child,
    );
    await mkdir(dir, { mode: 0o555 });
    await chmod(parent, 0o755);
    // Root may write anywhere, so the child runs as another user.
    const who = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
    const { stdout } = await run(process.execPath, [child, dir], who);
    expect(stdout).toMatch(/^store-unavailable database .* cannot be opened or written: .*EACCES/);
    await rm(dir, { recursive: true });
  });

  it.skipIf(process.platform === "win32")(
    "reads in a folder that takes nothing, where nothing is written",
    async () => {
      const parent = await freshFolder();
      const dir = join(parent, "data #1");
      const child = join(parent, "child.mjs");
      await writeChildModule(
        `import { openLocal } from "./src/storage/local/open-local.ts";
        const [, , dir = "", known] = process.argv;
        if (known === undefined) {
          const { store, close } = await openLocal(dir);
          const writer = await store.begin({ scope: "local", session: null, tool: "x", call: null });
          await writer.add(Buffer.from("one\\ntwo\\n"));
          process.stdout.write((await writer.end()).id);
          await close();
        } else {
          const local = await openLocal(dir, { readsOnly: true });
          console.log(Buffer.from(await local.store.read(known, "local", { from: 4, to: 7 })).toString());
          console.log((await local.store.list({ scope: "local" })).length, (await local.ledger.events()).length);
          await local.store.remove(known, "local").catch(({ code }) => console.log(code));
          await local.close();
          await openLocal(dir).catch(({ code }) => console.log(code));
        }`,
        child,
      );
      await chmod(parent, 0o777);
      // Root may write anywhere, so the child runs as another user.
      const who = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
      const id = (await run(process.execPath, [child, dir], { ...who, timeout: 240_000 })).stdout;
      await chmod(dir, 0o555);
      const { stdout } = await run(process.execPath, [child, dir, id], { ...who, timeout: 240_000 });
      await chmod(dir, 0o700);
      expect(stdout).toBe("two\n1 0\nstore-unavailable\nstore-unavailable\n");
    },
  );

  it("waits for another connection's write, and says so when that never ends", async () => {
    const dir = await freshFolder();
    const database = await openDatabase(dir);
    const other = openConnection(await loadDriver(), file(dir));
    other.exec("begin immediate");
    expect(() => database.transaction(() => 1)).toThrow(
      expect.objectContaining({ code: "store-unavailable", message: expect.stringMatching(/held by another process/) }),
    );
    other.exec("commit");
    expect(database.transaction(() => 1)).toBe(1);
    other.close();
    await database.close();
  });

  it("leaves the thread free while another connection writes, and keeps the order of what was asked", async () => {
    const dir = await freshFolder();
    const database = await openDatabase(dir);
    const other = openConnection(await loadDriver(), file(dir));
    other.exec("begin immediate");
    const order: string[] = [];
    const add = (name: string) => database.write(() => order.push(name));
    const writes = [add("first"), add("second")];
    // Timers still fire while a write waits. This one releases the lock.
    setTimeout(() => {
      order.push("timer");
      other.exec("commit");
    }, 5);
    await Promise.all(writes);
    expect(order).toEqual(["timer", "first", "second"]);
    other.close();
    await database.close();
  });

  it.skipIf(process.platform === "win32").each(["spillway.db", "spillway.db-wal", "."])(
    "says that %s was moved or removed while it was open, and answers no write",
    async (name) => {
      const dir = join(await freshFolder(), "data");
      const database = await openDatabase(dir);
      const write = () =>
        database.write(() =>
          database.raw.prepare("insert or replace into sessions values ('local', 's', 0, 0, 0)").run(),
        );
      await write();
      await rename(join(dir, name), join(dir, "..", "elsewhere"));
      await expect(write()).rejects.toMatchObject({
        code: "store-unavailable",
        message: expect.stringMatching(/was moved, removed/),
      });
      expect(() => database.transaction(() => 1)).toThrow(/was moved, removed/);
      // A new database at the same path is not the one that is open.
      const other = await openDatabase(dir).catch(() => null);
      await expect(write()).rejects.toThrow(/was moved, removed/);
      await other?.close();
      await database.close();
    },
  );
});

it("no statement outlives its connection, whatever the garbage collector does", async () => {
  const dir = await freshFolder();
  const child = join(dir, "child.mjs");
  await writeChildModule(
    `import { openDatabase } from "./src/storage/local/open-database.ts";
    import { sqlLedger } from "./src/storage/ledgers/sql.ts";
    const collect = async () => { globalThis.gc(); await new Promise((done) => setImmediate(done)); };
    let kept = [];
    for (let round = 0; round < 30; round += 1) {
      const statements = await (async () => {
        const database = await openDatabase(process.argv[2] ?? "");
        const made = Array.from({ length: 80 }, (_, at) => database.raw.prepare("select " + at + " as a"));
        const ledger = sqlLedger(database, "sqlite");
        if (round % 3 === 0) await database.close();
        return round % 2 ? made : [...made, { get: () => ledger.events() }];
      })();
      await collect();
      for (const statement of statements) { try { await statement.get(); } catch {} }
      kept.push(statements);
      if (round % 4 === 0) kept = [];
      await collect();
    }
    console.log("alive");`,
    child,
  );
  const { stdout } = await run(process.execPath, ["--expose-gc", child, join(dir, "data")]);
  expect(stdout).toBe("alive\n");
});
