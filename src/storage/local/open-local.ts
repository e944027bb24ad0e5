import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { Ledger } from "../../contract/ledger.ts";
import type { Retention, Store } from "../../contract/store.ts";
import { memoryLedger } from "../ledgers/memory.ts";
import { LOCAL_SCOPE, sqlLedger } from "../ledgers/sql.ts";
import type { Spool } from "../remote/remote-store.ts";
import type { Sql } from "../sql.ts";
import { type KeptStore, localStore } from "../stores/local.ts";
import { memoryStore } from "../stores/memory.ts";
import { SECRET_BYTES } from "./artifact-key.ts";
import { retained } from "./collect-when-due.ts";
import { dataFolder, LEDGER_DOWN, refuseAmongArtifacts } from "./data-folder.ts";
import { ownerFault } from "./database-fault.ts";
import { openDatabase } from "./open-database.ts";

/** Everything that is kept on this machine. */
export interface Local {
  dir: string;
  store: KeptStore;
  /** The ledger of the scope that was asked for. */
  ledger: Ledger;
  /** The ledger of any scope. */
  ledgerOf(scope: string): Ledger;
  /** What waits on this machine for its upload, where outputs are kept in a bucket. */
  spool?: Spool;
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
  /** The address of a bucket in which artifacts are kept instead, with their rows in that database. */
  store?: string | undefined;
  /** Whose ledger: that of this machine's user, if it is not said. */
  scope?: string | undefined;
  /** The secret that ids are made with, if there is none yet. Without it a new one is made. */
  firstSecret?: Uint8Array | undefined;
  /** Told when a database or a bucket does not answer any more, and when it does again. */
  tell?: ((news: string) => void) | undefined;
}

/** Opens the folder in which a user's artifacts and events are kept, and makes it if it is missing. */
export async function openLocal(dir: string = dataFolder(), options: OpenLocalOptions = {}): Promise<Local> {
  refuseAmongArtifacts(dir);
  if (options.store !== undefined) {
    const { openRemote } = await import("../remote/open-remote.ts");
    return openRemote(dir, options);
  }
  if (options.ledger === undefined) return openFolder(dir, options);
  const { openPostgres } = await import("../remote/postgres.ts");
  const database = await openPostgres(options.ledger, join(dir, LEDGER_DOWN), options.tell);
  const local = await openFolder(dir, options, database).catch(async (error: unknown) => {
    await database.close();
    throw error;
  });
  const ledgerOf = (scope: string): Ledger => {
    const [ledger, own] = [sqlLedger(database, "postgres", scope), local.ledgerOf(scope)];
    // The folder's own retention asks the folder's database.
    const pin: Ledger["pin"] = async (...how) => void (await Promise.all([ledger.pin(...how), own.pin(...how)]));
    return { ...ledger, pin };
  };
  return {
    ...local,
    ledger: ledgerOf(options.scope ?? LOCAL_SCOPE),
    ledgerOf,
    database,
    async close() {
      await local.close();
      await database.close();
    },
  };
}

async function openFolder(
  dir: string,
  { retention = {}, collects = false, readsOnly = false, scope = LOCAL_SCOPE, firstSecret }: OpenLocalOptions,
  events?: Sql,
): Promise<Local> {
  const saidWhose = (error: unknown): never => {
    throw ownerFault(error, dir);
  };
  const database = await openDatabase(dir, { readsOnly }).catch(saidWhose);
  const maxBytes = retention === "off" ? Infinity : retention.maxBytes;
  const limits = maxBytes === undefined ? {} : { maxBytes };
  const store = await localStore({
    dir,
    database,
    limits,
    newSecret: async () => firstSecret ?? randomBytes(SECRET_BYTES),
  }).catch((error: unknown) => {
    void database.close();
    return saidWhose(error);
  });
  const ledgerOf = (of: string) => sqlLedger(database, "sqlite", of);
  const ledger = ledgerOf(scope);
  const { stop, ...kept } = retained({ dir, store, database: events ?? database }, retention, collects);
  return {
    dir,
    ...kept,
    ledger,
    ledgerOf,
    database,
    async close() {
      await stop();
      await ledger.close();
      await store.close();
      await database.close();
    },
  };
}

/** The parts of a local folder that a reader needs. */
export interface ReadableLocal extends Pick<Local, "dir" | "ledger" | "close"> {
  store: Store & Pick<KeptStore, "resolvePrefix" | "verify">;
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

/** A folder that may be opened later. */
type Later = { store: Store } & Pick<Local, "ledger" | "ledgerOf" | "close">;

/**
 * Stands in for a folder that could not be opened. Each call tries to open it again and fails with the reason until
 * that succeeds. Callers handle such failures, and ask less often after some of them.
 */
export function openLater(open: () => Promise<Later>): Later {
  let opening: Promise<Later> | null = null;
  const local = (): Promise<Later> => {
    opening ??= open().catch((error: unknown) => {
      opening = null;
      throw error;
    });
    return opening;
  };
  const store = async () => (await local()).store;
  const ledgerLater = (ledger: () => Promise<Ledger>): Ledger => ({
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
  });
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
    ledger: ledgerLater(async () => (await local()).ledger),
    ledgerOf: (scope) => ledgerLater(async () => (await local()).ledgerOf(scope)),
    close: async () => (await opening?.catch(() => null))?.close(),
  };
}
