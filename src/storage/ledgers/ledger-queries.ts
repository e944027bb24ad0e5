import { type Kysely, sql } from "kysely";
import type { RecordedEvent } from "../../contract/event.ts";
import type { EventQuery, Projection, SessionRow, StatQuery, StatRow, Totals } from "../../contract/ledger.ts";
import { NUMBERS } from "../../stages/policy/defaults.ts";
import type { RollupTable, Schema } from "../local/schema.ts";
import { storedName } from "../stored-name.ts";
import { readEventForm } from "./event-form.ts";
import { hourOf, pageSize } from "./hours-and-pages.ts";

/** Which column of the roll-ups holds which sum. */
export const SUM_COLUMNS: { readonly [Name in keyof Totals]: keyof RollupTable } = {
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
const NAMES = Object.keys(SUM_COLUMNS) as (keyof Totals)[];
const SUMS = NAMES.map((name) => sql<number>`coalesce(sum(${sql.ref(`rollups.${SUM_COLUMNS[name]}`)}), 0)`.as(name));

/** One page of events, oldest first. */
export async function selectEvents(kysely: Kysely<Schema>, query: EventQuery): Promise<RecordedEvent[]> {
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

/** Statistics from the roll-ups: by whole hours, most calls first. */
export async function selectStats(kysely: Kysely<Schema>, query: StatQuery): Promise<StatRow[]> {
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

/** Sessions, the last seen first. */
export async function selectSessions(kysely: Kysely<Schema>, max?: number): Promise<SessionRow[]> {
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

/** A projection by its key. */
export async function selectProjection(kysely: Kysely<Schema>, key: string): Promise<Projection | null> {
  const row = await kysely
    .selectFrom("projections")
    .selectAll()
    .where("key", "=", storedName(key) ?? "")
    .executeTakeFirst();
  return row === undefined
    ? null
    : { key, text: JSON.parse(row.text) as string, step: Number(row.step), session: row.session };
}

// PostgreSQL gives sums as text.
function totalsOf(row: Record<keyof Totals, number>): Totals {
  return Object.fromEntries(NAMES.map((name) => [name, Number(row[name])])) as Record<keyof Totals, number>;
}
