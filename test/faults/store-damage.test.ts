import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  appendFile,
  chmod,
  mkdir,
  mkdtemp,
  open,
  rm,
  stat,
  symlink,
  truncate,
  unlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { loadSearcher } from "../../src/drivers/searcher.ts";
import { SpillwayError } from "../../src/errors.ts";
import { search } from "../../src/recall/search.ts";
import { openDatabase } from "../../src/storage/local/open-database.ts";
import { type LocalStore, localStore } from "../../src/storage/stores/local.ts";
import { checkStore, filesOf } from "./check-store.mjs";

const base = await mkdtemp(join(tmpdir(), "spillway-damage-"));
afterAll(() => rm(base, { recursive: true }));
let made = 0;
let dir: string;
let store: LocalStore;
let database: Awaited<ReturnType<typeof openDatabase>>;

beforeEach(async () => {
  dir = join(base, String((made += 1)));
  database = await openDatabase(dir);
  store = await localStore({ dir, database });
  return () => database.close();
});

const OUTPUT = Buffer.from(Array.from({ length: 60_000 }, (_none, at) => `line ${at} of the output\n`).join(""));

async function keep(output = OUTPUT) {
  const writer = await store.begin({ scope: "local", session: "s", tool: "x", call: null });
  await writer.add(output);
  return writer.end();
}

const fileOf = (ending: string) => {
  const found = filesOf(dir).find((path) => (ending === "" ? /[0-9a-f]{64}$/.test(path) : path.endsWith(ending)));
  if (found === undefined) throw new Error(`no file with ${ending}`);
  return found;
};

/** The name of the file that holds bytes of this hash. */
function fileNameOf(sha256: string): string | undefined {
  return database.raw.prepare<{ key: string }>("select key from artifacts where sha256 = ?").get(sha256)?.key;
}

async function flip(path: string, at: number): Promise<void> {
  const handle = await open(path, "r+");
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, at);
  await handle.write(Buffer.from([(buffer[0] ?? 0) ^ 0xff]), 0, 1, at);
  await handle.close();
}

