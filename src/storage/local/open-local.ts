import { randomBytes } from "node:crypto";
import { rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Ledger } from "../../contract/ledger.ts";
import type { Retention, Store } from "../../contract/store.ts";
import { NUMBERS } from "../../stages/policy/defaults.ts";
import { memoryLedger } from "../ledgers/memory.ts";
import { pruneEvents } from "../ledgers/prune-events.ts";
import { sqlLedger } from "../ledgers/sql.ts";
import type { Sql } from "../sql.ts";
import { type LocalStore, localStore } from "../stores/local.ts";
import { memoryStore } from "../stores/memory.ts";
import { dataFolder } from "./data-folder.ts";
import { ownerFault } from "./database-fault.ts";
import { type Database, openDatabase } from "./open-database.ts";
import { PRIVATE_FILE } from "./store-folders.ts";

/** Everything that is kept on this machine. */
export interface Local {
  dir: string;
  store: LocalStore;
  ledger: Ledger;
  /** The database of the ledger. */
  database: Sql;
  /**
   * Applies retention if it is due, for at most half a second, and returns whether it was. Call it in a process that is
   * about to end.
   */
  collect(): Promise<boolean>;
  close(): Promise<void>;
}

/** Options of `openLocal`. */
export interface OpenLocalOptions {
  /** Says how long and how much may stay. "off" keeps everything. */
  retention?: Retention | "off" | undefined;
  /** Set it in a process that keeps running: retention is then applied in the background, once an hour. */
  collects?: boolean;
  /** Says that nothing will be saved. */
  readsOnly?: boolean;
  /** The address of a PostgreSQL database in which events, sums and projections are kept instead. */
  ledger?: string | undefined;
}

/** Opens the folder in which a user's artifacts and events are kept, and makes it if it is missing. */
export async function openLocal(dir: string = dataFolder(), options: OpenLocalOptions = {}): Promise<Local> {
  const local = await openFolder(dir, options);
  if (options.ledger === undefined) return local;
  const { openPostgres } = await import("../remote/postgres.ts");
  const database = await openPostgres(options.ledger).catch(async (error: unknown) => {
    await local.close();
    throw error;
  });
  const ledger = sqlLedger(database, "postgres");
  return {
    ...local,
    ledger: {
      ...ledger,
      // The folder's own retention asks the folder's database.
      pin: async (session, pinned) =>
        void (await Promise.all([ledger.pin(session, pinned), local.ledger.pin(session, pinned)])),
    },
    database,
    async close() {
      await local.close();
      await database.close();
    },
  };
}

async function openFolder(
  dir: string,
  { retention = {}, collects = false, readsOnly = false }: OpenLocalOptions,
): Promise<Local> {
  const saidWhose = (error: unknown): never => {
    throw ownerFault(error, dir);
  };
  const database = await openDatabase(dir, { readsOnly }).catch(saidWhose);
  const isOff = retention === "off";
  const maxBytes = isOff ? Infinity : retention.maxBytes;
  const limits = maxBytes === undefined ? {} : { maxBytes };
  const store = await localStore({ dir, database, limits }).catch((error: unknown) => {
    void database.close();
    return saidWhose(error);
  });
  const ledger = sqlLedger(database, "sqlite");
  const collector = collects && !isOff ? startCollector({ dir, store, database }, retention) : null;
  return {
    dir,
    store: collector === null ? store : { ...store, begin: (about) => (collector.kept(), store.begin(about)) },
    ledger,
    database,
    async collect() {
      if (isOff) return false;
      const soon = AbortSignal.timeout(NUMBERS.collectQuickMs.default);
      return collectWhenDue({ dir, store, database }, retention, soon);
    },
    async close() {
      await collector?.stop();
      await ledger.close();
      await store.close();
      await database.close();
    },
  };
}

/** The parts of a local folder that a reader needs. */
export interface ReadableLocal extends Pick<Local, "dir" | "ledger" | "close"> {
  store: Store & Pick<LocalStore, "resolvePrefix" | "verify">;
}

/** Stands in for a folder in which nothing was saved yet, so that readers do not make the folder. */
export function emptyLocal(dir: string = dataFolder()): ReadableLocal {
  return {
    dir,
    store: {
      ...memoryStore(),
      resolvePrefix: async () => [],
      verify: async () => ({ checked: 0, checkedBytes: 0, damaged: [], missing: [], orphaned: [] }),
    },
    ledger: memoryLedger(),
    close: async () => {},
  };
}

