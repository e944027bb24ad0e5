import { mkdtemp, rm, stat, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, expect, it, vi } from "vitest";
import type { EventKind } from "../../contract/event.ts";
import { sqlLedger } from "../ledgers/sql.ts";
import { localStore } from "../stores/local.ts";
import { collectWhenDue, retained } from "./collect-when-due.ts";
import { openDatabase } from "./open-database.ts";
import { openLocal } from "./open-local.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const base = await mkdtemp(join(tmpdir(), "spillway-due-"));
afterAll(() => rm(base, { recursive: true }));
afterEach(() => vi.useRealTimers());
let made = 0;

/** Makes a folder with one output that is nine days old. */
async function open() {
  const dir = join(base, String((made += 1)));
  const database = await openDatabase(dir);
  const clock = { nowMs: Date.now() - 9 * DAY };
  const store = await localStore({ dir, database, now: () => clock.nowMs });
  const ledger = sqlLedger(database, "sqlite");
  const about = { session: "old", tool: "bash", call: null, artifact: null, receipt: null, more: null };
  await ledger.record({ ...about, kind: "output-passed" as EventKind, atMs: clock.nowMs });
  const keep = async (text: string) => {
    const writer = await store.begin({ scope: "local", session: null, tool: "bash", call: null });
    await writer.add(Buffer.from(text));
    return (await writer.end()).id;
  };
  const old = await keep("old");
  clock.nowMs = Date.now();
  const left = async () => (await store.list({ scope: "local" })).map(({ id }) => id);
  return { dir, database, store, ledger, keep, old, left };
}

const going = () => new AbortController().signal;

it("applies retention to artifacts and events, once an hour whoever asks", async () => {
  const place = await open();
  const young = await place.keep("young");
  expect(await collectWhenDue(place, {}, going())).toBe(true);
  expect(await place.left()).toEqual([young]);
  expect(await place.ledger.events()).toEqual([]);
  expect(await collectWhenDue(place, { maxAgeMs: 0, retainMs: 0 }, going())).toBe(false);
  expect(await place.left()).toEqual([young]);
  const stamp = join(place.dir, "collected");
  const before = (Date.now() - 2 * HOUR) / 1000;
  await utimes(stamp, before, before);
  expect(await collectWhenDue(place, {}, going())).toBe(true);
  // If the stamp's time is in the future, collection is not put off.
  const later = (Date.now() + 365 * DAY) / 1000;
  await utimes(stamp, later, later);
  expect(await collectWhenDue(place, {}, going())).toBe(true);
});

it("what was stopped early is due again", async () => {
  const place = await open();
  expect(await collectWhenDue(place, {}, AbortSignal.abort())).toBe(true);
  expect(await place.left()).toEqual([place.old]);
  expect(await collectWhenDue(place, {}, going())).toBe(true);
  expect(await place.left()).toEqual([]);
});

it("runs in the background some time after something was kept", async () => {
  const place = await open();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const { store, stop } = retained(place, {}, true);
  const begin = async () => (await store.begin({ scope: "local", session: null, tool: "x", call: null })).abandon();
  await begin();
  await begin();
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(5000);
  vi.useRealTimers();
  await expect.poll(place.left).toEqual([]);
  // It was applied a moment ago.
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  await begin();
  expect(vi.getTimerCount()).toBe(0);
  await stop();
});

it("a folder that is opened to stay does so, unless everything is to be kept", async () => {
  const { dir, old } = await open();
  const list = async (retention?: "off") => {
    const local = await openLocal(dir, { ...(retention && { retention }) });
    await local.collect();
    const ids = (await local.store.list({ scope: "local" })).map(({ id }) => id);
    await local.close();
    return ids;
  };
  expect(await list("off")).toEqual([old]);
  await expect(stat(join(dir, "collected"))).rejects.toThrow(/ENOENT/);
  expect(await list()).toEqual([]);
  expect((await stat(join(dir, "collected"))).mode & 0o777).toBe(0o600);
});
