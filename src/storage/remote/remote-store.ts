import { createHash, randomBytes } from "node:crypto";
import { hostname } from "node:os";
import type { Artifact, ArtifactAbout, ArtifactWriter, Scope } from "../../contract/store.ts";
import { newTurns, within } from "../../deadline.ts";
import { messageOf, SpillwayError } from "../../errors.ts";
import { NUMBERS } from "../../stages/policy/defaults.ts";
import { setNewest } from "../../values.ts";
import { isArtifactId, isIdPrefix } from "../local/artifact-key.ts";
import { type ArtifactRow, artifactRows, toArtifact, unsaved } from "../local/artifact-rows.ts";
import {
  checkedBytes,
  type LineIndex,
  lineIndexBytes,
  locateLines,
  readLineIndex,
  startLineIndex,
} from "../local/line-index.ts";
import type { Database } from "../local/open-database.ts";
import type { ArtifactBytes } from "../local/plain-file.ts";
import { type CollectedFiles, collect, removeSession } from "../local/retention.ts";
import type { ArtifactTable } from "../local/schema.ts";
import { verify } from "../local/verify.ts";
import { all, change, type Sql } from "../sql.ts";
import { storedName } from "../stored-name.ts";
import { type Copying, type KeptStore, type LocalStore, readClipped, smallBytes } from "../stores/local.ts";
import type { Bucket, ObjectSource } from "./bucket.ts";

/** What waits on this machine for its upload. */
export interface SpoolState {
  artifacts: number;
  bytes: number;
  /** When the oldest was saved; null if none waits. */
  oldestMs: number | null;
  /** Since this process began. */
  uploaded: number;
  failed: number;
  /** Why the last upload failed; null if none failed after the last one that succeeded. */
  fault: string | null;
}

/** The outputs of this machine that wait for their upload. */
export interface Spool {
  state(): Promise<SpoolState>;
  /** Tries to upload all of them once. */
  upload(): Promise<void>;
  /** Asks the bucket. Rejects with the reason if it does not answer. */
  reach(): Promise<void>;
}

/** A store that many machines share: rows and small artifacts in a database, larger ones in a bucket. */
export interface RemoteStore extends KeptStore {
  readonly spool: Spool;
}

/** What it is put together from. */
export interface RemoteParts {
  shared: Sql;
  bucket: Bucket;
  /** This machine's folder, in which every output is saved first. */
  spool: LocalStore;
  spoolDatabase: Database;
  /** Sees before uploads that this machine's secret is known to the others. Rejects while that cannot be seen. */
  settle?: () => Promise<void>;
  /** Uploads at once what an earlier process left; true where it is not said. */
  uploads?: boolean;
  /** Told when uploads begin to fail, and when they succeed again. */
  tell?: ((news: string) => void) | undefined;
  now?: () => number;
}

/** Bytes with their line index, open for reading. */
type Opened = { bytes: ArtifactBytes; index: LineIndex };

const MAX_LISTED = 1000;
const MAX_RESOLVED = 10;
const PAGE = 100;
const MOST_ANNOUNCING = 16;
const HELD_INDEXES = 64;
const FIRST_PAUSE_MS = 1000;
const LAST_PAUSE_MS = 15_000;

