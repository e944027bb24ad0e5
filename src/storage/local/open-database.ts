import { lstatSync, statSync } from "node:fs";
import { chmod, lstat, open } from "node:fs/promises";
import { join, resolve } from "node:path";
import { setImmediate } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { SqliteAdapter, SqliteQueryCompiler } from "kysely";
import { SpillwayError } from "../../errors.ts";
import { NUMBERS } from "../../stages/policy/defaults.ts";
import { type Answered, type Query, queriesOf, type Sql, type Steps } from "../sql.ts";
import { databaseFault, isUnwritable } from "./database-fault.ts";
import { migrate } from "./migrations.ts";
import {
  type Driver,
  loadDriver,
  openConnection,
  type RawSql,
  retryBusy,
  type SqliteConnection,
  type SqlValue,
} from "./sqlite-connection.ts";
import { makeFolder } from "./store-folders.ts";

/**
 * The database of a local folder. It holds the facts of artifacts, small artifacts, events, sums, sessions and
 * projections.
 */
export interface Database extends Sql {
  readonly path: string;
  /** Runs steps at once, for hot paths and inside a transaction. */
  now<T>(steps: Steps<T>): T;
  /** Runs SQL for which `kysely` has no word, such as pragmas. */
  readonly raw: RawSql;
  /** Runs `act`, all of it or nothing. Prefer `write`; SqliteConnection says why. */
  transaction<T>(act: () => T): T;
  write<T>(act: () => T): Promise<T>;
}

/** Options of `openDatabase`. */
export interface OpenDatabaseOptions {
  /** Says that nothing will be written, so that a read-only folder is enough. */
  readsOnly?: boolean;
}

const DATABASE_FILE = "spillway.db";
const CHECKPOINT_PAGES = 4000;
// Each step of giving room back holds the lock for a few milliseconds only, so that other processes can write in between.
const PAGES_A_STEP = 2000;
const WAL_BYTES = 64 * 1024 * 1024;

/** Opens the database in a folder, and makes both if they are missing. Several processes may have it open. */
export async function openDatabase(dir: string, { readsOnly = false }: OpenDatabaseOptions = {}): Promise<Database> {
  const path = join(resolve(dir), DATABASE_FILE);
  const driver = await loadDriver();
  try {
    return await openForWriting(driver, dir, path);
  } catch (error) {
    if (readsOnly && isUnwritable(error) && isPlainFile(path)) return openForReading(driver, path);
    throw error;
  }
}

async function openForWriting(driver: Driver, dir: string, path: string): Promise<Database> {
  try {
    await makeFolder(dir);
    await makePrivate(path);
  } catch (error) {
    throw databaseFault(error, path);
  }
  const connection = openConnection(driver, path);
  try {
    await retryBusy(() => prepareFile(connection));
    return await databaseOn(connection);
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** Opens the file as it is if its folder cannot be written. Throws if part of the data is still in the -wal file. */
async function openForReading(driver: Driver, path: string): Promise<Database> {
  if ((statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) {
    throw new SpillwayError(
      "store-unavailable",
      `database ${path} cannot be read where nothing can be written, since a part of it is in its -wal file still. ` +
        "Make its folder writable, or copy it to one that is and name that with --dir.",
    );
  }
  const address = pathToFileURL(path);
  address.search = "immutable=1";
  const connection = openConnection(driver, path, address.href);
  try {
    return await databaseOn(connection);
  } catch (error) {
    connection.close();
    throw error;
  }
}

async function databaseOn(connection: SqliteConnection): Promise<Database> {
  const { path, prepare, exec, transaction, write } = connection;
  const kysely = queriesOf(new SqliteAdapter(), new SqliteQueryCompiler());
  await migrate(connection, kysely);
  // The same text finds its prepared statement again.
  const answer = (query: Query): Answered => {
    const { sql, parameters } = query.compile();
    const statement = prepare(sql);
    const values = parameters as SqlValue[];
    if (statement.isQuery) return { rows: statement.all(...values), changes: 0 };
    return { rows: [], changes: statement.run(...values).changes };
  };
  function now<T>(steps: Steps<T>): T {
    let step = steps.next();
    while (!step.done) step = steps.next(answer(step.value));
    return step.value;
  }
  return {
    path,
    kysely,
    rowsAtOnce: 1,
    *takeTurn() {},
    now,
    raw: { prepare, exec },
    transaction,
    write,
    read: (steps) => retryBusy(() => now(steps())),
    commit: (steps) => write(() => now(steps())),
    async giveRoomBack(signal) {
      const free = prepare<{ freelist_count: number }>("pragma freelist_count");
      for (let pages = free.get()?.freelist_count ?? 0; pages > 0; pages -= PAGES_A_STEP) {
        if (signal?.aborted) return;
        await retryBusy(() => exec(`pragma incremental_vacuum(${PAGES_A_STEP})`));
        await setImmediate();
      }
    },
    close: async () => connection.close(),
  };
}

/**
 * Sets up the file. With the write-ahead log readers never wait, and a commit is one append. With synchronous=normal
 * each commit is written to the file system and synced at checkpoints. So if the process is killed, no commit is lost;
 * after a power cut the last commits may be gone, but the database is whole. A sync at each commit would cost
 * milliseconds on many disks.
 */
function prepareFile(connection: SqliteConnection): void {
  connection.exec(`pragma busy_timeout = ${NUMBERS.databaseBusyMs.default}`);
  // This works only before the first table is made. It lets gc return room to the disk.
  connection.exec("pragma auto_vacuum = incremental");
  connection.exec("pragma journal_mode = wal");
  connection.exec("pragma synchronous = normal");
  // A checkpoint syncs twice. Rare checkpoints make each event cheaper, and the log stays near 16 MiB.
  connection.exec(`pragma wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  connection.exec(`pragma journal_size_limit = ${WAL_BYTES}`);
  connection.exec("pragma trusted_schema = off");
}

function isPlainFile(path: string): boolean {
  try {
    return lstatSync(path).isFile();
  } catch {
    return false;
  }
}

/** Makes the file readable by its owner only. SQLite gives its other files the mode of this one. */
async function makePrivate(path: string): Promise<void> {
  // Never opens an existing database here: closing it again would drop every lock that this process holds on it.
  const made = await open(path, "wx", 0o600).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
    return null;
  });
  if (made !== null) return made.close();
  const found = await lstat(path);
  if (found.isSymbolicLink()) {
    throw new SpillwayError("store-unavailable", `${path} is a link; the database is not opened through one.`);
  }
  if ((found.mode & 0o077) !== 0 && process.platform !== "win32") await chmod(path, 0o600);
}
