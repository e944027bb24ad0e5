import { type Compilable, type DialectAdapter, DummyDriver, Kysely, type QueryCompiler } from "kysely";
import { badInput } from "../errors.ts";
import type { Schema } from "./local/schema.ts";

/** What one query gave: its rows, or how many it changed. */
export interface Answered {
  rows: unknown[];
  changes: number;
}

/**
 * Queries, each made with the answers of those before it. A transaction is written in this form because SQLite must run it
 * without waiting in between, and PostgreSQL cannot run it without waiting.
 */
export type Steps<T> = Generator<Query, T, Answered>;

/** A query of `kysely`, or one whose text is known already. */
export interface Query {
  compile(): { readonly sql: string; readonly parameters: readonly unknown[] };
}

/** Runs a query and gives its rows. */
export function* all<Row>(query: Compilable<Row>): Steps<Row[]> {
  return (yield query).rows as Row[];
}

/** Runs a change and gives how many rows it changed. */
export function* change(query: Query): Steps<number> {
  return (yield query).changes;
}

/**
 * Makes an insert whose text is compiled once for each number of rows, since that takes longer than running it. All rows
 * have the same fields in the same order, none of them undefined, and the insert has no other values.
 */
export function compiledOnce<Row extends object>(insert: (rows: Row[]) => Query): (rows: Row[]) => Query {
  const texts = new Map<number, string>();
  return (rows) => {
    const sql = texts.get(rows.length) ?? insert(rows).compile().sql;
    texts.set(rows.length, sql);
    return { compile: () => ({ sql, parameters: rows.flatMap((row): unknown[] => Object.values(row)) }) };
  };
}

/** Builds queries of our tables in the words of an engine. They are only built here. */
export function queriesOf(adapter: DialectAdapter, compiler: QueryCompiler): Kysely<Schema> {
  const refuse = () => {
    throw badInput("a query is run by read() or commit() of its database");
  };
  return new Kysely({
    dialect: {
      createAdapter: () => adapter,
      createQueryCompiler: () => compiler,
      createDriver: () => Object.assign(new DummyDriver(), { acquireConnection: refuse }),
      createIntrospector: refuse,
    },
  });
}

/** A database with our tables, whatever its engine. */
export interface Sql {
  /** The server and the database, without who asks and how they prove it. Absent for a database in a folder. */
  readonly place?: string;
  /** Builds typed queries, which `read` and `commit` run. */
  readonly kysely: Kysely<Schema>;
  /** How many rows one statement inserts. A prepared statement is cheap where no network is between. */
  readonly rowsAtOnce: number;
  /**
   * Makes other writers of the same wait until this transaction ends. So ids of events grow in the order of commits, and an
   * artifact that is removed is not saved again meanwhile. In SQLite there is only one writer at a time anyway.
   */
  takeTurn(to: "events" | "artifacts"): Steps<void>;
  /** Runs steps that change nothing. */
  read<T>(steps: () => Steps<T>): Promise<T>;
  /** Runs steps, all of them or none. They may run again from the start, after another writer got in the way. */
  commit<T>(steps: () => Steps<T>): Promise<T>;
  /** Returns the room of deleted rows to the disk, where the engine does not do that by itself. */
  giveRoomBack(signal?: AbortSignal): Promise<void>;
  /** May be called more than once. */
  close(): Promise<void>;
}
