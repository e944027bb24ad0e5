import { type Kysely, type SelectQueryBuilder, sql } from "kysely";
import type { RecordedEvent } from "../../contract/event.ts";
import type {
  EventQuery,
  Ledger,
  Projection,
  SessionQuery,
  SessionRow,
  StatQuery,
  StatRow,
  Totals,
} from "../../contract/ledger.ts";
import { NUMBERS } from "../../stages/policy/defaults.ts";
import { seenSessions } from "../local/artifact-rows.ts";
import { IS_OVERFLOW } from "../local/migrations.ts";
import type { RollupTable, Schema, SessionTable } from "../local/schema.ts";
import { all, change, compiledOnce, type Sql, type Steps } from "../sql.ts";
import { storedName } from "../stored-name.ts";
import { addTotals, type EventForm, eventForm, hourOf, NO_TOTALS, pageSize, readEventForm } from "./event-form.ts";

const SUM_NAMES = Object.keys(NO_TOTALS) as (keyof Totals)[];
/** The column of `rollups` for each sum: `cut_calls` for `cutCalls`. */
const SUM_COLUMNS = Object.fromEntries(
  SUM_NAMES.map((name) => [name, name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)]),
) as { readonly [Name in keyof Totals]: keyof RollupTable };
// Does not delete from artifact_sessions: the store needs it to find the session's artifacts.
const OF_SESSION = ["events", "rollups", "sessions", "projections"] as const;

/** Whose events a ledger has where nothing else is said: those of this machine's user. */
export const LOCAL_SCOPE = "local";

/**
 * The rows of one scope. A ledger reads and deletes through these only, so that no query can leave out the scope; a row that
 * is inserted without one does not compile.
 */
function rowsOf({ kysely }: Sql, scope: string) {
  return {
    events: kysely.selectFrom("events").where("events.scope", "=", scope),
    rollups: kysely.selectFrom("rollups").where("rollups.scope", "=", scope),
    sessions: kysely.selectFrom("sessions").where("sessions.scope", "=", scope),
    projections: kysely.selectFrom("projections").where("projections.scope", "=", scope),
    summed: (sessions: SelectedSessions) =>
      kysely
        .selectFrom(sessions.as("seen"))
        .leftJoin("rollups", (join) =>
          join.onRef("rollups.session", "=", "seen.session").on("rollups.scope", "=", scope),
        ),
    without: (table: (typeof OF_SESSION)[number]) => kysely.deleteFrom(table).where("scope", "=", scope),
  };
}

type Rows = ReturnType<typeof rowsOf> & Pick<Sql, "read">;
type SelectedSessions = SelectQueryBuilder<Schema, "sessions", Schema["sessions"]>;

/**
 * Keeps the ledger of one scope in a database. Closing the ledger does not close the database, because the store uses it too.
 */
export function sqlLedger(database: Sql, name: string, scopeName = LOCAL_SCOPE): Ledger {
  const { kysely, commit } = database;
  const scope = storedName(scopeName) ?? "";
  const rows: Rows = { ...rowsOf(database, scope), read: database.read };

  const { write } = eventWriter(database);

  // Events that come while others are written share the next transaction: only one writer at a time may write events anyway,
  // and the events of one output cost one commit.
  let waiting: EventForm[] = [];
  let written: Promise<void> = Promise.resolve();
  const flush = async (before: Promise<void>): Promise<void> => {
    await before.catch(() => {});
    const forms = waiting;
    waiting = [];
    await commit(() => write(scope, forms));
  };

  return {
    name,
    async record(event) {
      waiting.push(eventForm(event));
      if (waiting.length === 1) written = flush(written);
      return written;
    },
    events: (query = {}) => selectEvents(rows, query),
    stats: (query) => selectStats(rows, query),
    sessions: (query = {}) => selectSessions(rows, query),
    async pin(session, pinned) {
      const nowMs = Date.now();
      const name = storedName(session);
      if (name === null) return;
      const row = { scope, session: name, first_seen_ms: nowMs, last_seen_ms: nowMs, pinned: pinned ? 1 : 0 };
      const insert = kysely.insertInto("sessions").values(row);
      await commit(() =>
        change(
          insert.onConflict((conflict) => conflict.columns(["scope", "session"]).doUpdateSet({ pinned: row.pinned })),
        ),
      );
    },
    async removeSession(session) {
      if (session === "") return 0;
      const name = storedName(session);
      return commit(function* () {
        const removed: number[] = [];
        for (const table of OF_SESSION) {
          // In `rollups` the empty name stands for no session. No session has that name.
          const is = table === "rollups" ? (name ?? "") : name;
          removed.push(yield* change(rows.without(table).where("session", is === null ? "is" : "=", is)));
        }
        return removed[0] ?? 0;
      });
    },
    projection: (key) => selectProjection(rows, key),
    async saveProjection({ key, text, step, session }: Projection) {
      const row = { scope, key: storedName(key) ?? "", session: storedName(session), at_ms: Date.now() };
      const insert = kysely.insertInto("projections").values({ ...row, text: JSON.stringify(text), step });
      await commit(() =>
        change(
          insert.onConflict((conflict) =>
            conflict
              .columns(["scope", "key"])
              .doUpdateSet(({ ref, fn }) => ({
                text: ref("excluded.text"),
                step: ref("excluded.step"),
                at_ms: ref("excluded.at_ms"),
                session: fn.coalesce("projections.session", "excluded.session"),
              }))
              .whereRef("excluded.step", ">", "projections.step"),
          ),
        ),
      );
    },
    async close() {},
  };
}

