import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { relative, resolve } from "node:path";
import type { Artifact, ByteRange, Scope, Store } from "../../contract/store.ts";
import { codeOf, SpillwayError } from "../../errors.ts";
import { NUMBERS } from "../../stages/policy/defaults.ts";
import { adoptFile } from "../local/adopt-file.ts";
import { type ArtifactFiles, type OpenBytes, openFiles } from "../local/artifact-files.ts";
import { isArtifactId, isIdPrefix, readSecret } from "../local/artifact-key.ts";
import { type ArtifactRow, artifactRows, toArtifact, unsaved } from "../local/artifact-rows.ts";
import { keepNow, LocalWriter } from "../local/artifact-writer.ts";
import { locateLines } from "../local/line-index.ts";
import type { Database } from "../local/open-database.ts";
import type { ArtifactBytes } from "../local/plain-file.ts";
import {
  type CollectedFiles,
  type CollectOptions,
  type CollectReport,
  collect,
  findOrphans,
  type RemovedSession,
  removeSession,
  sweepFiles,
} from "../local/retention.ts";
import { openQuota, SpoolPart, type StoreLimits, writeFault } from "../local/spool-part.ts";
import { openFolders } from "../local/store-folders.ts";
import { type VerifyReport, verify } from "../local/verify.ts";
import { storedName } from "../stored-name.ts";

/** Options of `localStore`. */
export interface LocalStoreOptions {
  dir: string;
  /** The database of the same folder. Closing the store does not close it. */
  database: Database;
  limits?: StoreLimits;
  /** Gives the store's secret if the folder has none yet. Without it a new one is made. */
  newSecret?: () => Promise<Uint8Array>;
  /** Removes nothing to make room, however full it is. */
  keepsAll?: boolean;
  /** The clock. Tests set it. */
  now?: () => number;
}

/** A store whose owner can do more with it than a reader of artifacts. */
export interface KeptStore extends Store {
  collect(options?: CollectOptions): Promise<CollectReport>;
  verify(): Promise<VerifyReport>;
  removeSession(session: string | null, scope: Scope): Promise<RemovedSession>;
  /**
   * Returns the ids that begin with a prefix of 6 characters or more. It is for a person at the command line, never for
   * a model.
   */
  resolvePrefix(prefix: string, scope: Scope): Promise<string[]>;
  /** What ids are made with. */
  readonly secret: Uint8Array;
  /** What it takes to copy everything to another store. */
  readonly copying: Copying;
}

/** The bytes of an artifact of another store. */
type CopiedBytes = Pick<OpenBytes, "bytes" | "index">;

/** How artifacts are copied from one store to another, with their ids, whoever may read them. */
export interface Copying {
  /** A page of savings after one of them. */
  after: (last: Pick<ArtifactRow, "key" | "saved_ms">, max: number) => Promise<ArtifactRow[]>;
  /** Throws if the bytes are gone, or are on another machine. */
  open(row: ArtifactRow): Promise<CopiedBytes>;
  /** Takes a saving of another store, with its bytes if they are not here. Returns false if the saving was here already. */
  take(row: ArtifactRow, open: () => Promise<CopiedBytes>): Promise<boolean>;
  /** All secrets that ids were made with. */
  secrets(): Promise<Uint8Array[]>;
  learn(secret: Uint8Array): Promise<unknown>;
}

/** A store in a folder of this machine. */
export interface LocalStore extends KeptStore {
  /** Opens an artifact by its key, whoever may read it. */
  openBytes: ArtifactFiles["openBytes"];
  /** Forgets one saving of an artifact, and the artifact itself if that was the last one. */
  letGo(saving: ArtifactRow): Promise<void>;
}

const MAX_LISTED = 1000;
const MAX_RESOLVED = 10;

