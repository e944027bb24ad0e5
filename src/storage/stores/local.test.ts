import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { testStore } from "../../testing/index.ts";
import { openDatabase } from "../local/open-database.ts";
import { localStore } from "./local.ts";

const base = await mkdtemp(join(tmpdir(), "spillway-local-"));
afterAll(() => rm(base, { recursive: true }));
let made = 0;

async function makeStore() {
  const dir = join(base, String((made += 1)));
  const database = await openDatabase(dir);
  const store = await localStore({ dir, database });
  return { ...store, close: () => database.close() };
}

describe("localStore", () => {
  testStore(makeStore, { describe, it });
});

describe("a writer", () => {
  const about = { scope: "local", session: null, tool: "x", call: null };
  const files = () =>
    readdir(join(base, String(made)), { recursive: true }).then((all) =>
      all.filter((path) => /part$|[0-9a-f]{64}/.test(path)),
    );

  it("leaves no file behind when it is abandoned, small or large, before or after its first bytes", async () => {
    const store = await makeStore();
    for (const bytes of [0, 100, 70_000, 5_000_000]) {
      const writer = await store.begin(about);
      await writer.add(new Uint8Array(bytes));
      await writer.abandon();
      expect(() => writer.add(new Uint8Array(1))).toThrow(/abandon/);
      await expect(writer.end()).rejects.toThrow(/abandon/);
    }
    expect(await files()).toEqual([]);
    await store.close();
  });

  it("keeps what it was told to keep even if its caller then gives up waiting", async () => {
    const store = await makeStore();
    const writer = await store.begin(about);
    // The test does not wait for this add.
    void writer.add(new Uint8Array(5_000_000).fill(10));
    const ending = writer.end();
    await writer.abandon();
    expect(await ending).toMatchObject({ bytes: 5_000_000, lines: 5_000_000, saved: "yes" });
    expect((await store.list({ scope: "local" })).length).toBe(1);
    expect(await files()).toHaveLength(1);
    await store.close();
  });

  it("is one of many: a thousand sessions at once", async () => {
    const store = await makeStore();
    const kept = await Promise.all(
      Array.from({ length: 1000 }, async (_none, at) => {
        const writer = await store.begin({ ...about, session: `s${at}` });
        const output = Buffer.alloc(at % 10 === 0 ? 70_000 : 200, `session ${at}\n`);
        for (let from = 0; from < output.length; from += 30_000) await writer.add(output.subarray(from, from + 30_000));
        return writer.end();
      }),
    );
    expect(new Set(kept.map(({ id }) => id)).size).toBe(1000);
    expect(await store.verify()).toMatchObject({ checked: 1000, damaged: [], missing: [], orphaned: [] });
    await store.close();
  });
});

describe("keepNow", () => {
  const about = { scope: "local", session: "s", tool: "x", call: null };
  const none = { count: 0, bytes: 0 };

  it.each([0, 100, 70_000, 3_000_000])("keeps %d bytes at once, under the id that waiting gives", async (size) => {
    const store = await makeStore();
    const bytes = new Uint8Array(size).map((_, index) => (index % 80 === 79 ? 10 : 97 + (index % 26)));
    const kept = store.keepNow?.(about, bytes, none);
    expect(kept).toMatchObject({ bytes: size, saved: "yes", session: "s" });
    const read = await store.read(kept?.id ?? "", "local", { from: 0, to: size });
    expect(Buffer.compare(read ?? Buffer.of(1), bytes)).toBe(0);
    expect((await store.locate(kept?.id ?? "", "local", [2, 2]))?.from).toBe(Math.min(80, size));
    const writer = await store.begin(about);
    await writer.add(bytes);
    expect((await writer.end()).id).toBe(kept?.id);
    expect((await store.verify()).damaged).toEqual([]);
    await store.close();
  });

  it("refuses what has no room, leaving no file", async () => {
    const dir = join(base, String((made += 1)));
    const database = await openDatabase(dir);
    const store = await localStore({ dir, database, limits: { maxBytes: 100_000 } });
    expect(() => store.keepNow?.(about, new Uint8Array(200_000), none)).toThrow(/holds 200,000 of 100,000/);
    expect(await readdir(join(dir, "spool"))).toEqual([]);
    await database.close();
  });
});

describe("a copy of another store", () => {
  it.each([200, 70_000])("keeps when each of %d bytes was saved, whichever comes first", async (size) => {
    const [from, to] = [await makeStore(), await makeStore()];
    for (let at = 0; at < 6; at++)
      await from.keepNow?.({ scope: "local", session: null, tool: "x", call: null }, Buffer.alloc(size, `${at}\n`), {
        count: 0,
        bytes: 0,
      });
    const rows = await from.copying.after({ key: "", saved_ms: Number.MAX_SAFE_INTEGER }, 9);
    const newestFirst = rows.toSorted((one, other) => other.saved_ms - one.saved_ms);
    for (const row of newestFirst) expect(await to.copying.take(row, () => from.copying.open(row))).toBe(true);
    const saved = await from.list({ scope: "local" });
    expect(saved).toHaveLength(6);
    expect(await to.list({ scope: "local" })).toEqual(saved);
    for (const store of [from, to]) await store.close();
  });
});
