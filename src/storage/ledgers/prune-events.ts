import { setImmediate } from "node:timers/promises";
import { type Compilable, expressionBuilder } from "kysely";
import { NUMBERS } from "../../stages/policy/defaults.ts";
import type { Schema } from "../local/schema.ts";
import { all, change, type Sql } from "../sql.ts";

/** Options of `pruneEvents`. */
export interface PruneEventsOptions {
  /** Removes events and projections that are older than this. */
  olderThanMs: number;
  /** Removes sums and sessions that are older than this. If it is not given, they stay, because they are small. */
  sumsOlderThanMs?: number;
  /** Removes nothing of a session that was seen within this time. */
  retainMs?: number;
  nowMs?: number;
  /** Ends the work early. */
  signal?: AbortSignal | undefined;
  /** Only counts what would be removed. */
  isDryRun?: boolean;
}

/** Says how many rows of each table were removed. */
export interface PrunedEvents {
  events: number;
  projections: number;
  sums: number;
  sessions: number;
}

// Each step holds the lock for a few milliseconds only, so that other processes can write in between.
const ROWS_A_STEP = 2000;

/**
 * Deletes old events and returns their room to the disk. It spares the events of sessions that are pinned or in use.
 * Sums stay.
 */
export async function pruneEvents(database: Sql, options: PruneEventsOptions): Promise<PrunedEvents> {
  const { kysely } = database;
  const { olderThanMs, sumsOlderThanMs = Infinity, nowMs = Date.now(), isDryRun = false, signal } = options;
  const heldMs = nowMs - (options.retainMs ?? NUMBERS.retainSeenMs.default);
  const inUse = kysely
    .selectFrom("sessions")
    .select(["scope", "session"])
    .where((row) => row.or([row("pinned", "<>", 0), row("last_seen_ms", ">", heldMs)]));
  // Every table has a column of this name.
  const row = expressionBuilder<Schema, "events">();
  const isUnused = row.or([
    row("session", "is", null),
    row(row.refTuple("scope", "session"), "not in", inUse.$asTuple("scope", "session")),
  ]);
  // Nothing is older than any time.
  const beforeMs = (ageMs: number) => Math.max(nowMs - ageMs, Number.MIN_SAFE_INTEGER);
  const events = kysely.selectFrom("events").where("at_ms", "<", beforeMs(olderThanMs)).where(isUnused);
  const projections = kysely.selectFrom("projections").where("at_ms", "<", beforeMs(olderThanMs)).where(isUnused);
  const sums = kysely.selectFrom("rollups").where("hour_ms", "<", beforeMs(sumsOlderThanMs)).where(isUnused);
  const sessions = kysely
    .selectFrom("sessions")
    .where("last_seen_ms", "<", beforeMs(sumsOlderThanMs))
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("artifact_sessions")
            .innerJoin("artifacts", "artifacts.key", "artifact_sessions.key")
            .select("artifacts.key")
            .whereRef("artifact_sessions.session", "=", "sessions.session")
            .whereRef("artifacts.scope", "=", "sessions.scope"),
        ),
      ),
    )
    .where(isUnused);

  async function prune(counted: Compilable<{ rows: unknown }>, step: Compilable): Promise<number> {
    if (isDryRun) return Number((await database.read(() => all(counted)))[0]?.rows ?? 0);
    for (let removed = 0; ; await setImmediate()) {
      if (signal?.aborted) return removed;
      const changes = await database.commit(() => change(step));
      removed += changes;
      if (changes < ROWS_A_STEP) return removed;
    }
  }
  const count = kysely.fn.countAll().as("rows");
  const pruned = {
    events: await prune(
      events.select(count),
      kysely.deleteFrom("events").where("id", "in", events.select("id").limit(ROWS_A_STEP)),
    ),
    projections: await prune(
      projections.select(count),
      kysely
        .deleteFrom("projections")
        .where(({ eb, refTuple }) =>
          eb(
            refTuple("scope", "key"),
            "in",
            projections.select(["scope", "key"]).limit(ROWS_A_STEP).$asTuple("scope", "key"),
          ),
        ),
    ),
    sums: await prune(
      sums.select(count),
      kysely
        .deleteFrom("rollups")
        .where(({ eb, refTuple }) =>
          eb(
            refTuple("scope", "session", "hour_ms", "tool"),
            "in",
            sums
              .select(["scope", "session", "hour_ms", "tool"])
              .limit(ROWS_A_STEP)
              .$asTuple("scope", "session", "hour_ms", "tool"),
          ),
        ),
    ),
    sessions: await prune(
      sessions.select(count),
      kysely
        .deleteFrom("sessions")
        .where(({ eb, refTuple }) =>
          eb(
            refTuple("scope", "session"),
            "in",
            sessions.select(["scope", "session"]).limit(ROWS_A_STEP).$asTuple("scope", "session"),
          ),
        ),
    ),
  };
  if (!isDryRun) await database.giveRoomBack(signal);
  return pruned;
}
