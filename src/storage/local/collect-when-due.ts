import { randomBytes } from "node:crypto";
import { rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Retention } from "../../contract/store.ts";
import { NUMBERS } from "../../stages/policy/defaults.ts";
import { pruneEvents } from "../ledgers/prune-events.ts";
import type { Sql } from "../sql.ts";
import type { KeptStore } from "../stores/local.ts";
import { PRIVATE_FILE } from "./store-folders.ts";

/** The time of this file says when retention was last applied to the folder. */
const STAMP_FILE = "collected";

/** A folder to which retention is applied. */
export interface CollectedPlace {
  dir: string;
  store: Pick<KeptStore, "collect">;
  database: Sql;
  /** Calls `act` if it is due and nobody else is at it. If `act` returns false, it is due again. */
  inTurn?: InTurn;
}

/** Calls `act` if it is time for it. Returns whether it was. */
export type InTurn = (nowMs: number, act: () => Promise<boolean>) => Promise<boolean>;

/**
 * Applies retention to a folder if no process did so within the last hour. Returns true if it did. Never throws,
 * because an output that stays too long does no harm. If the work is stopped early, it is due again.
 */
export async function collectWhenDue(
  { dir, store, database, inTurn = folderTurn(dir) }: CollectedPlace,
  retention: Retention,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    return await inTurn(Date.now(), async () => {
      await store.collect({ ...retention, signal });
      const { maxAgeMs: olderThanMs = NUMBERS.retainAgeMs.default, retainMs } = retention;
      await pruneEvents(database, { olderThanMs, signal, ...(retainMs !== undefined && { retainMs }) });
      return !signal.aborted;
    });
  } catch {
    return false;
  }
}

/** Returns true if it is time to apply retention again. If the last time is in the future, a clock was wrong. */
export function isCollectDue(lastMs: number, nowMs: number): boolean {
  return lastMs > nowMs || nowMs - lastMs >= NUMBERS.collectEveryMs.default;
}

/** Takes turns by the time of a file in the folder. */
export function folderTurn(dir: string): InTurn {
  const stamp = join(dir, STAMP_FILE);
  return async (nowMs, act) => {
    if (!isCollectDue((await stat(stamp).catch(() => null))?.mtimeMs ?? -Infinity, nowMs)) return false;
    await writeStamp(stamp);
    if (!(await act())) await rm(stamp, { force: true });
    return true;
  };
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

/**
 * Applies retention to a store: in the background, once an hour, if it `collects`, and when it is asked to, for at most half a
 * second. "off" keeps everything.
 */
export function retained<Kept extends KeptStore>(
  place: CollectedPlace & { store: Kept },
  retention: Retention | "off",
  collects: boolean,
): { store: Kept; collect(): Promise<boolean>; stop(): Promise<void> } {
  const { store } = place;
  if (retention === "off") return { store, collect: async () => false, stop: async () => {} };
  const collector = collects ? startCollector(place, retention) : null;
  return {
    store: collector === null ? store : { ...store, begin: (about) => (collector.kept(), store.begin(about)) },
    collect: () => collectWhenDue(place, retention, AbortSignal.timeout(NUMBERS.collectQuickMs.default)),
    stop: async () => collector?.stop(),
  };
}

/** Applies retention in the background of a process that keeps running, in short steps. It does not keep the process alive. */
function startCollector(place: CollectedPlace, retention: Retention) {
  const stopping = new AbortController();
  let running: Promise<unknown> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  let lookedMs = -Infinity;
  return {
    /** Says that an artifact was saved. After a delay, checks whether retention is due. */
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