/** Writes events and sums of any scope, with one statement for as many rows as the engine takes at once. */
export function eventWriter(database: Sql) {
  const { kysely, rowsAtOnce } = database;
  const putSums = compiledOnce((sums: RollupTable[]) => addedSums(kysely, sums));
  const seeSessions = compiledOnce((seen: SessionTable[]) => seenSessions(kysely, seen));
  const addEvents = compiledOnce((events: EventRow[]) => kysely.insertInto("events").values(events));
  /** They come in the order of their keys, so that two writers never wait for each other. */
  function* addSums(sums: readonly RollupTable[]): Steps<void> {
    for (const some of portions(sums, rowsAtOnce)) yield* change(putSums(some));
  }
  function* write(scope: string, forms: readonly EventForm[]): Steps<void> {
    yield* addSums(sumsOf(scope, forms));
    for (const some of portions(seenIn(scope, forms), rowsAtOnce)) yield* change(seeSessions(some));
    yield* database.takeTurn("events");
    for (const some of portions(rowsFor(scope, forms), rowsAtOnce)) yield* change(addEvents(some));
  }
  return { addSums, write };
}

type EventRow = ReturnType<typeof rowsFor>[number];

function rowsFor(scope: string, forms: readonly EventForm[]) {
  return forms.map(({ atMs, kind, session, tool, call, artifact, receipt, more }) => {
    return { scope, kind, at_ms: atMs, session, tool, call, artifact, receipt, more };
  });
}

/** The sums of events by hour, tool and session, in the order of the table's key. */
function sumsOf(scope: string, forms: readonly EventForm[]): RollupTable[] {
  const sums = new Map<string, { of: Pick<RollupTable, "session" | "hour_ms" | "tool">; totals: Totals }>();
  for (const { atMs, tool, session, sums: own } of forms) {
    if (!Object.values(own).some((sum) => sum !== 0)) continue;
    const of = { session: session ?? "", hour_ms: hourOf(atMs), tool: tool ?? "" };
    // No name has a NUL.
    const key = `${of.session}\0${of.hour_ms}\0${of.tool}`;
    const before = sums.get(key)?.totals;
    sums.set(key, { of, totals: before === undefined ? own : addTotals(before, own) });
  }
  return inOrder(sums).map(({ of, totals }) => {
    const columns = Object.fromEntries(SUM_NAMES.map((name) => [SUM_COLUMNS[name], totals[name]]));
    return { scope, ...of, ...columns } as RollupTable;
  });
}

/** The sessions of events, each with the first time and the last, in the order of their names. */
function seenIn(scope: string, forms: readonly EventForm[]): SessionTable[] {
  const seen = new Map<string, SessionTable>();
  for (const { session, atMs, usesSession } of forms) {
    if (session === null || !usesSession) continue;
    const { first_seen_ms = atMs, last_seen_ms = atMs } = seen.get(session) ?? {};
    const span = { first_seen_ms: Math.min(first_seen_ms, atMs), last_seen_ms: Math.max(last_seen_ms, atMs) };
    seen.set(session, { scope, session, ...span, pinned: 0 });
  }
  return inOrder(seen);
}

function inOrder<Value>(map: Map<string, Value>): Value[] {
  return [...map.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value);
}

function* portions<Value>(values: readonly Value[], most: number): Generator<Value[]> {
  for (let from = 0; from < values.length; from += most) yield values.slice(from, from + most);
}

function addedSums(kysely: Kysely<Schema>, sums: readonly RollupTable[]) {
  return kysely
    .insertInto("rollups")
    .values([...sums])
    .onConflict((conflict) =>
      conflict.columns(["scope", "session", "hour_ms", "tool"]).doUpdateSet((row) =>
        Object.fromEntries(
          SUM_NAMES.map((name) => {
            const column = SUM_COLUMNS[name];
            return [column, row(`rollups.${column}`, "+", row.ref(`excluded.${column}`))];
          }),
        ),
      ),
    );
}

const SUMS = SUM_NAMES.map((name) =>
  sql<number>`coalesce(sum(${sql.ref(`rollups.${SUM_COLUMNS[name]}`)}), 0)`.as(name),
);

