import { setImmediate } from "node:timers/promises";
import type { Database } from "../local/open-database.ts";

/** What `pruneEvents` is told. */
export interface PruneEventsOptions {
  /** Events, and projections, of before this long ago go. */
  olderThanMs: number;
  /** Sums and sessions of before this long ago go too; without it they stay, being small. */
  sumsOlderThanMs?: number;
  nowMs?: number;
  /** Counts only. */
  isDryRun?: boolean;
}

/** How many of each went. */
export interface PrunedEvents {
  events: number;
  projections: number;
  sums: number;
  sessions: number;
}

// Other processes write in between: each step holds the lock for some milliseconds.
const ROWS_A_STEP = 2000;
const PAGES_A_STEP = 2000;
const NOT_PINNED = "(session is null or session not in (select session from sessions where pinned <> 0))";

/** Deletes old events, except those of pinned sessions, and gives their room back to the disk. Sums stay. */
export async function pruneEvents(
  { raw, transaction }: Database,
  { olderThanMs, sumsOlderThanMs = Infinity, nowMs = Date.now(), isDryRun = false }: PruneEventsOptions,
): Promise<PrunedEvents> {
  async function prune(table: string, key: string, condition: string, olderThan: number): Promise<number> {
    if (!Number.isFinite(olderThan)) return 0;
    const beforeMs = nowMs - olderThan;
    if (isDryRun) {
      const sql = `select count(*) as rows from ${table} where ${condition} and ${NOT_PINNED}`;
      return raw.prepare<{ rows: number }>(sql).get(beforeMs)?.rows ?? 0;
    }
    const step = raw.prepare(
      `delete from ${table} where (${key}) in (select ${key} from ${table} where ${condition} and ${NOT_PINNED} limit ${ROWS_A_STEP})`,
    );
    for (let removed = 0; ; await setImmediate()) {
      const { changes } = transaction(() => step.run(beforeMs));
      removed += changes;
      if (changes < ROWS_A_STEP) return removed;
    }
  }

  const pruned = {
    events: await prune("events", "id", "at_ms < ?", olderThanMs),
    projections: await prune("projections", "key", "at_ms < ?", olderThanMs),
    sums: await prune("rollups", "session, hour_ms, tool", "hour_ms < ?", sumsOlderThanMs),
    sessions: await prune(
      "sessions",
      "session",
      "last_seen_ms < ? and session not in (select session from artifact_sessions)",
      sumsOlderThanMs,
    ),
  };
  if (!isDryRun) await giveRoomBack();
  return pruned;

  async function giveRoomBack(): Promise<void> {
    const free = raw.prepare<{ freelist_count: number }>("pragma freelist_count");
    for (let pages = free.get()?.freelist_count ?? 0; pages > 0; pages -= PAGES_A_STEP) {
      raw.exec(`pragma incremental_vacuum(${PAGES_A_STEP})`);
      await setImmediate();
    }
  }
}
