import { readdir, stat, unlink } from "node:fs/promises";
import { join, relative } from "node:path";
import type { Retention } from "../../contract/store.ts";
import { NUMBERS } from "../../stages/policy/defaults.ts";
import { storedName } from "../stored-name.ts";
import type { ArtifactFiles } from "./artifact-files.ts";
import type { ArtifactRows } from "./artifact-rows.ts";
import type { Database } from "./open-database.ts";
import { retryBusy } from "./sqlite-connection.ts";
import { artifactFolder } from "./store-folders.ts";

/** What may stay. What is absent is the built-in number. */
export interface CollectOptions extends Retention {
  /** The time it is taken to be. */
  nowMs?: number;
  /** Stops early. */
  signal?: AbortSignal | undefined;
  /** Files without an owner go after this. */
  staleMs?: number;
  /** Says what would go, and removes nothing. */
  dryRun?: boolean;
}

/** Why an artifact went. */
export type CollectReason = "age" | "session-bytes" | "total-bytes";

/** What went, or would go. */
export interface CollectReport {
  dryRun: boolean;
  removed: number;
  removedBytes: number;
  /** The first of them. */
  artifacts: { id: string; bytes: number; createdAtMs: number; reason: CollectReason }[];
  /** Files that belonged to nothing, by their paths inside the store's folder. */
  files: string[];
  remaining: number;
  remainingBytes: number;
}

interface Candidate {
  key: string;
  id: string;
  bytes: number;
  created_ms: number;
}

const PAGE = 200;
const LISTED = 1000;

// An artifact in use: kept just now, or of a session that is pinned or was seen just now.
const IN_USE = `(a.created_ms > ? or exists (select 1 from artifact_sessions t join sessions s on s.session = t.session
  where t.key = a.key and (s.pinned <> 0 or s.last_seen_ms > ?)))`;
const COLUMNS = "a.key, a.id, a.bytes, a.created_ms";
const PAGED = "and (a.created_ms > ? or (a.created_ms = ? and a.key > ?)) order by a.created_ms, a.key limit ?";
const OLDEST = `select ${COLUMNS} from artifacts a where not ${IN_USE} ${PAGED}`;
const OLDEST_OF_SESSION = `select ${COLUMNS} from artifacts a join artifact_sessions o on o.key = a.key
  where o.session = ? and not ${IN_USE} ${PAGED}`;
const LARGE_SESSIONS = `select o.session, sum(a.bytes) as bytes from artifact_sessions o join artifacts a on a.key = o.key
  where o.session <> '' group by o.session having sum(a.bytes) > ?`;

