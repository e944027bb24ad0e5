import { readFile, rm, stat, writeFile } from "node:fs/promises";
import { Socket } from "node:net";
import { dirname } from "node:path";
import { setTimeout } from "node:timers/promises";
import { type Compilable, PostgresAdapter, PostgresQueryCompiler, sql } from "kysely";
import type * as Pg from "pg";
import { within } from "../../deadline.ts";
import { codeOf, messageOf, SpillwayError } from "../../errors.ts";
import { loadPackage } from "../../load-package.ts";
import { NUMBERS } from "../../stages/policy/defaults.ts";
import { type EngineTypes, MIGRATIONS, newerFault } from "../local/migrations.ts";
import { makeFolder, PRIVATE_FILE } from "../local/store-folders.ts";
import { type Answered, all, change, type Query, queriesOf, type Sql, type Steps } from "../sql.ts";

/** A database in a PostgreSQL server, which any number of machines use at once. */
export interface Postgres extends Sql {
  readonly place: string;
  /** Returns true if the server has answered since this was opened. */
  hasAnswered(): boolean;
  /** Runs `act` unless another process runs the same now; returns null then. The lock goes with the connection. */
  alone<T>(what: "retention", act: () => Promise<T>): Promise<T | null>;
}

const POSTGRES_TYPES: EngineTypes = {
  text: 'text collate "C"',
  growingId: "bigint generated always as identity primary key",
  bytes: "bytea",
  keyed: "",
};

/** The first number of every advisory lock of ours: the letters "spil". */
const LOCKS = 0x7370696c;
const LOCK = { migration: 1, events: 2, artifacts: 3, retention: 4 };

const ROWS_AT_ONCE = 500;
/** The longest that a timer takes: 24 days. */
const LONGEST_MS = 2 ** 31 - 1;
const FIRST_PAUSE_MS = 20;
const LAST_PAUSE_MS = 1000;

/**
 * Opens a database of a PostgreSQL server, and brings its tables to the newest version. A server that does not answer soon, or
 * that refuses the user, is asked again with each query, so that an agent can start without it. Any other fault is thrown here. `downFile` says for a
 * while that it did not answer: the processes that are opened meanwhile hardly wait for it. `tell` hears when it stops to answer
 * and when it answers again.
 */
