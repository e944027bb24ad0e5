import { type Kysely, sql } from "kysely";
import type { RecordedEvent } from "../../contract/event.ts";
import type { EventQuery, Ledger, Projection, SessionRow, StatQuery, StatRow, Totals } from "../../contract/ledger.ts";
import { NUMBERS } from "../../stages/policy/defaults.ts";
import type { Database } from "../local/open-database.ts";
import type { RollupTable, Schema } from "../local/schema.ts";
import { storedName } from "../stored-name.ts";
import { type EventForm, eventForm, hourOf, pageSize, readEventForm } from "./event-form.ts";

/** Maps each sum to its column of `rollups`. */
const SUM_COLUMNS: { readonly [Name in keyof Totals]: keyof RollupTable } = {
  calls: "calls",
  cutCalls: "cut_calls",
  bytesIn: "bytes_in",
  bytesShown: "bytes_shown",
  tokensShown: "tokens_shown",
  tokensIn: "tokens_in",
  recalls: "recalls",
  recalledBytes: "recalled_bytes",
  recalledTokens: "recalled_tokens",
};
const SUM_NAMES = Object.keys(SUM_COLUMNS) as (keyof typeof SUM_COLUMNS)[];
const COLUMNS = SUM_NAMES.map((name) => SUM_COLUMNS[name]);

const ADD_EVENT =
  "insert into events (kind, at_ms, session, tool, call, artifact, receipt, more) values (?, ?, ?, ?, ?, ?, ?, ?)";
const ADD_SUMS =
  `insert into rollups (hour_ms, tool, session, ${COLUMNS.join(", ")}) values (?, ?, ?${", ?".repeat(COLUMNS.length)}) ` +
  `on conflict (session, hour_ms, tool) do update set ` +
  COLUMNS.map((column) => `${column} = ${column} + excluded.${column}`).join(", ");
// Clocks jump. So the earliest time counts as first seen and the latest as last seen, in whatever order events come.
const SEE_SESSION =
  "insert into sessions (session, first_seen_ms, last_seen_ms, pinned) values (?, ?, ?, 0) on conflict (session) do " +
  "update set first_seen_ms = min(first_seen_ms, excluded.first_seen_ms), " +
  "last_seen_ms = max(last_seen_ms, excluded.last_seen_ms)";
const PIN_SESSION =
  "insert into sessions (session, first_seen_ms, last_seen_ms, pinned) values (?, ?, ?, ?) on conflict (session) do " +
  "update set pinned = excluded.pinned";
const SAVE_PROJECTION =
  "insert into projections (key, session, at_ms, text, step) values (?, ?, ?, ?, ?) on conflict (key) do " +
  "update set text = excluded.text, step = excluded.step, at_ms = excluded.at_ms, " +
  "session = coalesce(projections.session, excluded.session) where excluded.step > projections.step";
// Does not delete from artifact_sessions: the store needs it to find the session's artifacts.
const OF_SESSION = ["events", "rollups", "sessions", "projections"] as const;

/**
 * Keeps a ledger in the local database. Closing the ledger does not close the database, because the store uses it too.
 */
export function sqliteLedger(database: Database): Ledger {
  const { kysely, raw } = database;
  const addEvent = raw.prepare(ADD_EVENT);
  const addSums = raw.prepare(ADD_SUMS);
  const seeSession = raw.prepare(SEE_SESSION);

  const write = (form: EventForm): void => {
    const { kind, atMs, session, tool, call, artifact, receipt, more, sums } = form;
    addEvent.run(kind, atMs, session, tool, call, artifact, receipt, more);
    const values = SUM_NAMES.map((name) => sums[name]);
    if (values.some((value) => value !== 0)) addSums.run(hourOf(atMs), tool ?? "", session ?? "", ...values);
    if (session !== null) seeSession.run(session, atMs, atMs);
  };

  // Events that are recorded without waiting in between share one transaction, so that the events of one output cost
  // one commit.
  let waiting: EventForm[] = [];
  let written: Promise<void> = Promise.resolve();
  const flush = async (): Promise<void> => {
    await Promise.resolve();
    const forms = waiting;
    waiting = [];
    await database.write(() => {
      for (const form of forms) write(form);
    });
  };

  return {
    name: "sqlite",
    async record(event) {
      waiting.push(eventForm(event));
      if (waiting.length === 1) written = flush();
      return written;
    },
    events: (query = {}) => selectEvents(kysely, query),
    stats: (query) => selectStats(kysely, query),
    sessions: (max) => selectSessions(kysely, max),
    async pin(session, pinned) {
      const nowMs = Date.now();
      const name = storedName(session);
      if (name !== null) await database.write(() => raw.prepare(PIN_SESSION).run(name, nowMs, nowMs, pinned ? 1 : 0));
    },
    async removeSession(session) {
      if (session === "") return 0;
      const name = storedName(session);
      return database.write(() => {
        const [events = 0] = OF_SESSION.map(
          // In `rollups` the empty name stands for no session. No session has that name.
          (table) =>
            raw.prepare(`delete from ${table} where session is ?`).run(table === "rollups" ? (name ?? "") : name)
              .changes,
        );
        return events;
      });
    },
    projection: (key) => selectProjection(kysely, key),
    async saveProjection({ key, text, step, session }: Projection) {
      const name = storedName(session);
      const values = [storedName(key) ?? "", name, Date.now(), JSON.stringify(text), step] as const;
      await database.write(() => raw.prepare(SAVE_PROJECTION).run(...values));
    },
    async close() {},
  };
}