/** Keeps artifacts up to 64 KiB in rows and larger ones in files. Several processes may use the same folder. */
export async function localStore(options: LocalStoreOptions): Promise<LocalStore> {
  const { database, limits = {}, newSecret, keepsAll = false, now = Date.now } = options;
  const folders = await openFolders(resolve(options.dir));
  const secret = await readSecret(folders, newSecret);
  const rows = artifactRows(database);
  const files = openFiles(folders, database, rows);
  const maxBytes = limits.maxBytes ?? NUMBERS.retainTotalBytes.default;
  const quota = openQuota(
    folders.dir,
    limits,
    () => database.now(rows.totalBytes()),
    async () => {
      if (!keepsAll) await collect(database, rows, collected, { nowMs: now(), maxBytes });
    },
  );
  const collected: CollectedFiles = {
    async remove(removed) {
      await Promise.all(removed.map(({ key }) => files.tidy(key)));
    },
    sweep: (how) => sweepFiles(database, rows, files, how),
  };
  const logPath = `${database.path}-wal`;
  const place = {
    secret,
    database,
    rows,
    files,
    quota,
    now,
    logPath,
    syncLog: logSyncer(logPath),
  };
  const find = (id: string, scope: Scope): ArtifactRow | null =>
    isArtifactId(id) ? database.now(rows.find(id, storedName(scope) ?? "")) : null;

  async function findOrAdopt(id: string, scope: Scope): Promise<ArtifactRow | null> {
    const row = find(id, scope);
    if (row !== null || !isArtifactId(id)) return row;
    return adoptFile({ database, rows, files, secret }, { id, scope: storedName(scope) ?? "" }).catch(() => null);
  }

  async function opening(id: string, scope: Scope): Promise<OpenBytes | null> {
    const found = await findOrAdopt(id, scope);
    const there = found && (await files.openBytes(found.key));
    if (there === null) return null;
    if (there.opened !== null) return there.opened;
    return gone(id);
  }

  async function reading<T>(id: string, scope: Scope, act: (opened: OpenBytes) => Promise<T>): Promise<T | null> {
    const opened = await opening(id, scope);
    return opened && act(opened).finally(() => opened.bytes.close());
  }

  async function gone(id: string): Promise<never> {
    throw new SpillwayError(
      "store-damaged",
      `the bytes of artifact ${id} are gone from ${folders.dir}: somebody removed them. Run: spillway verify`,
    );
  }

  /** Writes the bytes of another store's artifact to a part, and saves the row with it. */
  async function takeFile(row: ArtifactRow, source: ArtifactBytes): Promise<void> {
    const part = await SpoolPart.open(folders.spool, quota);
    try {
      for (let from = 0; from < row.bytes; from += COPY_BYTES)
        await part.add(await source.read(from, Math.min(row.bytes, from + COPY_BYTES)));
      const { path, sha256, index, isPartial } = await part.end();
      if (isPartial || sha256 !== row.sha256) throw otherBytes(row);
      let isPlaced = false;
      const place = () => {
        if (!isPlaced) files.place(row.key, path);
        isPlaced = true;
      };
      const copy = { ...unsaved(row), form: "plain" as const, place: null };
      await database.commit(() => rows.save(copy, row.saved_ms, { index: index.data, place, isCopy: true }));
    } catch (error) {
      await part.abandon();
      throw error;
    }
  }

  const copying: Copying = {
    after: (last, max) => database.read(() => rows.after(last, max)),
    open: async (row) => (await files.openBytes(row.key))?.opened ?? gone(row.id),
    async take(row, open) {
      const joined = await database.commit(() => rows.join(row));
      if (joined !== null) return joined;
      const { bytes } = await open();
      try {
        if (row.form !== "row") await takeFile(row, bytes);
        else {
          const data = await smallBytes(row, bytes);
          await database.commit(() =>
            rows.save({ ...unsaved(row), place: null }, row.saved_ms, { data, isCopy: true }),
          );
        }
      } finally {
        await bytes.close();
      }
      await place.syncLog();
      return true;
    },
    secrets: async () => [secret, ...(await database.read(rows.secrets))],
    learn: (value) => database.commit(() => rows.learnSecret(value)),
  };

  return {
    name: "local",
    secret,
    copying,
    async begin(about) {
      await quota.glance();
      return new LocalWriter(place, about);
    },
    keepNow: (about, bytes, redactions) => keepNow(place, about, bytes, redactions),
    async find(id, scope) {
      const row = await findOrAdopt(id, scope);
      return row && toArtifact(row);
    },
    read: (id, scope, range) => reading(id, scope, ({ bytes }) => readClipped(bytes, range)),
    async hold(id, scope) {
      const bytes = (await opening(id, scope))?.bytes ?? null;
      return bytes && { read: (range) => readClipped(bytes, range), close: () => bytes.close() };
    },
    locate: (id, scope, lines) => reading(id, scope, (opened) => locateLines(opened, lines)),
    async file(id, scope) {
      const row = await findOrAdopt(id, scope);
      return row && files.plainFile(row.key);
    },
    async list({ scope, session, beforeMs, max = MAX_LISTED }): Promise<Artifact[]> {
      const named = session === undefined ? undefined : (storedName(session) ?? "");
      const most = Math.max(0, Math.min(max, MAX_LISTED));
      return (await database.read(() => rows.list(storedName(scope) ?? "", named, beforeMs, most))).map(toArtifact);
    },
    async remove(id, scope) {
      const row = isArtifactId(id) ? await database.commit(() => rows.remove(id, storedName(scope) ?? "")) : null;
      if (row !== null) await files.tidy(row.key);
      return row !== null;
    },
    async close() {},
    collect: (given) => collect(database, rows, collected, { nowMs: now(), maxBytes, ...given }),
    verify: async () =>
      verify(database, rows, await copying.secrets(), {
        open: ({ key }) => files.openBytes(key),
        orphans: async () => (await findOrphans(database, rows, files)).map(({ path }) => relative(folders.dir, path)),
      }),
    removeSession: (session, scope) => removeSession(database, rows, collected, { session, scope }),
    openBytes: files.openBytes,
    async letGo(saving) {
      if (await database.commit(() => rows.untie(saving))) await files.tidy(saving.key);
    },
    async resolvePrefix(prefix, scope) {
      if (!isIdPrefix(prefix)) return [];
      const found = await database.read(() => rows.idsFrom(prefix, storedName(scope) ?? "", MAX_RESOLVED));
      if (found.length === 0 && (await findOrAdopt(prefix, scope)) !== null) return [prefix];
      return found;
    },
  };
}