export async function openPostgres(
  address: string,
  downFile?: string,
  tell: (news: string) => void = () => {},
): Promise<Postgres> {
  const place = placeOf(address);
  const isKnownDown = downFile !== undefined && (await isDownSince(downFile, place));
  const patienceMs = NUMBERS[isKnownDown ? "postgresDownMs" : "postgresOpenMs"].default;
  const fault = (error: unknown) => postgresFault(error, place);
  const pg = await loadPg();
  const sockets = new Set<Socket>();
  const pool = new pg.Pool({
    stream: () => {
      const socket = new Socket();
      sockets.add(socket.once("close", () => sockets.delete(socket)));
      return socket;
    },
    connectionString: address,
    application_name: "spillway",
    max: NUMBERS.postgresConnections.default,
    connectionTimeoutMillis: NUMBERS.postgresWaitMs.default,
    query_timeout: NUMBERS.postgresQueryMs.default,
    statement_timeout: NUMBERS.postgresQueryMs.default,
    idleTimeoutMillis: 60_000,
    // A program that has nothing else to do ends.
    allowExitOnIdle: true,
    keepAlive: true,
    // 20 is bigint and 1700 is numeric, the type of its sums. Ours are all numbers that a double holds.
    types: {
      getTypeParser: (type: number, format?: "text" | "binary") =>
        type === 20 || type === 1700 ? Number : pg.types.getTypeParser(type, format as "text"),
    },
  });
  // A connection that breaks while nobody uses it is replaced by the next that is needed.
  pool.on("error", () => {});
  // One that breaks between two queries tells nobody else; the next query fails, and that is seen.
  pool.on("connect", (client) => void client.on("error", () => {}));
  let hasAnswered = false;
  const connected = new Promise<void>((resolve) => {
    pool.once("connect", () => {
      hasAnswered = true;
      if (isKnownDown) void rm(downFile, { force: true }).catch(() => {});
      resolve();
    });
  });
  const kysely = queriesOf(new PostgresAdapter(), new PostgresQueryCompiler());
  let isOpen = true;

  let preparing: Promise<void> | null = null;
  const prepared = (): Promise<void> => {
    preparing ??= migrate(pool, kysely, (steps) => once(steps, LONGEST_MS), lock("migration"), place).catch(
      (error: unknown) => {
        preparing = null;
        throw error;
      },
    );
    return preparing;
  };

  /** While the server has never answered nobody waits long for it. */
  const preparedSoon = async (): Promise<void> => {
    const ready = prepared();
    if (!hasAnswered) await within(Promise.race([connected, ready]), patienceMs, "the connection");
    await ready;
  };

  // Since the server, which had answered, was given up: why, and when it may be asked again.
  let down: { error: unknown; untilMs: number } | null = null;
  let asking: Promise<void> | null = null;

  /** Rejects while a server that was given up does not answer. It is asked once for all, and not all the time. */
  const isBack = async (error: unknown): Promise<void> => {
    try {
      await within(pool.query("select 1"), NUMBERS.postgresDownMs.default, "the connection");
      down = null;
      tell(`${place} answers again`);
    } catch {
      down = { error, untilMs: performance.now() + LAST_PAUSE_MS };
      throw error;
    } finally {
      asking = null;
    }
  };

  /** Tries again what may succeed a little later, until the deadline. */
  async function attempt<T>(act: () => Promise<T>): Promise<T> {
    if (down !== null) {
      if (performance.now() < down.untilMs) throw fault(down.error);
      await (asking ??= isBack(down.error)).catch((error: unknown) => Promise.reject(fault(error)));
    }
    const untilMs = performance.now() + (hasAnswered ? NUMBERS.postgresWaitMs.default : 0);
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(LAST_PAUSE_MS, pauseMs * 2)) {
      try {
        await preparedSoon();
        return await act();
      } catch (error) {
        if (!isOpen || !isPassing(error)) throw fault(error);
        const isOver = performance.now() + pauseMs >= untilMs;
        if (isOver && hasAnswered && down === null && isConnectionLost(error)) {
          down = { error, untilMs: performance.now() + LAST_PAUSE_MS };
          tell(`${messageOf(fault(error))}; nothing is recorded there until it answers`);
        }
        if (isOver || down !== null) throw fault(error);
      }
      // Not all at the same time again.
      await setTimeout(pauseMs * (0.5 + Math.random()));
    }
  }

  const read = <T>(steps: () => Steps<T>): Promise<T> => attempt(() => run(pool, steps()));

  /** Returns true if a transaction was committed whose answer never came. */
  const wasCommitted = async (transaction: string): Promise<boolean> => {
    const status = sql<string | null>`pg_xact_status(${transaction}::text::xid8)`.as("status");
    const [found] = await read(() => all(kysely.selectNoFrom(status)));
    return found?.status === "committed";
  };

  async function once<T>(steps: () => Steps<T>, patienceMs?: number): Promise<T> {
    const client = await pool.connect();
    let committing: { transaction: string; result: T } | null = null;
    try {
      const transaction = await begin(client);
      committing = { transaction, result: await run(client, steps(), patienceMs) };
      await client.query("commit");
      client.release();
      return committing.result;
    } catch (error) {
      const isLost = isConnectionLost(error);
      if (!isLost) await client.query("rollback").catch(() => {});
      client.release(isLost);
      if (committing !== null && isLost && (await wasCommitted(committing.transaction))) return committing.result;
      throw error;
    }
  }

  const lock = (of: keyof typeof LOCK) =>
    kysely.selectNoFrom(sql<null>`pg_advisory_xact_lock(${sql.lit(LOCKS)}, ${sql.lit(LOCK[of])})`.as("turn"));

  const opened: Postgres = {
    place,
    hasAnswered: () => hasAnswered,
    kysely,
    rowsAtOnce: ROWS_AT_ONCE,
    *takeTurn(to) {
      yield* all(lock(to));
    },
    read,
    commit: (steps) => attempt(() => once(steps)),
    async alone(what, act) {
      const client = await attempt(() => pool.connect());
      try {
        const { rows } = await client.query("select pg_try_advisory_lock($1, $2) as got", [LOCKS, LOCK[what]]);
        return rows[0]?.got === true ? await act() : null;
      } finally {
        // Ends the connection and with it the lock, whatever became of the server meanwhile.
        client.release(true);
      }
    },
    // The server does this by itself.
    giveRoomBack: async () => {},
    async close() {
      if (!isOpen) return;
      isOpen = false;
      // A connection that is never made must not keep the process alive.
      if (!hasAnswered) for (const socket of sockets) socket.destroy();
      await pool.end();
    },
  };
  try {
    await preparedSoon();
  } catch (error) {
    if (!isPassing(error) && !isRefused(error)) {
      await opened.close();
      throw fault(error);
    }
    void connected.then(() => tell(`${place} answers`));
    if (downFile !== undefined && !isKnownDown && isPassing(error)) await rememberDown(downFile, place).catch(() => {});
  }
  return opened;
}

async function rememberDown(downFile: string, place: string): Promise<void> {
  await makeFolder(dirname(downFile));
  await writeFile(downFile, place, { mode: PRIVATE_FILE });
}

/** Returns true if the file says that this server did not answer a short while ago. */
async function isDownSince(downFile: string, place: string): Promise<boolean> {
  try {
    const { mtimeMs } = await stat(downFile);
    const isRecent = Math.abs(Date.now() - mtimeMs) < NUMBERS.postgresDownForMs.default;
    return isRecent && (await readFile(downFile, "utf8")) === place;
  } catch {
    return false;
  }
}

async function loadPg(): Promise<typeof Pg> {
  try {
    const loaded = await loadPackage<typeof Pg & { default?: typeof Pg }>("pg");
    return loaded.default ?? loaded;
  } catch (error) {
    throw new SpillwayError(
      "missing-part",
      `a ledger in PostgreSQL needs the package pg, which cannot be loaded: ${messageOf(error)}. Run: npm install pg`,
      { cause: error },
    );
  }
}