/**
 * Stands in for a folder that could not be opened. Each call tries to open it again and fails with the reason until
 * that succeeds. Callers handle such failures, and ask less often after some of them.
 */
export function openLater(open: () => Promise<Local>): { store: Store; ledger: Ledger } {
  let opening: Promise<Local> | null = null;
  const local = (): Promise<Local> => {
    opening ??= open().catch((error: unknown) => {
      opening = null;
      throw error;
    });
    return opening;
  };
  const store = async () => (await local()).store;
  const ledger = async () => (await local()).ledger;
  return {
    store: {
      name: "local",
      begin: async (about) => (await store()).begin(about),
      find: async (id, scope) => (await store()).find(id, scope),
      read: async (id, scope, range) => (await store()).read(id, scope, range),
      locate: async (id, scope, lines) => (await store()).locate(id, scope, lines),
      file: async (id, scope) => (await store()).file(id, scope),
      list: async (query) => (await store()).list(query),
      remove: async (id, scope) => (await store()).remove(id, scope),
      close: async () => (await opening?.catch(() => null))?.store.close(),
    },
    ledger: {
      name: "sqlite",
      record: async (event) => (await ledger()).record(event),
      events: async (query) => (await ledger()).events(query),
      stats: async (query) => (await ledger()).stats(query),
      sessions: async (query) => (await ledger()).sessions(query),
      pin: async (session, pinned) => (await ledger()).pin(session, pinned),
      removeSession: async (session) => (await ledger()).removeSession(session),
      projection: async (key) => (await ledger()).projection(key),
      saveProjection: async (projection) => (await ledger()).saveProjection(projection),
      close: async () => (await opening?.catch(() => null))?.ledger.close(),
    },
  };
}

/** The time of this file says when retention was last applied to the folder. */
const STAMP_FILE = "collected";

/** A folder to which retention is applied. */
export interface CollectedPlace {
  dir: string;
  store: LocalStore;
  database: Database;
}

/**
 * Applies retention to a folder if no process did so within the last hour. Returns true if it did. Never throws,
 * because an output that stays too long does no harm. If the work is stopped early, it is due again.
 */
export async function collectWhenDue(
  { dir, store, database }: CollectedPlace,
  retention: Retention,
  signal: AbortSignal,
  nowMs = Date.now(),
): Promise<boolean> {
  const stamp = join(dir, STAMP_FILE);
  try {
    const lastMs = (await stat(stamp).catch(() => null))?.mtimeMs ?? -Infinity;
    // If the stamp's time is in the future, a clock was wrong: retention is due.
    if (lastMs <= nowMs && nowMs - lastMs < NUMBERS.collectEveryMs.default) return false;
    await writeStamp(stamp);
    await store.collect({ ...retention, signal });
    const { maxAgeMs: olderThanMs = NUMBERS.retainAgeMs.default, retainMs } = retention;
    await pruneEvents(database, { olderThanMs, signal, ...(retainMs !== undefined && { retainMs }) });
    if (signal.aborted) await rm(stamp, { force: true });
    return true;
  } catch {
    return false;
  }
}

/** Writes to another name and renames it, so that a planted link is never followed. */
async function writeStamp(stamp: string): Promise<void> {
  const temporary = `${stamp}.${randomBytes(8).toString("hex")}.tmp`;
  try {
    await writeFile(temporary, "", { flag: "wx", mode: PRIVATE_FILE });
    await rename(temporary, stamp);
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Applies retention in the background of a process that keeps running. */
export interface Collector {
  /** Says that an artifact was saved. After a delay, checks whether retention is due. */
  kept(): void;
  stop(): Promise<void>;
}

/** Starts to watch a folder. It does not keep the process alive, and it works in short steps. */
export function startCollector(place: CollectedPlace, retention: Retention): Collector {
  const stopping = new AbortController();
  let running: Promise<unknown> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  let lookedMs = -Infinity;
  return {
    kept() {
      if (timer !== undefined || stopping.signal.aborted) return;
      if (performance.now() - lookedMs < NUMBERS.collectEveryMs.default) return;
      timer = setTimeout(() => {
        timer = undefined;
        lookedMs = performance.now();
        running = collectWhenDue(place, retention, stopping.signal);
      }, NUMBERS.collectDelayMs.default);
      timer.unref();
    },
    async stop() {
      stopping.abort();
      clearTimeout(timer);
      await running;
    },
  };
}