/** Keeps outputs on this machine first, and in the shared store as soon as that takes them. */
export function remoteStore(parts: RemoteParts): RemoteStore {
  const { shared, bucket, spool, spoolDatabase, settle, uploads = true, tell, now = Date.now } = parts;
  const rows = artifactRows(shared);
  const spooled = artifactRows(spoolDatabase);
  const machine = hostname();
  const counts = { uploaded: 0, failed: 0, fault: null as string | null };
  const turns = newTurns(NUMBERS.uploadsAtOnce.default);
  const uploading = new Map<string, Promise<Artifact>>();
  const indexes = new Map<string, LineIndex>();
  let timer: NodeJS.Timeout | undefined;
  let pauseMs = FIRST_PAUSE_MS;
  let isClosed = false;

  /** Uploads one output, once however many ask for it. Rejects with the reason, and the output stays in the spool. */
  function send(row: ArtifactRow): Promise<Artifact> {
    const key = JSON.stringify([row.key, row.session, row.saved_ms]);
    const running = uploading.get(key);
    if (running !== undefined) return running;
    const sent = (async () => {
      await turns.take();
      try {
        const artifact = await sendNow(row);
        counts.uploaded += 1;
        if (counts.fault !== null) tell?.("outputs are uploaded again");
        counts.fault = null;
        pauseMs = FIRST_PAUSE_MS;
        return artifact;
      } catch (error) {
        counts.failed += 1;
        if (counts.fault === null) tell?.(`outputs wait on this machine for their upload: ${messageOf(error)}`);
        counts.fault = messageOf(error);
        tryLater();
        throw error;
      } finally {
        turns.give();
        uploading.delete(key);
      }
    })();
    uploading.set(key, sent);
    return sent;
  }

  async function sendNow(row: ArtifactRow): Promise<Artifact> {
    await settle?.();
    const data = row.form === "row" ? await spoolDatabase.read(() => spooled.smallData(row.key)) : null;
    const saved = await keep(row, data, async () => {
      const opened = (await spool.openBytes(row.key))?.opened;
      if (opened) return opened;
      throw new SpillwayError("store-damaged", `the bytes of artifact ${row.id} are gone from the spool`);
    });
    // If it was saved again meanwhile, that saving has another time and stays.
    await spool.letGo(row).catch(() => {});
    return toArtifact(saved);
  }

  /** Keeps an artifact in the shared store: its row, and its bytes in the database or the bucket. */
  async function keep(row: ArtifactRow, data: Uint8Array | null, open: () => Promise<Opened>): Promise<ArtifactRow> {
    let place: string | null = null;
    if (row.form !== "row") {
      const found = await shared.read(() => rows.findByKey(row.key));
      place = found?.form === "object" ? null : await sendObject(await open());
    }
    const kept = await shared.commit(function* () {
      yield* rows.takeTurn("artifacts");
      const found = yield* rows.findByKey(row.key);
      // Another machine may have uploaded the same bytes meanwhile, or removed those that were there.
      const isThere = found?.form === "object";
      if (row.form !== "row" && !isThere && place === null) return null;
      const object = row.form === "row" ? null : isThere ? found.place : place;
      if (place !== null && object === place) yield* change(unclaimed([place]));
      const form = row.form === "row" ? ("row" as const) : ("object" as const);
      const saved = yield* rows.save({ ...unsaved(row), form, place: object }, row.saved_ms, { data, isCopy: true });
      const spare = isThere && object === null ? found.place : isThere ? place : null;
      if (spare !== null) yield* rows.disown(spare);
      return { saved, spare };
    });
    if (kept === null) return keep(row, data, open);
    if (kept.spare !== null) await removeObjects([kept.spare]);
    return kept.saved;
  }

  /** Uploads bytes and closes them. */
  async function sendObject({ bytes, index: { data } }: Opened): Promise<string> {
    const place = randomBytes(20).toString("hex");
    // Says whose the object is before it exists, so that one of a process that ends is found without listing the bucket.
    const began = shared.kysely.insertInto("uploads").values({ place, began_ms: now() });
    try {
      await shared.commit(() => change(began));
      await bucket.put(place, bytes);
      if (bytes.bytes > READ_BYTES) {
        await bucket.put(`${place}${INDEX}`, { bytes: data.length, read: async (from, to) => data.subarray(from, to) });
      }
    } catch (error) {
      await removeObjects([place]);
      throw error;
    } finally {
      await bytes.close();
    }
    return place;
  }

  /** Those that cannot be removed now are removed by the next sweep. */
  async function removeObjects(places: string[]): Promise<void> {
    if (places.length === 0) return;
    try {
      await bucket.remove(places.flatMap((place) => [place, `${place}${INDEX}`]));
      await shared.commit(() => change(unclaimed(places)));
    } catch {}
  }
  const unclaimed = (places: string[]) => shared.kysely.deleteFrom("uploads").where("place", "in", places);

  /** Says in the shared store that an output is on this machine still, so that others know. */
  async function announce(row: ArtifactRow): Promise<void> {
    await shared.commit(function* () {
      yield* rows.takeTurn("artifacts");
      const found = yield* rows.findByKey(row.key);
      if (found !== null && found.form !== "spool") return;
      yield* rows.save({ ...unsaved(row), saved: "local", form: "spool", place: machine }, row.saved_ms, {});
    });
  }

  let announcing = 0;
  /** In the background, and not for every output while the database does not answer: then nobody could be told anyway. */
  function announceSoon(row: ArtifactRow): void {
    if (announcing >= MOST_ANNOUNCING) return;
    announcing += 1;
    void announce(row)
      .catch(() => {})
      .finally(() => {
        announcing -= 1;
      });
  }

  function tryLater(): void {
    if (timer !== undefined || isClosed) return;
    timer = setTimeout(() => {
      timer = undefined;
      pauseMs = Math.min(LAST_PAUSE_MS, pauseMs * 2);
      void uploadAll().catch(() => {});
    }, pauseMs);
    timer.unref();
  }

  async function uploadAll(): Promise<void> {
    for (;;) {
      const page = await spoolDatabase.read(() => spooled.oldest(PAGE));
      const sent = await Promise.allSettled(page.map(send));
      if (isClosed || page.length < PAGE || sent.every(({ status }) => status === "rejected")) return;
    }
  }

  async function endOf(writer: ArtifactWriter, ...ending: Parameters<ArtifactWriter["end"]>): Promise<Artifact> {
    const beganMs = performance.now();
    const local = await writer.end(...ending);
    // The names of a kept artifact are those that are stored.
    const row = await spoolDatabase.read(() => spooled.find(local.id, local.scope, local.session ?? ""));
    // Another process of this machine has uploaded it already.
    if (row === null) return local;
    // While uploads fail nobody waits for another one; the next attempt sends all that is here.
    if (counts.fault !== null) tryLater();
    else {
      const sent = send(row);
      sent.catch(() => {});
      // On a slow disk the first saving is part of the time that a caller waits. Past that it would count as not saved at all.
      const leftMs = Math.max(0, NUMBERS.uploadDeadlineMs.default - (performance.now() - beganMs));
      try {
        return await within(sent, leftMs, "uploading");
      } catch {}
    }
    announceSoon(row);
    return { ...local, saved: local.saved === "yes" ? "local" : local.saved };
  }

  /** The row of an id: first of the spool, which needs no network. */
  async function find(id: string, scope: Scope): Promise<{ row: ArtifactRow; isSpooled: boolean } | null> {
    if (!isArtifactId(id)) return null;
    const name = storedName(scope) ?? "";
    const own = await spoolDatabase.read(() => spooled.find(id, name));
    if (own !== null) return { row: { ...own, saved: own.saved === "yes" ? "local" : own.saved }, isSpooled: true };
    const row = await shared.read(() => rows.find(id, name));
    return row && { row, isSpooled: false };
  }

  const gone = ({ id }: ArtifactTable) =>
    new SpillwayError(
      "store-damaged",
      `the bytes of artifact ${id} are gone from ${bucket.place}. Run: spillway verify`,
    );

  async function openBytes(row: ArtifactTable): Promise<Opened> {
    const { key, id, bytes, place } = row;
    const held = async (data: Uint8Array | null): Promise<Opened> => {
      if (data === null) throw gone(row);
      const read: ArtifactBytes["read"] = async (from, to) => new Uint8Array(data.subarray(from, to));
      return { bytes: { bytes, read, close: async () => {} }, index: await indexOf({ bytes, read }) };
    };
    if (row.form === "row") return held(await shared.read(() => rows.smallData(key)));
    if (row.form !== "object" || place === null) {
      throw new SpillwayError(
        "store-unavailable",
        `artifact ${id} is still on the machine ${place ?? "that saved it"}, which has not uploaded it yet. Try again ` +
          "later; on that machine, spillway spool says what it waits for",
      );
    }
    if (bytes <= READ_BYTES) {
      // The second object would cost a bucket as much as the first, and to read so little whole costs less than to ask twice.
      const data = await bucket.read(place, 0, bytes);
      if (data !== null && createHash("sha256").update(data).digest("hex") !== row.sha256) {
        throw new SpillwayError("store-damaged", `artifact ${id} is damaged in ${bucket.place}. Run: spillway verify`);
      }
      return held(data);
    }
    const read: ArtifactBytes["read"] = async (from, to) => {
      const found = await bucket.read(place, from, to);
      if (found === null) throw gone(row);
      return found;
    };
    const plain = { bytes, read, close: async () => {} };
    const index = indexes.get(place) ?? (await openIndex(row, place, plain));
    setNewest(indexes, place, index, HELD_INDEXES);
    return { bytes: checkedBytes(plain, index, `artifact ${id}`), index };
  }

  async function openIndex(row: ArtifactTable, place: string, plain: ArtifactBytes): Promise<LineIndex> {
    const stored = await bucket.read(`${place}${INDEX}`, 0, lineIndexBytes(row.bytes));
    return (stored && readLineIndex(stored, row)) ?? indexOf(plain);
  }

  const files: CollectedFiles = {
    remove: (removed) =>
      removeObjects(removed.flatMap(({ place, form }) => (form === "object" && place !== null ? [place] : []))),
    async sweep({ nowMs, staleMs, dryRun }) {
      const { kysely } = shared;
      const stale = kysely
        .selectFrom("uploads")
        .select("place")
        .where("began_ms", "<", nowMs - staleMs)
        .limit(PAGE);
      const swept = (await shared.read(() => all(stale))).map(({ place }) => place);
      if (!dryRun) await removeObjects(swept);
      return swept.map((place) => `${bucket.place}${place}`);
    },
  };

  async function spoolState(): Promise<SpoolState> {
    const waiting = spoolDatabase.kysely
      .selectFrom("artifacts")
      .select(({ fn }) => [fn.countAll().as("count"), fn.sum("bytes").as("bytes"), fn.min("created_ms").as("oldest")]);
    const [found] = await spoolDatabase.read(() => all(waiting));
    const { count = 0, bytes = 0, oldest = null } = found ?? {};
    return { artifacts: Number(count), bytes: Number(bytes ?? 0), oldestMs: oldest, ...counts };
  }

  const reading = async <T>(
    id: string,
    scope: Scope,
    local: () => Promise<T | null>,
    act: (opened: { row: ArtifactRow; bytes: ArtifactBytes; index: LineIndex }) => Promise<T>,
  ): Promise<T | null> => {
    const found = await find(id, scope);
    if (found === null) return null;
    // If it was uploaded in between, it is there now.
    const own = found.isSpooled ? await local() : null;
    if (own !== null) return own;
    const row = found.isSpooled ? await shared.read(() => rows.find(id, storedName(scope) ?? "")) : found.row;
    return row && act({ row, ...(await openBytes(row)) });
  };

  const copying: Copying = {
    after: (last, max) => shared.read(() => rows.after(last, max)),
    open: openBytes,
    async take(row, open) {
      const joined = await shared.commit(() => rows.join(row));
      if (joined !== null) return joined;
      if (row.form !== "row") await keep(row, null, open);
      else {
        const { bytes } = await open();
        const data = await smallBytes(row, bytes).finally(() => bytes.close());
        await keep(row, data, open);
      }
      return true;
    },
    secrets: async () => [spool.secret, ...(await shared.read(rows.secrets))],
    learn: (secret) => shared.commit(() => rows.learnSecret(secret)),
  };

  // What an earlier process left.
  if (uploads) void uploadAll().catch(() => {});

  return {
    name: "remote",
    secret: spool.secret,
    copying,
    async begin(about: ArtifactAbout) {
      const writer = await spool.begin(about);
      return {
        add: (bytes) => writer.add(bytes),
        end: (redactions, exitCode) => endOf(writer, redactions, exitCode),
        abandon: () => writer.abandon(),
      };
    },
    keepNow(about, bytes, redactions) {
      const kept = spool.keepNow?.(about, bytes, redactions);
      if (kept === undefined) throw new SpillwayError("store-unavailable", "the spool cannot save without waiting");
      tryLater();
      return { ...kept, saved: "local" };
    },
    async find(id, scope) {
      const found = await find(id, scope);
      return found && toArtifact(found.row);
    },
    read: (id, scope, range) =>
      reading(
        id,
        scope,
        () => spool.read(id, scope, range),
        ({ bytes }) => readClipped(bytes, range),
      ),
    hold: (id, scope) =>
      reading(
        id,
        scope,
        async () => (await spool.hold?.(id, scope)) ?? null,
        async ({ bytes }) => ({ read: (range) => readClipped(bytes, range), close: () => bytes.close() }),
      ),
    locate: (id, scope, lines) =>
      reading(
        id,
        scope,
        () => spool.locate(id, scope, lines),
        (opened) => locateLines(opened, lines),
      ),
    file: (id, scope) => spool.file(id, scope),
    async list({ scope, session, beforeMs, max = MAX_LISTED }) {
      const named = session === undefined ? undefined : (storedName(session) ?? "");
      const most = Math.max(0, Math.min(max, MAX_LISTED));
      return (await shared.read(() => rows.list(storedName(scope) ?? "", named, beforeMs, most))).map(toArtifact);
    },
    async remove(id, scope) {
      if (!isArtifactId(id)) return false;
      const row = await shared.commit(() => rows.remove(id, storedName(scope) ?? ""));
      if (row !== null) await files.remove([row]);
      return (await spool.remove(id, scope)) || row !== null;
    },
    async close() {
      isClosed = true;
      clearTimeout(timer);
      // What does not end now is uploaded by the next process.
      const ended = Promise.allSettled(uploading.values());
      await within(ended, NUMBERS.uploadDeadlineMs.default, "uploading").catch(() => {});
      await spool.close();
    },
    collect: (given) => collect(shared, rows, files, { nowMs: now(), ...given }),
    verify: async () =>
      verify(shared, rows, await copying.secrets(), {
        async open(row) {
          if (row.form === "spool") return null;
          const opening = openBytes(row).then(async (opened) => {
            await opened.bytes.read(0, Math.min(1, row.bytes));
            return opened;
          });
          return { opened: await opening.catch(goneOnly) };
        },
        async orphans() {
          const named = new Set<string>();
          const { kysely } = shared;
          for await (const { key } of bucket.list()) named.add(key.replace(INDEX, ""));
          const found: string[] = [];
          const places = [...named];
          for (let from = 0; from < places.length; from += PAGE) {
            const some = places.slice(from, from + PAGE);
            const known = kysely.selectFrom("artifacts").select("place").where("place", "in", some);
            const held = new Set((await shared.read(() => all(known))).map(({ place }) => place));
            found.push(...some.filter((place) => !held.has(place)));
          }
          return found;
        },
      }),
    removeSession: (session, scope) => removeSession(shared, rows, files, { session, scope }),
    async resolvePrefix(prefix, scope) {
      if (!isIdPrefix(prefix)) return [];
      const own = await spool.resolvePrefix(prefix, scope);
      const asked = shared.read(() => rows.idsFrom(prefix, storedName(scope) ?? "", MAX_RESOLVED));
      // What is on this machine can be read while the database does not answer.
      const found = await asked.catch((error: unknown) => {
        if (own.length > 0) return [];
        throw error;
      });
      return [...new Set([...found, ...own])];
    },
    spool: {
      upload: uploadAll,
      state: spoolState,
      async reach() {
        await bucket.list().next();
      },
    },
  };
}

/** The line index of an object is the object of this name. An object of at most READ_BYTES has none: it is read whole. */
const INDEX = ".lines";
const READ_BYTES = 1024 * 1024;

async function indexOf({ bytes, read }: ObjectSource): Promise<LineIndex> {
  const index = startLineIndex();
  for (let from = 0; from < bytes; from += READ_BYTES) index.add(await read(from, Math.min(bytes, from + READ_BYTES)));
  return index.end();
}

function goneOnly(error: unknown): null {
  if (SpillwayError.is(error) && /are gone/.test(error.message)) return null;
  throw error;
}
