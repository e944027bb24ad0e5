import { randomBytes } from "node:crypto";
import { rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Retention } from "../../contract/store.ts";
import { NUMBERS } from "../../stages/policy/defaults.ts";
import { pruneEvents } from "../ledgers/prune-events.ts";
import type { LocalStore } from "../stores/local.ts";
import type { Database } from "./open-database.ts";
import { PRIVATE_FILE } from "./store-folders.ts";

/** When retention was last applied to the folder: the file's time. */
const STAMP_FILE = "collected";

/** A folder to which retention is applied. */
export interface CollectedPlace {
  dir: string;
  store: LocalStore;
  database: Database;
}

/**
 * Applies retention to a folder if nobody did so within the hour, whatever process that was. Never throws: what stays
 * too long does no harm. What was stopped early is due again.
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
    // A time in the future is of a clock that was wrong.
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

/** By a rename: nothing is written through a link that somebody put there. */
async function writeStamp(stamp: string): Promise<void> {
  const temporary = `${stamp}.${randomBytes(8).toString("hex")}.tmp`;
  try {
    await writeFile(temporary, "", { flag: "wx", mode: PRIVATE_FILE });
    await rename(temporary, stamp);
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Applies it in the background of a process that stays. */
export interface Collector {
  /** Something was kept: looks, after a while, whether it is time. */
  kept(): void;
  stop(): Promise<void>;
}

/** Starts watching a folder. Holds up neither the process's end nor, for long, its work. */
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