/** Removes what is too old or too much, oldest first, and never what is in use. */
export async function collect(
  database: Database,
  rows: ArtifactRows,
  files: ArtifactFiles,
  options: CollectOptions = {},
): Promise<CollectReport> {
  const {
    nowMs = Date.now(),
    maxAgeMs = NUMBERS.retainAgeMs.default,
    maxBytes = NUMBERS.retainTotalBytes.default,
    maxSessionBytes = NUMBERS.retainSessionBytes.default,
    retainMs = NUMBERS.retainSeenMs.default,
    staleMs = NUMBERS.staleSpoolMs.default,
    dryRun = false,
    signal,
  } = options;
  const { raw } = database;
  const heldMs = nowMs - retainMs;
  const gone = new Set<string>();
  const report: CollectReport = {
    dryRun,
    removed: 0,
    removedBytes: 0,
    artifacts: [],
    files: [],
    remaining: 0,
    remainingBytes: 0,
  };
  const isInUse = raw.prepare(`select 1 from artifacts a where a.key = ? and ${IN_USE}`);

  async function remove(page: Candidate[], reason: CollectReason): Promise<void> {
    const removed = await rows.write(() =>
      // Looked at again under the lock: it may have been kept again since.
      page.filter(({ key }) => isInUse.get(key, heldMs, heldMs) === undefined && (dryRun || rows.drop(key))),
    );
    for (const { key, id, bytes, created_ms: createdAtMs } of removed) {
      gone.add(key);
      report.removed += 1;
      report.removedBytes += bytes;
      if (report.artifacts.length < LISTED) report.artifacts.push({ id, bytes, createdAtMs, reason });
      if (!dryRun) await files.tidy(key);
    }
  }

  /** Oldest first; `wants` is asked about each and may end it. */
  async function pass(sql: string, first: string[], reason: CollectReason, wants: (row: Candidate) => boolean) {
    const statement = raw.prepare<Candidate>(sql);
    let at: Pick<Candidate, "created_ms" | "key"> = { created_ms: -1e15, key: "" };
    for (let isDone = false; !isDone; ) {
      if (signal?.aborted) return;
      const page = statement.all(...first, heldMs, heldMs, at.created_ms, at.created_ms, at.key, PAGE);
      const chosen: Candidate[] = [];
      for (const row of page) {
        if (gone.has(row.key)) continue;
        if (!wants(row)) {
          isDone = true;
          break;
        }
        chosen.push(row);
      }
      if (chosen.length > 0) await remove(chosen, reason);
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE) return;
      at = last;
      // Others want the database, and this thread, too.
      await new Promise(setImmediate);
    }
  }

  await pass(OLDEST, [], "age", (row) => row.created_ms < nowMs - maxAgeMs);
  for (const { session, bytes } of raw
    .prepare<{ session: string; bytes: number }>(LARGE_SESSIONS)
    .all(maxSessionBytes)) {
    let over = bytes - maxSessionBytes;
    for (const key of gone) if (dryRun && isOf(key, session)) over -= rows.findByKey(key)?.bytes ?? 0;
    await pass(OLDEST_OF_SESSION, [session], "session-bytes", (row) => {
      const isOver = over > 0;
      if (isOver) over -= row.bytes;
      return isOver;
    });
  }
  let totalOver = rows.totalBytes() - (dryRun ? report.removedBytes : 0) - maxBytes;
  await pass(OLDEST, [], "total-bytes", (row) => {
    const isOver = totalOver > 0;
    if (isOver) totalOver -= row.bytes;
    return isOver;
  });
  if (!signal?.aborted) report.files = await sweepFiles(rows, files, { nowMs, staleMs, maxAgeMs, dryRun });
  // Gives the room back to the disk, not only to the next rows.
  if (!dryRun && report.removed > 0) await retryBusy(() => raw.exec("pragma incremental_vacuum"));
  const left = raw
    .prepare<{ count: number; bytes: number | null }>("select count(*) as count, sum(bytes) as bytes from artifacts")
    .get();
  report.remaining = (left?.count ?? 0) - (dryRun ? report.removed : 0);
  report.remainingBytes = (left?.bytes ?? 0) - (dryRun ? report.removedBytes : 0);
  return report;

  function isOf(key: string, session: string): boolean {
    return raw.prepare("select 1 from artifact_sessions where key = ? and session = ?").get(key, session) !== undefined;
  }
}

const OURS = /^([0-9a-f]{64})(\.blocks|\.idx)?$/;
const FOLDER = /^[0-9a-f]{2}$/;
const FORM_OF: Record<string, string> = { "": "plain", ".blocks": "blocks" };

/** Removes files that no row names and parts that nobody writes any more; gives their paths inside the store's folder. */
async function sweepFiles(
  rows: ArtifactRows,
  files: ArtifactFiles,
  { nowMs, staleMs, maxAgeMs, dryRun }: { nowMs: number; staleMs: number; maxAgeMs: number; dryRun: boolean },
): Promise<string[]> {
  const { dir, spool } = files.folders;
  const swept: string[] = [];
  const madeMs = rows.madeMs();
  // A fresh file may belong to a row that another process is about to commit.
  const isStale = async (path: string): Promise<boolean> => {
    const found = await stat(path).catch(() => null);
    if (found === null || Math.max(found.mtimeMs, found.ctimeMs) >= nowMs - staleMs) return false;
    // Older than the database: its row went with an earlier one, and whoever has its id may still read it.
    return found.mtimeMs >= madeMs || found.mtimeMs < nowMs - maxAgeMs;
  };
  for (const name of await readdir(spool)) {
    const path = join(spool, name);
    if (!name.endsWith(".part") || !(await isPartStale(path, nowMs - staleMs))) continue;
    if (!dryRun) await unlink(path).catch(() => {});
    swept.push(relative(dir, path));
  }
  for (const { path, key } of await findOrphans(rows, files)) {
    if (key === null || !(await isStale(path))) continue;
    if (!dryRun) await files.tidy(key);
    swept.push(relative(dir, path));
  }
  return swept;
}