/** Returns one page of events. */
async function selectEvents({ events, read }: Rows, query: EventQuery): Promise<RecordedEvent[]> {
  const { afterId, beforeId, kinds, sinceMs, order } = query;
  // Not every engine takes an empty list.
  if (kinds?.length === 0) return [];
  let select = events
    .selectAll()
    .orderBy("id", order === "newest" ? "desc" : "asc")
    .limit(pageSize(query.max));
  if (afterId !== undefined) select = select.where("id", ">", afterId);
  if (beforeId !== undefined) select = select.where("id", "<", beforeId);
  for (const column of ["session", "tool", "call", "artifact"] as const) {
    if (query[column] === undefined) continue;
    const name = storedName(query[column]);
    select = select.where(column, name === null ? "is" : "=", name);
  }
  if (kinds !== undefined) select = select.where("kind", "in", kinds);
  if (kinds?.every((kind) => kind.startsWith("overflow-"))) select = select.where(IS_OVERFLOW);
  if (sinceMs !== undefined) select = select.where("at_ms", ">=", sinceMs);
  const rows = await read(() => all(select));
  return rows.map(({ id, at_ms, ...row }) => readEventForm(Number(id), { ...row, atMs: Number(at_ms) }));
}

/** Returns statistics from `rollups`, by whole hours. */
async function selectStats({ rollups, read }: Rows, query: StatQuery): Promise<StatRow[]> {
  const { by, sinceMs, untilMs } = query;
  // In `rollups` the empty name stands for none.
  const asked = (name: string | undefined) => (name === undefined ? undefined : (storedName(name) ?? ""));
  const [session, tool] = [asked(query.session), asked(query.tool)];
  let select = rollups.select(SUMS).limit(NUMBERS.ledgerPage.ceiling);
  if (sinceMs !== undefined) select = select.where("hour_ms", ">=", hourOf(sinceMs));
  if (untilMs !== undefined) select = select.where("hour_ms", "<", untilMs);
  if (session !== undefined) select = select.where("session", "=", session);
  if (tool !== undefined) select = select.where("tool", "=", tool);
  const about = { tool: tool || null, session: session || null };
  if (by === "all") {
    const rows = await read(() => all(select));
    return rows.map((row) => ({ ...about, ...totalsOf(row) }));
  }
  if (by === "hour") {
    const hours = select.select("hour_ms").groupBy("hour_ms").orderBy("hour_ms", "desc");
    const rows = await read(() => all(hours));
    return rows.reverse().map(({ hour_ms, ...row }) => ({ ...about, hourMs: Number(hour_ms), ...totalsOf(row) }));
  }
  const named = select.select(`${by} as name`).groupBy(by).orderBy("calls", "desc").orderBy(by);
  const rows = await read(() => all(named));
  return rows.map(({ name, ...row }) => ({ ...about, [by]: name || null, ...totalsOf(row) }));
}

/** Returns sessions, the last seen first. */
async function selectSessions(
  { sessions, summed, read }: Rows,
  { session, after, max }: SessionQuery,
): Promise<SessionRow[]> {
  const seen = sessions
    .selectAll()
    .$if(session !== undefined, (select) => select.where("session", "=", storedName(session) ?? ""))
    .$if(after !== undefined, (select) =>
      select.where(({ eb, and, or }) =>
        or([
          eb("last_seen_ms", "<", after?.lastSeenMs ?? 0),
          and([eb("last_seen_ms", "=", after?.lastSeenMs ?? 0), eb("session", ">", after?.session ?? "")]),
        ]),
      ),
    )
    .orderBy("last_seen_ms", "desc")
    .orderBy("session")
    .limit(pageSize(max));
  const withSums = summed(seen)
    .select(["seen.session", "first_seen_ms", "last_seen_ms", "pinned"])
    .select(SUMS)
    .groupBy(["seen.session", "first_seen_ms", "last_seen_ms", "pinned"])
    .orderBy("last_seen_ms", "desc")
    .orderBy("seen.session");
  const rows = await read(() => all(withSums));
  return rows.map(({ session, first_seen_ms, last_seen_ms, pinned, ...row }) => ({
    session,
    firstSeenMs: Number(first_seen_ms),
    lastSeenMs: Number(last_seen_ms),
    pinned: Number(pinned) !== 0,
    ...totalsOf(row),
  }));
}

async function selectProjection({ projections, read }: Rows, key: string): Promise<Projection | null> {
  const found = projections.selectAll().where("key", "=", storedName(key) ?? "");
  const [row] = await read(() => all(found));
  return row === undefined
    ? null
    : { key, text: JSON.parse(row.text) as string, step: Number(row.step), session: row.session };
}

// PostgreSQL returns sums as text.
function totalsOf(row: Record<keyof Totals, number>): Totals {
  return Object.fromEntries(SUM_NAMES.map((name) => [name, Number(row[name])])) as Record<keyof Totals, number>;
}
