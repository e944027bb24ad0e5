import { statSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import type * as Sqlite from "@photostructure/sqlite";
import { badInput, messageOf, SpillwayError } from "../../errors.ts";
import { loadPackage } from "../../load-package.ts";
import { NUMBERS } from "../../stages/policy/defaults.ts";
import { isPromise, setNewest } from "../../values.ts";
import { databaseFault, isBusy } from "./database-fault.ts";

/** A value as SQLite takes and returns it. */
export type SqlValue = null | number | bigint | string | Uint8Array;

/** The API of node:sqlite, which both drivers have. */
interface DriverStatement {
  run(...values: SqlValue[]): { changes: number | bigint; lastInsertRowid: number | bigint };
  get(...values: SqlValue[]): unknown;
  all(...values: SqlValue[]): unknown[];
  columns(): readonly unknown[];
}

/** A connection of either driver. */
interface DriverConnection {
  prepare(sql: string): DriverStatement;
  exec(sql: string): void;
  close(): void;
}

/** One of the two drivers. */
export interface Driver {
  DatabaseSync: new (path: string, options?: { readOnly?: boolean }) => DriverConnection;
}

/** Loads the SQLite of this Node. If this Node has none, loads a package with the same API. */
export async function loadDriver(): Promise<Driver> {
  return builtIn() ?? (await loadNative());
}

async function loadNative(): Promise<Driver> {
  try {
    return await loadPackage<typeof Sqlite>("@photostructure/sqlite");
  } catch (cause) {
    throw new SpillwayError(
      "missing-part",
      `SQLite is needed, and this Node (${process.version}) has none that will do. Run Node 22.16 or newer, or install the ` +
        `package @photostructure/sqlite where this program can import it; here it could not be loaded: ${messageOf(cause)}`,
      { cause },
    );
  }
}

function builtIn(): Driver | null {
  const { emitWarning } = process;
  try {
    // Node 22 prints a warning that SQLite is experimental. People who run a command should not see it.
    process.emitWarning = () => {};
    const loaded: unknown = process.getBuiltinModule?.("node:sqlite" as "node:fs");
    return isDriver(loaded) ? loaded : null;
  } catch {
    return null;
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** Returns false for early versions of node:sqlite, which cannot tell a query from a change. */
function isDriver(loaded: unknown): loaded is Driver {
  if (typeof loaded !== "object" || loaded === null || !("StatementSync" in loaded)) return false;
  const { StatementSync } = loaded;
  return typeof StatementSync === "function" && "columns" in StatementSync.prototype;
}

/**
 * A prepared statement. It holds its connection, because one driver crashes if the connection is collected before its
 * statements.
 */
export interface Statement<Row> {
  run(...values: SqlValue[]): { changes: number; lastId: number };
  get(...values: SqlValue[]): Row | undefined;
  all(...values: SqlValue[]): Row[];
  /** True if the statement returns rows: it is a query, or it has a RETURNING. */
  readonly isQuery: boolean;
}

/** Runs SQL without promises, for hot paths and transactions. */
export interface RawSql {
  /** Returns the same statement for the same SQL while it is among the last used ones. */
  prepare<Row = unknown>(sql: string): Statement<Row>;
  /** Runs one or more statements without values or results. */
  exec(sql: string): void;
}

/** One open SQLite file. Every call that fails throws a SpillwayError that says what to do. */
export interface SqliteConnection extends RawSql {
  readonly path: string;
  /**
   * Runs all of `act` or nothing. Takes the write lock first. `act` may run again, so it must change only the database,
   * and it must not wait for a promise. While another process holds the lock, this blocks the thread: use it only where
   * no promise is possible.
   */
  transaction<T>(act: () => T): T;
  /** Does the same, one write after another. While another process holds the lock, the thread is free. */
  write<T>(act: () => T): Promise<T>;
  /** May be called more than once. */
  close(): void;
}

/** The pause between two attempts. It lets other work of this process run. */
const PAUSE_MS = 20;

/**
 * Opens a file that several processes may use at the same time. If `address` is given, opens that address for reading
 * only.
 */
export function openConnection({ DatabaseSync }: Driver, path: string, address?: string): SqliteConnection {
  const guarded = <T>(act: () => T): T => {
    try {
      return act();
    } catch (error) {
      throw databaseFault(error, path);
    }
  };
  const connection = guarded(() =>
    address === undefined ? new DatabaseSync(path) : new DatabaseSync(address, { readOnly: true }),
  );
  const statements = new Map<string, Statement<unknown>>();
  let isOpen = true;
  let isInside = false;
  const checkHome = watchHome(path);
  /** Settles when the last requested write settles. */
  let lastWrite: Promise<unknown> = Promise.resolve();

  const checkOpen = (): void => {
    if (!isOpen) throw badInput(`database ${path} is closed`);
  };
  const use = <T>(values: readonly SqlValue[], act: () => T): T => {
    checkOpen();
    for (const value of values) refuseNul(value);
    return guarded(act);
  };

  function wrap(statement: DriverStatement): Statement<unknown> {
    return {
      isQuery: statement.columns().length > 0,
      run: (...values) =>
        use(values, () => {
          const { changes, lastInsertRowid } = statement.run(...values);
          return { changes: Number(changes), lastId: Number(lastInsertRowid) };
        }),
      get: (...values) => use(values, () => statement.get(...values)),
      all: (...values) => use(values, () => statement.all(...values)),
    };
  }

  function prepare<Row>(sql: string): Statement<Row> {
    checkOpen();
    const found = statements.get(sql) ?? guarded(() => wrap(connection.prepare(sql)));
    setNewest(statements, sql, found, NUMBERS.databaseStatements.default);
    return found as Statement<Row>;
  }

  function exec(sql: string): void {
    checkOpen();
    guarded(() => connection.exec(sql));
  }

  function attempt<T>(act: () => T): T {
    prepare("begin immediate").run();
    isInside = true;
    try {
      const result = act();
      if (isPromise(result)) throw badInput("a transaction must not wait for a promise");
      checkHome();
      prepare("commit").run();
      return result;
    } catch (error) {
      // After some faults, such as a full disk, SQLite has already rolled back.
      try {
        connection.exec("rollback");
      } catch {}
      throw error;
    } finally {
      isInside = false;
    }
  }

  const begin = (): void => {
    checkOpen();
    if (isInside) throw badInput("a transaction inside a transaction");
  };

  return {
    path,
    prepare,
    exec,
    transaction(act) {
      begin();
      return guarded(() => retryNow(() => attempt(act)));
    },
    write(act) {
      const untilMs = performance.now() + NUMBERS.databaseWaitMs.default;
      const written = lastWrite.then(() =>
        retryBusy(() => {
          begin();
          return guarded(() => attempt(act));
        }, untilMs),
      );
      lastWrite = written.catch(() => {});
      return written;
    },
    close() {
      if (!isOpen) return;
      isOpen = false;
      statements.clear();
      guarded(() => {
        moveLogIn(connection);
        connection.close();
      });
    },
  };
}

/**
 * Moves the log into the database file. One driver closes the file only when its statements are collected, so the file
 * must be whole before that.
 */
function moveLogIn(connection: DriverConnection): void {
  try {
    connection.exec("pragma busy_timeout = 0; pragma wal_checkpoint(truncate)");
  } catch {
    // If another process is writing or the disk is full, the log stays. The next process that opens the file reads it.
  }
}

/** Tries again while another process holds the file. Each attempt already waits for the busy timeout. */
export async function retryBusy<T>(
  act: () => T,
  untilMs: number = performance.now() + NUMBERS.databaseWaitMs.default,
): Promise<T> {
  for (;;) {
    try {
      return act();
    } catch (error) {
      if (!isHeld(error) || performance.now() >= untilMs) throw error;
    }
    await setTimeout(PAUSE_MS);
  }
}

function retryNow<T>(act: () => T): T {
  const untilMs = performance.now() + NUMBERS.databaseHoldMs.default;
  for (;;) {
    try {
      return act();
    } catch (error) {
      if (!isHeld(error) || performance.now() >= untilMs) throw error;
    }
  }
}

function isHeld(error: unknown): boolean {
  return isBusy(SpillwayError.is(error) ? error.cause : error);
}

/** Throws if a text holds a NUL. Drivers silently end a text there, so that two names could become one. */
function refuseNul(value: SqlValue): void {
  if (typeof value === "string" && value.includes("\0")) {
    throw badInput("a text with a NUL cannot be kept in the database as it is");
  }
}

/**
 * Remembers the file that is at the path now. Call it right after the file was opened. Returns what throws if the file at the
 * path, or the log beside it, is another by then: what is written would not be what the next reader opens.
 */
function watchHome(path: string): () => void {
  const file = whoIs(path);
  let log: string | null = null;
  return () => {
    const logNow = whoIs(`${path}-wal`);
    log ??= logNow;
    if (file !== null && whoIs(path) === file && logNow === log) return;
    throw new SpillwayError(
      "store-unavailable",
      `database ${path} was moved, removed or replaced while it was open, so nothing is saved in it any more. Put it ` +
        "back, or start again: a new one is made where it is missing.",
    );
  };
}

function whoIs(path: string): string | null {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? null : `${found.dev}:${found.ino}`;
}
