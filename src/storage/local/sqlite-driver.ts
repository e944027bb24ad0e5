/** A value as SQLite takes and gives it. */
export type SqlValue = null | number | bigint | string | Uint8Array;

/** What both drivers have in common: the API of node:sqlite. */
export interface DriverStatement {
  run(...values: SqlValue[]): { changes: number | bigint; lastInsertRowid: number | bigint };
  get(...values: SqlValue[]): unknown;
  all(...values: SqlValue[]): unknown[];
  columns(): readonly unknown[];
}

/** A connection of either driver. */
export interface DriverConnection {
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
