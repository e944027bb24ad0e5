import { mkdtemp, readdir, rm, unlink, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { localStore } from "../stores/local.ts";
import { type Database, openDatabase } from "./open-database.ts";

const base = await mkdtemp(join(tmpdir(), "spillway-adopt-"));
afterAll(() => rm(base, { recursive: true }));
let made = 0;

/** Makes a store with one artifact that has a file and no row, as after a crash or with another database. */
async function orphaned(wrap: (database: Database, path: string) => Database = (database) => database) {
  const dir = join(base, String((made += 1)));
  const database = await openDatabase(dir);
  const writer = await (await localStore({ dir, database })).begin({
    scope: "local",
    session: null,
    tool: "x",
    call: null,
  });
  await writer.add(Buffer.alloc(100_000, "one line\n"));
  const { id } = await writer.end();
  database.raw.exec("delete from artifact_sessions; delete from artifacts");
  const name = (await readdir(join(dir, "artifacts"), { recursive: true })).find((one) => /[0-9a-f]{64}$/.test(one));
  const path = join(dir, "artifacts", name ?? "");
  const madeMs = database.raw.prepare<{ at: number }>("select min(applied_ms) as at from versions").get()?.at ?? 0;
  const store = await localStore({ dir, database: wrap(database, path) });
  return {
    id,
    store,
    database,
    /** Says when the file was written, in milliseconds after the database was made. */
    writtenAfter: (ms: number) => utimes(path, (madeMs + ms + 0.5) / 1000, (madeMs + ms + 0.5) / 1000),
  };
}

it("an artifact that was removed does not come back by a file that was left behind", async () => {
  const { id, store, database, writtenAfter } = await orphaned();
  expect(await store.find(id, "local")).toBeNull();
  await writtenAfter(0);
  expect(await store.find(id, "local")).toBeNull();
  expect(await store.read(id, "local", { from: 0, to: 9 })).toBeNull();
  expect(await store.list({ scope: "local" })).toEqual([]);
  await writtenAfter(-1);
  expect(await store.find(id, "local")).toMatchObject({ id, bytes: 100_000, saved: "yes" });
  await database.close();
});

it("a file that is collected while it is read gets no row", async () => {
  const { id, store, database, writtenAfter } = await orphaned((database, path) => ({
    ...database,
    commit: async (steps) => {
      await unlink(path);
      return database.commit(steps);
    },
  }));
  await writtenAfter(-1000);
  expect(await store.find(id, "local")).toBeNull();
  expect(await store.list({ scope: "local" })).toEqual([]);
  await database.close();
});
