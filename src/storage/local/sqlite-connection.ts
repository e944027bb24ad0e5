import { statSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { SpillwayError } from "../../errors.ts";
import { NUMBERS } from "../../stages/policy/defaults.ts";
import { databaseFault, isBusy } from "./database-fault.ts";

/** A value as SQLite takes and gives it. */
export type SqlValue = null | number | bigint | string | Uint8Array;

/** What both drivers have in common: the API of node:sqlite. */
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

/** Either driver. */
export interface Driver {
  DatabaseSync: new (path: string, options?: { readOnly?: boolean }) => DriverConnection;
}

/** SQLite as this Node brings it; a package with the same API where it brings none. */
export async function loadDriver(): Promise<Driver> {
  return builtIn() ?? (await import("@photostructure/sqlite"));
}

function builtIn(): Driver | null {
  const { emitWarning } = process;
  try {
    // Node 22 warns on stderr that SQLite is experimental: not a thing for the people who run a command.
    process.emitWarning = () => {};
    const loaded: unknown = process.getBuiltinModule?.("node:sqlite" as "node:fs");
    return isDriver(loaded) ? loaded : null;
  } catch {
    return null;
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** Early versions of node:sqlite cannot tell a query from a change. */
function isDriver(loaded: unknown): loaded is Driver {
  if (typeof loaded !== "object" || loaded === null || !("StatementSync" in loaded)) return false;
  const { StatementSync } = loaded;
  return typeof StatementSync === "function" && "columns" in StatementSync.prototype;
}

/** A prepared statement. Holds its connection: a driver crashes if a statement is all that is left of one. */
export interface Statement<Row> {
  run(...values: SqlValue[]): { changes: number; lastId: number };
  get(...values: SqlValue[]): Row | undefined;
  all(...values: SqlValue[]): Row[];
  /** Gives rows, so it is a query or has a RETURNING. */
  readonly isQuery: boolean;
}

/** SQL without a promise between: for hot paths and transactions. */
export interface RawSql {
  /** The same SQL gives the same statement for as long as it is among the most used ones. */
  prepare<Row = unknown>(sql: string): Statement<Row>;
  /** One or more statements without values or results. */
  exec(sql: string): void;
}

/** One open SQLite file. Every call throws a SpillwayError that says what to do. */
export interface SqliteConnection extends RawSql {
  readonly path: string;
  /**
   * All of `act` or nothing. Takes the write lock first; `act` may run again, so it changes nothing but the database, and
   * it does not wait for anything. Waits for other processes without giving the thread back: for those who cannot wait.
   */
  transaction<T>(act: () => T): T;
  /** The same, one after another; while another process holds the lock the thread is free. */
  write<T>(act: () => T): Promise<T>;
  /** May be called again. */
  close(): void;
}

/** Between two attempts: others of this process get their turn. */
const PAUSE_MS = 20;

/** Opens a file that several processes may use at once. `address` is where it is opened for reading only. */
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
  const home = watchHome(path);
  /** Settles with the last write that was asked for. */
  let lastWrite: Promise<unknown> = Promise.resolve();

  const checkOpen = (): void => {
    if (!isOpen) throw new SpillwayError("bad-input", `database ${path} is closed`);
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
    // Asked for again: the newest, so that the one to go is the one not asked for longest.
    statements.delete(sql);
    statements.set(sql, found);
    for (const oldest of statements.keys()) {
      if (statements.size <= NUMBERS.databaseStatements.default) break;
      statements.delete(oldest);
    }
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
      if (isPromise(result)) throw new SpillwayError("bad-input", "a transaction must not wait for a promise");
      home.check();
      prepare("commit").run();
      return result;
    } catch (error) {
      // SQLite has rolled back by itself after some faults, a full disk among them.
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
    if (isInside) throw new SpillwayError("bad-input", "a transaction inside a transaction");
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

/** One driver really closes when its statements are collected: so that the file is whole before that, its log is moved in. */
function moveLogIn(connection: DriverConnection): void {
  try {
    connection.exec("pragma busy_timeout = 0; pragma wal_checkpoint(truncate)");
  } catch {
    // Somebody else is writing, or the disk is full: the log stays, and the next who opens the file reads it.
  }
}

/** Tries again while another process holds the file. Each attempt has waited for the busy timeout already. */
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

/** Drivers end a text at a NUL without a word, which would make two names one. */
function refuseNul(value: SqlValue): void {
  if (typeof value === "string" && value.includes("\0")) {
    throw new SpillwayError("bad-input", "a text with a NUL cannot be kept in the database as it is");
  }
}

function isPromise(value: unknown): boolean {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}

/** Watches that what is written still goes where the next reader looks. */
interface DatabaseHome {
  /** Throws once the file, or the log beside it, is not the one that was opened. */
  check(): void;
}

/** Begins with the file that stands at the path now: it was opened just before. */
function watchHome(path: string): DatabaseHome {
  const file = whoIs(path);
  let log: string | null = null;
  return {
    check() {
      const logNow = whoIs(`${path}-wal`);
      log ??= logNow;
      if (file !== null && whoIs(path) === file && logNow === log) return;
      throw new SpillwayError(
        "store-unavailable",
        `database ${path} was moved, removed or replaced while it was open, so nothing is saved in it any more. Put it ` +
          "back, or start again: a new one is made where it is missing.",
      );
    },
  };
}

function whoIs(path: string): string | null {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? null : `${found.dev}:${found.ino}`;
}
