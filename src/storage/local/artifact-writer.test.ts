import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { localStore } from "../stores/local.ts";
import { openFiles } from "./artifact-files.ts";
import { readSecret } from "./artifact-key.ts";
import { openRows } from "./artifact-rows.ts";
import { LocalWriter } from "./artifact-writer.ts";
import { type Database, openDatabase } from "./open-database.ts";
import { openFolders } from "./store-folders.ts";

let dir = "";
let database: Database;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "spillway-writer-"));
  database = await openDatabase(dir);
});
afterEach(async () => {
  await database.close();
  await rm(dir, { recursive: true });
});

it("keeps an artifact though there is no room for its line index, which is made anew", async () => {
  const folders = await openFolders(dir);
  const rows = openRows(database);
  const files = openFiles(folders, rows);
  const noRoom = () => Promise.reject(Object.assign(new Error("no space left"), { code: "ENOSPC" }));
  const place = {
    rows,
    files: { ...files, writeSpool: noRoom },
    secret: await readSecret(folders),
    now: Date.now,
    quota: { require: async () => {}, glance: async () => {}, requireNow: () => {} },
    syncLog: async () => {},
    writeSmall: rows.write,
  };
  const writer = new LocalWriter(place, { scope: "local", session: null, tool: "t", call: null });
  const output = Buffer.from("a line\n".repeat(30_000));
  await writer.add(output);
  const { id, saved, bytes } = await writer.end();
  expect({ saved, bytes }).toEqual({ saved: "yes", bytes: output.length });
  expect(await readdir(folders.spool)).toEqual([]);
  const store = await localStore({ dir, database });
  expect(await store.locate(id, "local", [2, 3])).toEqual({ from: 7, to: 21 });
  expect((await store.verify()).damaged).toEqual([]);
});