/** Begins a transaction and returns its number, by which its end can be asked for. */
async function begin(client: Pg.PoolClient): Promise<string> {
  const answers: unknown = await client.query("begin; select pg_current_xact_id()::text as transaction");
  const [, named] = answers as [Pg.QueryResult, Pg.QueryResult<{ transaction: string }>];
  return named.rows[0]?.transaction ?? "";
}

async function run<T>(on: Pick<Pg.PoolClient, "query">, steps: Steps<T>, patienceMs?: number): Promise<T> {
  let step = steps.next();
  while (!step.done) step = steps.next(await answer(on, step.value, patienceMs));
  return step.value;
}

async function answer(on: Pick<Pg.PoolClient, "query">, query: Query, query_timeout?: number): Promise<Answered> {
  const { sql: text, parameters } = query.compile();
  const asked = { text, values: [...parameters], query_timeout };
  const { rows, rowCount } = await on.query(asked);
  return { rows, changes: rowCount ?? 0 };
}

/** Brings the tables to the newest version in one transaction. If several processes try, the others find it done. */
async function migrate(
  pool: Pg.Pool,
  kysely: Sql["kysely"],
  commit: Sql["commit"],
  lock: Compilable,
  place: string,
): Promise<void> {
  if ((await versionOf(pool, place)) === MIGRATIONS.length) return;
  await commit(function* () {
    // A step over many rows takes as long as it takes.
    yield* change({ compile: () => ({ sql: "set local statement_timeout = 0", parameters: [] }) });
    yield* all(lock);
    yield* change(
      kysely.schema
        .createTable("versions")
        .ifNotExists()
        .addColumn("version", "bigint", (column) => column.primaryKey())
        .addColumn("applied_ms", "bigint", (column) => column.notNull()),
    );
    const [found] = yield* all(kysely.selectFrom("versions").select(({ fn }) => fn.max("version").as("version")));
    const version = found?.version ?? 0;
    for (const [index, migration] of MIGRATIONS.entries()) {
      if (index < version) continue;
      for (const step of migration(kysely, POSTGRES_TYPES)) yield* change(step);
      yield* change(kysely.insertInto("versions").values({ version: index + 1, applied_ms: Date.now() }));
    }
  });
}

async function versionOf(pool: Pg.Pool, place: string): Promise<number> {
  const { rows: tables } = await pool.query("select to_regclass('versions') is not null as made");
  if (tables[0]?.made !== true) return 0;
  const { rows } = await pool.query<{ version: number }>("select coalesce(max(version), 0) as version from versions");
  const version = rows[0]?.version ?? 0;
  if (version > MIGRATIONS.length) throw newerFault(place, version, MIGRATIONS.length, "name another database");
  return version;
}

/** Returns the server and the database of an address, without user and password. Throws if it is no address of ours. */
export function placeOf(address: string): string {
  if (URL.canParse(address) && /^postgres(ql)?:$/.test(new URL(address).protocol)) {
    const { host, pathname } = new URL(address);
    return `postgres://${host}${pathname}`;
  }
  throw new SpillwayError(
    "bad-input",
    "a ledger's address must be such as postgres://user:password@host:5432/database; what was given is not shown, " +
      "since it may hold a password",
  );
}

// https://www.postgresql.org/docs/current/errcodes-appendix.html
const LOST = /^(08|57P0[1-5])/;
const PASSING = /^(08|40001|40P01|53300|55P03|57P0[1-5])/;
const LOST_SYSTEM = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EAI_AGAIN",
  "ENOTFOUND",
]);

/** Returns true if nobody can know any more what the server did. */
function isConnectionLost(error: unknown): boolean {
  const code = codeOf(error);
  if (LOST.test(code) || LOST_SYSTEM.has(code)) return true;
  return code === "" && /connection|timeout|terminated|not queryable/i.test(messageOf(error));
}

/** Returns true if the same may succeed a little later. */
function isPassing(error: unknown): boolean {
  return !SpillwayError.is(error) && (PASSING.test(codeOf(error)) || isConnectionLost(error));
}

/** Returns true if the server wants another user, another password or another database. An operator can mend that. */
function isRefused(error: unknown): boolean {
  return /^(28|3D000)/.test(codeOf(error));
}

/** Returns an error that says what to do. */
function postgresFault(error: unknown, place: string): unknown {
  if (SpillwayError.is(error)) return error;
  const code = codeOf(error);
  const fault = (name: "store-unavailable" | "store-full", what: string, next = "") =>
    new SpillwayError(name, `${place} ${what}: ${messageOf(error)}${next}`, { cause: error });
  if (code.startsWith("28")) return fault("store-unavailable", "refuses the user or the password of its address");
  if (code === "3D000") return fault("store-unavailable", "has no such database; make it with createdb");
  if (code === "42501") return fault("store-unavailable", "does not let this user make or change our tables");
  if (/^53[12]/.test(code)) return fault("store-full", "has no room left");
  if (isPassing(error))
    return fault("store-unavailable", "cannot be reached", "; see that it is up and its address is right");
  return error;
}