const COPY_BYTES = 1024 * 1024;

function otherBytes({ id }: ArtifactRow): SpillwayError {
  return new SpillwayError("store-damaged", `the bytes of artifact ${id} are not those that were saved`);
}

/** Reads the bytes of a small artifact of another store, and sees that they are the ones that were saved. */
export async function smallBytes(row: ArtifactRow, bytes: ArtifactBytes): Promise<Uint8Array> {
  const data = await bytes.read(0, row.bytes);
  if (createHash("sha256").update(data).digest("hex") !== row.sha256) throw otherBytes(row);
  return data;
}

/** Reads a range, clipped to the artifact. */
export async function readClipped(bytes: ArtifactBytes, range: ByteRange): Promise<Uint8Array> {
  const from = Math.min(bytes.bytes, Math.max(0, range.from));
  return bytes.read(from, Math.min(bytes.bytes, Math.max(from, range.to)));
}

/**
 * Returns a function that flushes the database's log. The database writes a commit to its log without waiting for the
 * disk, but a saved artifact must be durable. The flush runs off this thread, and writers that end at the same time
 * share one.
 */
function logSyncer(path: string): () => Promise<void> {
  let next: Promise<void> | null = null;
  let running: Promise<unknown> = Promise.resolve();
  const flush = async (): Promise<void> => {
    const log = await open(path, "r+").catch((error: unknown) => {
      // Without a log there is nothing to flush. Any other fault means that a commit may not be durable.
      if (codeOf(error) === "ENOENT") return null;
      throw writeFault(error);
    });
    await log?.sync().finally(() => log.close());
  };
  return () => {
    next ??= running.then(() => {
      next = null;
      const flushed = flush();
      running = flushed.catch(() => {});
      return flushed;
    });
    return next;
  };
}
