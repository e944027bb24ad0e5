import { setImmediate } from "node:timers/promises";
import { NUMBERS } from "../../stages/policy/defaults.ts";
import type { Database } from "../local/open-database.ts";
import { retryBusy } from "../local/sqlite-connection.ts";

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
const PAGES_A_STEP = 2000;
const NOT_IN_USE =
  "(session is null or session not in (select session from sessions where pinned <> 0 or last_seen_ms > ?))";

/**
 * Deletes old events and returns their room to the disk. It spares the events of sessions that are pinned or in use.
 * Sums stay.
 */
export async function pruneEvents({ raw, write }: Database, options: PruneEventsOptions): Promise<PrunedEvents> {
  const { olderThanMs, sumsOlderThanMs = Infinity, nowMs = Date.now(), isDryRun = false, signal } = options;
  const heldMs = nowMs - (options.retainMs ?? NUMBERS.retainSeenMs.default);
  async function prune(table: string, key: string, condition: string, olderThan: number): Promise<number> {
    if (!Number.isFinite(olderThan)) return 0;
    const beforeMs = nowMs - olderThan;
    if (isDryRun) {
      const sql = `select count(*) as rows from ${table} where ${condition} and ${NOT_IN_USE}`;
      return raw.prepare<{ rows: number }>(sql).get(beforeMs, heldMs)?.rows ?? 0;
    }
    const step = raw.prepare(
      `delete from ${table} where (${key}) in (select ${key} from ${table} where ${condition} and ${NOT_IN_USE} limit ${ROWS_A_STEP})`,
    );
    for (let removed = 0; ; await setImmediate()) {
      if (signal?.aborted) return removed;
      const { changes } = await write(() => step.run(beforeMs, heldMs));
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
      if (signal?.aborted) return;
      await retryBusy(() => raw.exec(`pragma incremental_vacuum(${PAGES_A_STEP})`));
      await setImmediate();
    }
  }
}