describe("damage", () => {
  it("a line index that is damaged or gone is made anew", async () => {
    const { id } = await keep();
    const truth = await store.locate(id, "local", [30_000, 30_010]);
    const { raw } = database;
    for (const harm of [
      () => raw.exec("update line_indexes set data = zeroblob(length(data))"),
      () => raw.exec("delete from line_indexes"),
      () => raw.exec("update line_indexes set data = substr(data, 1, 7)"),
    ]) {
      harm();
      expect(await store.locate(id, "local", [30_000, 30_010])).toEqual(truth);
      expect(checkStore(dir, [])).toEqual([]);
    }
  });

  it("a bit that flips anywhere in a file is never read silently; the other blocks are read", async () => {
    const { id } = await keep();
    const path = fileOf("");
    for (let at = 0; at < OUTPUT.length; at += 27_011) {
      await flip(path, at);
      await expect(store.read(id, "local", { from: at, to: at + 1 })).rejects.toThrow(/is damaged.*spillway verify/);
      await expect(store.read(id, "local", { from: 0, to: OUTPUT.length })).rejects.toMatchObject({
        code: "store-damaged",
      });
      const far = (at + 200_000) % (OUTPUT.length - 100);
      const other = await store.read(id, "local", { from: far, to: far + 100 });
      expect(Buffer.from(other ?? [])).toEqual(OUTPUT.subarray(far, far + 100));
      await flip(path, at);
    }
    expect((await store.verify()).damaged).toEqual([]);
  });

  it("a search tells of damage, wherever it is, and finds what is elsewhere", async () => {
    const { id } = await keep();
    const path = fileOf("");
    const searcher = await loadSearcher();
    const found = () => search(store, id, "local", { pattern: "line 59999 " }, { searcher });
    expect((await found()).note).toBe("[1 matching line]");
    for (const at of [0, 500_000, 1_100_000]) {
      await flip(path, at);
      const { total, note } = await found();
      expect(total).toBe(1);
      expect(note).toBe("[1 matching line; part of the artifact is damaged: what matches there may be missing]");
      await flip(path, at);
    }
  });

  it("damage does not become the truth when a line index is made anew", async () => {
    const { id } = await keep();
    await flip(fileOf(""), 5000);
    database.raw.exec("delete from line_indexes");
    await expect(store.read(id, "local", { from: 900_000, to: 900_010 })).rejects.toMatchObject({
      code: "store-damaged",
    });
    expect(database.raw.prepare("select * from line_indexes").all()).toEqual([]);
  });

  it("verify goes on past damage and tells every damaged artifact", async () => {
    const kept = [];
    for (const word of ["a", "b", "c", "d"]) kept.push(await keep(Buffer.alloc(100_000, `${word}\n`)));
    kept.push(await keep(Buffer.from("small")));
    const whole = await keep();
    const files = filesOf(dir).filter((path) => !path.includes(String(fileNameOf(whole.sha256))));
    await flip(files[0] ?? "", 5000);
    await flip(files[1] ?? "", 99_999);
    await truncate(files[2] ?? "", 7);
    await unlink(files[3] ?? "");
    database.raw.exec("update small set data = zeroblob(5)");
    const { checked, damaged, missing } = await store.verify();
    expect({ checked, damaged: damaged.length, missing: missing.length }).toEqual({
      checked: 6,
      damaged: 4,
      missing: 1,
    });
    const told = [...damaged, ...missing].map(({ id }) => id);
    expect(told.toSorted()).toEqual(kept.map(({ id }) => id).toSorted());
  });

  it("a plain file of another length is refused, and keeping the same bytes again heals it", async () => {
    const { id } = await keep();
    await appendFile(fileOf(""), "more");
    await expect(store.read(id, "local", { from: 0, to: 10 })).rejects.toThrow(/should hold \d+ bytes/);
    expect((await keep()).id).toBe(id);
    expect(await store.verify()).toMatchObject({ damaged: [], missing: [], orphaned: [] });
  });

  it("a file that somebody removed is told as such", async () => {
    const { id } = await keep();
    await unlink(fileOf(""));
    await expect(store.read(id, "local", { from: 0, to: 1 })).rejects.toThrow(/are gone from/);
    expect(await store.verify()).toMatchObject({ missing: [{ id }], damaged: [] });
  });

  it("a secret that is damaged is told, and what is stored stays readable without it", async () => {
    const { id } = await keep();
    await writeFile(join(dir, "secret"), "short");
    await expect(localStore({ dir, database })).rejects.toThrow(/should hold 32 bytes and holds 5/);
    await unlink(join(dir, "secret"));
    const other = await localStore({ dir, database });
    expect((await other.read(id, "local", { from: 0, to: 4 }))?.length).toBe(4);
  });

  it("a database that is damaged is told in words", async () => {
    await keep();
    await database.close();
    await writeFile(join(dir, "spillway.db"), randomBytes(20_000));
    const fault = await openDatabase(dir).then(
      () => null,
      (error: unknown) => error,
    );
    expect(SpillwayError.is(fault)).toBe(true);
    expect(String(fault)).toMatch(/spillway\.db is damaged/);
  });

  it("artifacts kept as files are read by their ids though the database is lost, and are not collected", async () => {
    const { id, lines } = await keep();
    const packed = await keep(Buffer.concat([OUTPUT, OUTPUT]));
    await database.close();
    await rm(join(dir, "spillway.db"));
    database = await openDatabase(dir);
    store = await localStore({ dir, database });
    const nowMs = Date.now() + 2 * 3_600_000;
    expect((await store.collect({ nowMs })).files).toEqual([]);
    expect(await store.find(id, "foreign")).toBeNull();
    expect(await store.find("aaaaaaaaaaaa", "local")).toBeNull();
    expect(await store.resolvePrefix(packed.id, "local")).toEqual([packed.id]);
    for (const each of [id, packed.id]) {
      expect(Buffer.from((await store.read(each, "local", { from: 0, to: 9 })) ?? []).toString()).toBe("line 0 of");
    }
    expect(await store.find(id, "local")).toMatchObject({ lines, bytes: OUTPUT.length, tool: "" });
    expect(await store.verify()).toMatchObject({ checked: 2, damaged: [], orphaned: [] });
    // What is removed stays so, and what nobody asked for goes with age.
    await store.remove(id, "local");
    expect(await store.find(id, "local")).toBeNull();
    await store.remove(packed.id, "local");
    expect(filesOf(dir)).toEqual([]);
  });

  it("files of a lost database go when they are too old", async () => {
    await keep();
    await database.close();
    await rm(join(dir, "spillway.db"));
    database = await openDatabase(dir);
    store = await localStore({ dir, database });
    const swept = await store.collect({ nowMs: Date.now() + 2 * 3_600_000, maxAgeMs: 3_600_000 });
    expect(swept.files).not.toEqual([]);
    expect(filesOf(dir)).toEqual([]);
  });

  it("bytes in a row that are not those that were kept are told when they are read", async () => {
    const { id } = await keep(Buffer.from("small and whole"));
    database.raw.prepare("update small set data = ?").run(Buffer.from("small and wrong"));
    await expect(store.read(id, "local", { from: 0, to: 5 })).rejects.toThrow(/are damaged.*spillway verify/);
  });
});