const SUMS = SUM_NAMES.map((name) =>
  sql<number>`coalesce(sum(${sql.ref(`rollups.${SUM_COLUMNS[name]}`)}), 0)`.as(name),
);

/** Returns one page of events, oldest first. */
async function selectEvents(kysely: Kysely<Schema>, query: EventQuery): Promise<RecordedEvent[]> {
  const { afterId, kinds, sinceMs } = query;
  const session = storedName(query.session);
  const tool = storedName(query.tool);
  let select = kysely.selectFrom("events").selectAll().orderBy("id").limit(pageSize(query.max));
  if (afterId !== undefined) select = select.where("id", ">", afterId);
  if (query.session !== undefined) select = select.where("session", session === null ? "is" : "=", session);
  if (query.tool !== undefined) select = select.where("tool", tool === null ? "is" : "=", tool);
  if (kinds !== undefined) select = select.where("kind", "in", kinds);
  if (sinceMs !== undefined) select = select.where("at_ms", ">=", sinceMs);
  const rows = await select.execute();
  return rows.map(({ id, at_ms, ...row }) => readEventForm(Number(id), { ...row, atMs: Number(at_ms) }));
}

/** Returns statistics from `rollups`, by whole hours, most calls first. */
async function selectStats(kysely: Kysely<Schema>, query: StatQuery): Promise<StatRow[]> {
  const { by, sinceMs } = query;
  const session = query.session === undefined ? undefined : (storedName(query.session) ?? "");
  let select = kysely.selectFrom("rollups").select(SUMS).limit(NUMBERS.ledgerPage.ceiling);
  if (sinceMs !== undefined) select = select.where("hour_ms", ">=", hourOf(sinceMs));
  if (session !== undefined) select = select.where("session", "=", session);
  const about = session || null;
  if (by === "all") {
    const row = await select.executeTakeFirstOrThrow();
    return [{ tool: null, session: about, ...totalsOf(row) }];
  }
  const rows = await select.select(`${by} as name`).groupBy(by).orderBy("calls", "desc").orderBy(by).execute();
  return rows.map(({ name, ...row }) => {
    const named = name || null;
    return by === "tool"
      ? { tool: named, session: about, ...totalsOf(row) }
      : { tool: null, session: named, ...totalsOf(row) };
  });
}

/** Returns sessions, the last seen first. */
async function selectSessions(kysely: Kysely<Schema>, max?: number): Promise<SessionRow[]> {
  const rows = await kysely
    .selectFrom((from) =>
      from
        .selectFrom("sessions")
        .selectAll()
        .orderBy("last_seen_ms", "desc")
        .orderBy("session")
        .limit(pageSize(max))
        .as("seen"),
    )
    .leftJoin("rollups", "rollups.session", "seen.session")
    .select(["seen.session", "first_seen_ms", "last_seen_ms", "pinned"])
    .select(SUMS)
    .groupBy(["seen.session", "first_seen_ms", "last_seen_ms", "pinned"])
    .orderBy("last_seen_ms", "desc")
    .orderBy("seen.session")
    .execute();
  return rows.map(({ session, first_seen_ms, last_seen_ms, pinned, ...row }) => ({
    session,
    firstSeenMs: Number(first_seen_ms),
    lastSeenMs: Number(last_seen_ms),
    pinned: Number(pinned) !== 0,
    ...totalsOf(row),
  }));
}

async function selectProjection(kysely: Kysely<Schema>, key: string): Promise<Projection | null> {
  const row = await kysely
    .selectFrom("projections")
    .selectAll()
    .where("key", "=", storedName(key) ?? "")
    .executeTakeFirst();
  return row === undefined
    ? null
    : { key, text: JSON.parse(row.text) as string, step: Number(row.step), session: row.session };
}

// PostgreSQL returns sums as text.
function totalsOf(row: Record<keyof Totals, number>): Totals {
  return Object.fromEntries(SUM_NAMES.map((name) => [name, Number(row[name])])) as Record<keyof Totals, number>;
}