/** A writer touches its part from time to time, whatever else it waits for. */
async function isPartStale(path: string, beforeMs: number): Promise<boolean> {
  const found = await stat(path).catch(() => null);
  return found !== null && found.mtimeMs < beforeMs;
}

/** Files under artifacts/ that no row names. A null key: not a file of ours at all. */
export async function findOrphans(
  rows: ArtifactRows,
  files: ArtifactFiles,
): Promise<{ path: string; key: string | null }[]> {
  const orphans: { path: string; key: string | null }[] = [];
  const { artifacts } = files.folders;
  for (const folder of await readdir(artifacts, { withFileTypes: true })) {
    const path = join(artifacts, folder.name);
    if (!folder.isDirectory() || !FOLDER.test(folder.name)) {
      orphans.push({ path, key: null });
      continue;
    }
    for (const entry of await readdir(artifactFolder(files.folders, folder.name), { withFileTypes: true })) {
      const [, key = null, ending = ""] = OURS.exec(entry.name) ?? [];
      const form = key === null || !key.startsWith(folder.name) ? null : (rows.findByKey(key)?.form ?? null);
      const isNamed = form !== null && (ending === ".idx" ? form !== "row" : FORM_OF[ending] === form);
      if (!isNamed || !entry.isFile()) {
        orphans.push({ path: join(path, entry.name), key: entry.isFile() || form === null ? key : null });
      }
    }
  }
  return orphans;
}

/** What belonged to a session. */
export interface RemovedSession {
  /** Artifacts that belonged to no other session. */
  removed: number;
  removedBytes: number;
  /** Artifacts that other sessions have too: they stay, untied from this one. */
  untied: number;
}

// What belongs to no session is tied to an empty name.
const OF_SESSION = `select a.key, a.bytes from artifacts a where a.session is ?1
    or a.key in (select t.key from artifact_sessions t where t.session = ?2) limit ?3`;

/** Deletes what belongs only to a session, or for null to none, in every scope, and unties the rest. */
export async function removeSession(
  database: Database,
  rows: ArtifactRows,
  files: ArtifactFiles,
  session: string | null,
): Promise<RemovedSession> {
  const name = storedName(session);
  const report: RemovedSession = { removed: 0, removedBytes: 0, untied: 0 };
  if (session === "") return report;
  const tied = name ?? "";
  const { raw } = database;
  const find = raw.prepare<{ key: string; bytes: number }>(OF_SESSION);
  const untie = raw.prepare("delete from artifact_sessions where key = ? and session = ?");
  const other = raw.prepare<{ session: string }>("select session from artifact_sessions where key = ? limit 1");
  const rename = raw.prepare("update artifacts set session = ? where key = ? and session is ?");
  for (;;) {
    const dropped = await rows.write(() =>
      find.all(name, tied, PAGE).map(({ key, bytes }) => {
        untie.run(key, tied);
        const left = other.get(key);
        if (left === undefined) return rows.drop(key) ? { key, bytes } : null;
        rename.run(storedName(left.session), key, name);
        return { key, bytes: null };
      }),
    );
    for (const each of dropped) {
      if (each === null) continue;
      if (each.bytes === null) {
        report.untied += 1;
        continue;
      }
      await files.tidy(each.key);
      report.removed += 1;
      report.removedBytes += each.bytes;
    }
    if (dropped.length < PAGE) return report;
  }
}