describe("links", () => {
  it("no link in the place of an artifact, an index or a folder is followed", async () => {
    const outside = join(base, `outside${made}`);
    await mkdir(outside);
    await writeFile(join(outside, "private"), "do not read");
    const { id } = await keep();
    const path = fileOf("");
    await unlink(path);
    await symlink(join(outside, "private"), path);
    await expect(store.read(id, "local", { from: 0, to: 11 })).rejects.toMatchObject({ code: "store-damaged" });
    expect(await store.verify()).toMatchObject({ damaged: [{ id }] });

    await rm(join(dir, "artifacts"), { recursive: true });
    await mkdir(join(dir, "artifacts"), { mode: 0o700 });
    await symlink(outside, join(dir, "artifacts", path.slice(-64, -62)));
    await expect(keep()).rejects.toThrow(/is not a folder/);
    await expect(store.read(id, "local", { from: 0, to: 11 })).rejects.toThrow(/is not a folder/);
    expect((await stat(join(outside, "private"))).size).toBe(11);

    await rm(join(dir, "artifacts"), { recursive: true });
    await symlink(outside, join(dir, "artifacts"));
    await expect(localStore({ dir, database })).rejects.toThrow(/is not a folder/);
  });

  it("no link in the place of the secret is followed", async () => {
    await unlink(join(dir, "secret"));
    await symlink(join(dir, "spillway.db"), join(dir, "secret"));
    await expect(localStore({ dir, database })).rejects.toMatchObject({ code: "store-damaged" });
  });

  it.skipIf(process.platform === "win32")(
    "a pipe in the place of the secret or an artifact is not waited for",
    async () => {
      const { id } = await keep();
      for (const path of [fileOf(""), join(dir, "secret")]) {
        await unlink(path);
        expect(spawnSync("mkfifo", [path]).status).toBe(0);
      }
      await expect(store.read(id, "local", { from: 0, to: 11 })).rejects.toThrow(/is not a plain file/);
      expect(await store.verify()).toMatchObject({ damaged: [{ id }] });
      await expect(localStore({ dir, database })).rejects.toThrow(/is not a plain file/);
    },
  );

  it("a folder that others may write to is no store", async () => {
    const shared = join(base, "shared");
    await mkdir(shared);
    await chmod(shared, 0o777);
    // Windows has no such modes.
    if (process.platform === "win32") return;
    await expect(localStore({ dir: shared, database })).rejects.toThrow(/can be written by other users/);
  });
});
