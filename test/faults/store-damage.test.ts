import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  appendFile,
  chmod,
  mkdir,
  mkdtemp,
  open,
  readFile,
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
import { SpillwayError } from "../../src/errors.ts";
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
const compress = () => store.compressIdle({ nowMs: Date.now() + 86_400_000 });

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
    for (const harm of [
      () => flip(fileOf(".idx"), 40),
      () => unlink(fileOf(".idx")),
      () => truncate(fileOf(".idx"), 7),
    ]) {
      await harm();
      const other = await localStore({ dir, database });
      expect(await other.locate(id, "local", [30_000, 30_010])).toEqual(truth);
      expect(checkStore(dir, [])).toEqual([]);
    }
  });

  it("a compressed block that is damaged is told by its bytes; the others are read", async () => {
    const { id } = await keep();
    expect((await compress()).compressed).toBe(1);
    await flip(fileOf(".blocks"), 1000);
    await expect(store.read(id, "local", { from: 0, to: 10 })).rejects.toThrow(
      /is damaged: bytes 0-1048576.*spillway verify/,
    );
    const far = await store.read(id, "local", { from: 1_100_000, to: 1_100_100 });
    expect(Buffer.from(far ?? [])).toEqual(OUTPUT.subarray(1_100_000, 1_100_100));
    expect((await store.verify()).damaged).toMatchObject([{ id }]);
  });

  it("a compressed file that is torn at any place is refused", async () => {
    const { id } = await keep();
    await compress();
    const path = fileOf(".blocks");
    const whole = await readFile(path);
    for (const bytes of [0, 10, 63, 64, 5000, whole.length - 1]) {
      await writeFile(path, whole.subarray(0, bytes));
      await expect(store.read(id, "local", { from: 0, to: 10 })).rejects.toMatchObject({ code: "store-damaged" });
    }
  });

  it("a plain file of another length is refused, one with other bytes is found by verify", async () => {
    const { id } = await keep();
    await flip(fileOf(""), 5000);
    expect(await store.verify()).toMatchObject({ checked: 1, damaged: [{ id }], missing: [] });
    await appendFile(fileOf(""), "more");
    await expect(store.read(id, "local", { from: 0, to: 10 })).rejects.toThrow(/should hold \d+ bytes/);
    // Keeping the same bytes again heals it.
    expect((await keep()).id).toBe(id);
    expect(await store.verify()).toMatchObject({ damaged: [], missing: [], orphaned: [] });
  });

  it("damage is not packed as if it were the artifact", async () => {
    await keep();
    await flip(fileOf(""), 5000);
    expect(await compress()).toMatchObject({ compressed: 0, failed: [{ reason: expect.stringMatching(/not those/) }] });
    expect(filesOf(dir).filter((path) => /\.(blocks|part)$/.test(path))).toEqual([]);
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
    await compress();
    await keep();
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

describe("while it is being switched", () => {
  it("readers see the same bytes, whatever form they are in", async () => {
    const { id } = await keep();
    const state = { isDone: false };
    const reading = (async () => {
      for (let at = 0; !state.isDone; at = (at + 7919) % 400_000) {
        const bytes = await store.read(id, "local", { from: at, to: at + 100 });
        expect(Buffer.from(bytes ?? []).equals(OUTPUT.subarray(at, at + 100))).toBe(true);
      }
    })();
    for (let round = 0; round < 10; round += 1) {
      await compress();
      await keep();
    }
    state.isDone = true;
    await reading;
  });

  it("a plain file that was given to a searcher is left where it is", async () => {
    const { id } = await keep();
    const nowMs = Date.now() + 86_400_000;
    const path = await store.file(id, "local");
    expect(await store.compressIdle({ nowMs, olderThanMs: 86_400_000 + 60_000 })).toMatchObject({ compressed: 0 });
    expect(await store.file(id, "local")).toBe(path);
    await compress();
    expect(await store.file(id, "local")).toBeNull();
  });
});
