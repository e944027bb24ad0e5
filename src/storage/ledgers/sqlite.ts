import { type Kysely, sql } from "kysely";
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
import { seenSession } from "../local/artifact-rows.ts";
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
// Does not delete from artifact_sessions: the store needs it to find the session's artifacts.
const OF_SESSION = ["events", "rollups", "sessions", "projections"] as const;

/**
 * Keeps a ledger in the local database. Closing the ledger does not close the database, because the store uses it too.
 */
export function sqliteLedger(database: Database): Ledger {
  const { kysely, change } = database;

  const write = ({ atMs, sums, ...event }: EventForm): void => {
    const { tool, session } = event;
    change(kysely.insertInto("events").values({ ...event, at_ms: atMs }));
    if (Object.values(sums).some((sum) => sum !== 0)) {
      change(addedSums(kysely, { hour_ms: hourOf(atMs), tool: tool ?? "", session: session ?? "" }, sums));
    }
  };

  /** A session is seen once for all of its events, with the first time and the last. */
  const see = (forms: readonly EventForm[]): void => {
    const seen = new Map<string, [firstMs: number, lastMs: number]>();
    for (const { session, atMs } of forms) {
      if (session === null) continue;
      const [firstMs, lastMs] = seen.get(session) ?? [atMs, atMs];
      seen.set(session, [Math.min(firstMs, atMs), Math.max(lastMs, atMs)]);
    }
    for (const [session, times] of seen) for (const atMs of new Set(times)) change(seenSession(kysely, session, atMs));
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
      see(forms);
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
    sessions: (query = {}) => selectSessions(kysely, query),
    async pin(session, pinned) {
      const nowMs = Date.now();
      const name = storedName(session);
      if (name === null) return;
      const row = { session: name, first_seen_ms: nowMs, last_seen_ms: nowMs, pinned: pinned ? 1 : 0 };
      const insert = kysely.insertInto("sessions").values(row);
      await database.write(() =>
        change(insert.onConflict((conflict) => conflict.column("session").doUpdateSet({ pinned: row.pinned }))),
      );
    },
    async removeSession(session) {
      if (session === "") return 0;
      const name = storedName(session);
      return database.write(() => {
        const [events = 0] = OF_SESSION.map(
          // In `rollups` the empty name stands for no session. No session has that name.
          (table) => change(kysely.deleteFrom(table).where("session", "is", table === "rollups" ? (name ?? "") : name)),
        );
        return events;
      });
    },
    projection: (key) => selectProjection(kysely, key),
    async saveProjection({ key, text, step, session }: Projection) {
      const row = { key: storedName(key) ?? "", session: storedName(session), at_ms: Date.now() };
      const insert = kysely.insertInto("projections").values({ ...row, text: JSON.stringify(text), step });
      await database.write(() =>
        change(
          insert.onConflict((conflict) =>
            conflict
              .column("key")
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

/** Adds sums to those of an hour, a tool and a session. */
function addedSums(kysely: Kysely<Schema>, of: Pick<RollupTable, "hour_ms" | "tool" | "session">, sums: Totals) {
  const columns = Object.fromEntries(SUM_NAMES.map((name) => [SUM_COLUMNS[name], sums[name]]));
  return kysely
    .insertInto("rollups")
    .values({ ...of, ...columns } as RollupTable)
    .onConflict((conflict) =>
      conflict.columns(["session", "hour_ms", "tool"]).doUpdateSet((row) =>
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
async function selectEvents(kysely: Kysely<Schema>, query: EventQuery): Promise<RecordedEvent[]> {
  const { afterId, beforeId, kinds, sinceMs, order } = query;
  let select = kysely
    .selectFrom("events")
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
  if (sinceMs !== undefined) select = select.where("at_ms", ">=", sinceMs);
  const rows = await select.execute();
  return rows.map(({ id, at_ms, ...row }) => readEventForm(Number(id), { ...row, atMs: Number(at_ms) }));
}

/** Returns statistics from `rollups`, by whole hours. */
async function selectStats(kysely: Kysely<Schema>, query: StatQuery): Promise<StatRow[]> {
  const { by, sinceMs, untilMs } = query;
  // In `rollups` the empty name stands for none.
  const asked = (name: string | undefined) => (name === undefined ? undefined : (storedName(name) ?? ""));
  const [session, tool] = [asked(query.session), asked(query.tool)];
  let select = kysely.selectFrom("rollups").select(SUMS).limit(NUMBERS.ledgerPage.ceiling);
  if (sinceMs !== undefined) select = select.where("hour_ms", ">=", hourOf(sinceMs));
  if (untilMs !== undefined) select = select.where("hour_ms", "<", untilMs);
  if (session !== undefined) select = select.where("session", "=", session);
  if (tool !== undefined) select = select.where("tool", "=", tool);
  const about = { tool: tool || null, session: session || null };
  if (by === "all") {
    const row = await select.executeTakeFirstOrThrow();
    return [{ ...about, ...totalsOf(row) }];
  }
  if (by === "hour") {
    const rows = await select.select("hour_ms").groupBy("hour_ms").orderBy("hour_ms", "desc").execute();
    return rows.reverse().map(({ hour_ms, ...row }) => ({ ...about, hourMs: Number(hour_ms), ...totalsOf(row) }));
  }
  const rows = await select.select(`${by} as name`).groupBy(by).orderBy("calls", "desc").orderBy(by).execute();
  return rows.map(({ name, ...row }) => ({ ...about, [by]: name || null, ...totalsOf(row) }));
}

/** Returns sessions, the last seen first. */
async function selectSessions(kysely: Kysely<Schema>, { session, after, max }: SessionQuery): Promise<SessionRow[]> {
  const seen = kysely
    .selectFrom("sessions")
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
  const rows = await kysely
    .selectFrom(seen.as("seen"))
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
