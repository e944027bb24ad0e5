import { randomBytes } from "node:crypto";
import { rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Retention } from "../../contract/store.ts";
import { NUMBERS } from "../../stages/policy/defaults.ts";
import { pruneEvents } from "../ledgers/prune-events.ts";
import type { LocalStore } from "../stores/local.ts";
import type { Database } from "./open-database.ts";
import { PRIVATE_FILE } from "./store-folders.ts";

/** The time of this file says when retention was last applied to the folder. */
const STAMP_FILE = "collected";

/** A folder to which retention is applied. */
export interface CollectedPlace {
  dir: string;
  store: LocalStore;
  database: Database;
}

/**
 * Applies retention to a folder if no process did so within the last hour. Returns true if it did. Never throws,
 * because an output that stays too long does no harm. If the work is stopped early, it is due again.
 */
export async function collectWhenDue(
  { dir, store, database }: CollectedPlace,
  retention: Retention,
  signal: AbortSignal,
  nowMs = Date.now(),
): Promise<boolean> {
  const stamp = join(dir, STAMP_FILE);
  try {
    const lastMs = (await stat(stamp).catch(() => null))?.mtimeMs ?? -Infinity;
    // If the stamp's time is in the future, a clock was wrong: retention is due.
    if (lastMs <= nowMs && nowMs - lastMs < NUMBERS.collectEveryMs.default) return false;
    await writeStamp(stamp);
    await store.collect({ ...retention, signal });
    const { maxAgeMs: olderThanMs = NUMBERS.retainAgeMs.default, retainMs } = retention;
    await pruneEvents(database, { olderThanMs, signal, ...(retainMs !== undefined && { retainMs }) });
    if (signal.aborted) await rm(stamp, { force: true });
    return true;
  } catch {
    return false;
  }
}

/** Writes to another name and renames it, so that a planted link is never followed. */
async function writeStamp(stamp: string): Promise<void> {
  const temporary = `${stamp}.${randomBytes(8).toString("hex")}.tmp`;
  try {
    await writeFile(temporary, "", { flag: "wx", mode: PRIVATE_FILE });
    await rename(temporary, stamp);
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Applies retention in the background of a process that keeps running. */
export interface Collector {
  /** Says that an artifact was saved. After a delay, checks whether retention is due. */
  kept(): void;
  stop(): Promise<void>;
}

/** Starts to watch a folder. It does not keep the process alive, and it works in short steps. */
export function startCollector(place: CollectedPlace, retention: Retention): Collector {
  const stopping = new AbortController();
  let running: Promise<unknown> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  let lookedMs = -Infinity;
  return {
    kept() {
      if (timer !== undefined || stopping.signal.aborted) return;
      if (performance.now() - lookedMs < NUMBERS.collectEveryMs.default) return;
      timer = setTimeout(() => {
        timer = undefined;
        lookedMs = performance.now();
        running = collectWhenDue(place, retention, stopping.signal);
      }, NUMBERS.collectDelayMs.default);
      timer.unref();
    },
    async stop() {
      stopping.abort();
      clearTimeout(timer);
      await running;
    },
  };
}
