import { readdir, stat, unlink } from "node:fs/promises";
import { join, relative } from "node:path";
import type { Retention } from "../../contract/store.ts";
import { NUMBERS } from "../../stages/policy/defaults.ts";
import { all, change, type Sql, type Steps } from "../sql.ts";
import { storedName } from "../stored-name.ts";
import type { ArtifactFiles } from "./artifact-files.ts";
import type { ArtifactRows } from "./artifact-rows.ts";
import type { Database } from "./open-database.ts";
import type { ArtifactTable, SessionTable } from "./schema.ts";
import { artifactFolder } from "./store-folders.ts";

/** Sets what may stay. What is absent is the built-in number. */
export interface CollectOptions extends Retention {
  /** The time to count from, instead of the clock. */
  nowMs?: number;
  /** Ends the work early. */
  signal?: AbortSignal | undefined;
  /** Files that no row names are removed when they are older than this. */
  staleMs?: number;
  /** Reports what would be removed, and removes nothing. */
  dryRun?: boolean;
}

/** Says why an artifact was removed. */
export type CollectReason = "age" | "session-bytes" | "total-bytes";

/** Reports what was removed, or would be. */
export interface CollectReport {
  dryRun: boolean;
  removed: number;
  removedBytes: number;
  /** The first 1000 of them. */
  artifacts: { id: string; bytes: number; createdAtMs: number; reason: CollectReason }[];
  /** Files that no row named, as paths inside the store's folder. */
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

/** The bytes of artifacts that have no row any more. */
export interface CollectedFiles {
  /** Removes the bytes of artifacts whose rows were dropped. */
  remove(rows: readonly ArtifactTable[]): Promise<void>;
  /** Removes what no row names. Returns the names. */
  sweep(how: Sweep): Promise<string[]>;
}

/** From when on something without an owner may be removed. */
export interface Sweep {
  nowMs: number;
  staleMs: number;
  maxAgeMs: number;
  dryRun: boolean;
}

const PAGE = 200;
const LISTED = 1000;

/** A session of a scope. Another scope may have one of the same name. */
type OfSession = Pick<SessionTable, "scope" | "session">;

/** The queries of retention. An artifact that was saved, or has a session that was seen, after `heldMs` is in use. */
function queriesOf(kysely: Sql["kysely"], heldMs: number) {
  const unused = kysely
    .selectFrom("artifacts")
    .select(["artifacts.key", "id", "bytes", "created_ms"])
    .where("created_ms", "<=", heldMs)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("artifact_sessions")
            .innerJoin("sessions", "sessions.session", "artifact_sessions.session")
            .whereRef("sessions.scope", "=", "artifacts.scope")
            .select("sessions.session")
            .whereRef("artifact_sessions.key", "=", "artifacts.key")
            .where((row) => row.or([row("pinned", "<>", 0), row("last_seen_ms", ">", heldMs)])),
        ),
      ),
    );
  const tied = ({ scope, session }: OfSession) =>
    kysely
      .selectFrom("artifact_sessions")
      .innerJoin("artifacts", "artifacts.key", "artifact_sessions.key")
      .select("artifacts.key")
      .where("scope", "=", scope)
      .where("session", "=", session);
  return {
    unused: (key: string) => unused.where("artifacts.key", "=", key),
    /** The next page after an artifact, oldest first; of one session, if that is said. */
    oldest(after: Pick<Candidate, "created_ms" | "key">, session: OfSession | null) {
      const page = unused
        // Says where in the index to begin; the next condition alone does not.
        .where("created_ms", ">=", after.created_ms)
        .where(({ or, and, eb }) =>
          or([
            eb("created_ms", ">", after.created_ms),
            and([eb("created_ms", "=", after.created_ms), eb("artifacts.key", ">", after.key)]),
          ]),
        )
        .orderBy("created_ms")
        .orderBy("artifacts.key")
        .limit(PAGE);
      return session === null ? page : page.where("artifacts.key", "in", tied(session));
    },
    largeSessions: (maxBytes: number) =>
      kysely
        .selectFrom("artifact_sessions")
        .innerJoin("artifacts", "artifacts.key", "artifact_sessions.key")
        .select(({ fn }) => ["scope", "session", fn.sum("bytes").as("bytes")])
        .where("session", "<>", "")
        .groupBy(["scope", "session"])
        .having(({ fn }) => fn.sum("bytes"), ">", maxBytes),
    tied,
    left: kysely.selectFrom("artifacts").select(({ fn }) => [fn.countAll().as("count"), fn.sum("bytes").as("bytes")]),
  };
}

/** Removes artifacts that are too old or too many, oldest first. Never removes one that is in use. */
export async function collect(
  database: Sql,
  rows: ArtifactRows,
  files: CollectedFiles,
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
  const queries = queriesOf(database.kysely, nowMs - retainMs);
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
  async function remove(page: Candidate[], reason: CollectReason): Promise<void> {
    const removed = await database.commit(function* () {
      const dropped: ArtifactTable[] = [];
      yield* rows.takeTurn("artifacts");
      for (const { key } of page) {
        // Checks again under the lock, because the artifact may have been saved again meanwhile.
        if ((yield* all(queries.unused(key))).length === 0) continue;
        const row = yield* dryRun ? rows.findByKey(key) : rows.drop(key);
        if (row !== null) dropped.push(row);
      }
      return dropped;
    });
    for (const row of removed) {
      const { key, id, bytes, created_ms: createdAtMs } = row;
      gone.add(key);
      report.removed += 1;
      report.removedBytes += bytes;
      if (report.artifacts.length < LISTED) report.artifacts.push({ id, bytes, createdAtMs, reason });
    }
    if (!dryRun) await files.remove(removed);
  }

  /** Goes through artifacts, oldest first. Ends at the first one for which `wants` returns false. */
  async function pass(session: OfSession | null, reason: CollectReason, wants: (row: Candidate) => boolean) {
    let at: Pick<Candidate, "created_ms" | "key"> = { created_ms: -1e15, key: "" };
    for (let isDone = false; !isDone; ) {
      if (signal?.aborted) return;
      const page: Candidate[] = await database.read(() => all(queries.oldest(at, session)));
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
      // Lets other work use the database and this thread.
      await new Promise(setImmediate);
    }
  }

  await pass(null, "age", (row) => row.created_ms < nowMs - maxAgeMs);
  for (const { bytes, ...session } of await database.read(() => all(queries.largeSessions(maxSessionBytes)))) {
    let over = Number(bytes) - maxSessionBytes;
    for (const key of dryRun ? gone : []) over -= await database.read(() => bytesIn(key, session));
    await pass(session, "session-bytes", (row) => {
      const isOver = over > 0;
      if (isOver) over -= row.bytes;
      return isOver;
    });
  }
  let totalOver = (await database.read(rows.totalBytes)) - (dryRun ? report.removedBytes : 0) - maxBytes;
  await pass(null, "total-bytes", (row) => {
    const isOver = totalOver > 0;
    if (isOver) totalOver -= row.bytes;
    return isOver;
  });
  if (!signal?.aborted) report.files = await files.sweep({ nowMs, staleMs, maxAgeMs, dryRun });
  // Returns the room to the disk. Without this only new rows could use it.
  if (!dryRun && report.removed > 0) await database.giveRoomBack(signal);
  const [left] = await database.read(() => all(queries.left));
  report.remaining = Number(left?.count ?? 0) - (dryRun ? report.removed : 0);
  report.remainingBytes = Number(left?.bytes ?? 0) - (dryRun ? report.removedBytes : 0);
  return report;

  function* bytesIn(key: string, session: OfSession): Steps<number> {
    if ((yield* all(queries.tied(session).where("artifacts.key", "=", key))).length === 0) return 0;
    return (yield* rows.findByKey(key))?.bytes ?? 0;
  }
}

const OURS = /^([0-9a-f]{64})(\.blocks|\.idx)?$/;
const FOLDER = /^[0-9a-f]{2}$/;

/**
 * Removes files that no row names and parts that nobody writes any more. Returns their paths inside the store's folder.
 */
export async function sweepFiles(
  database: Database,
  rows: ArtifactRows,
  files: ArtifactFiles,
  { nowMs, staleMs, maxAgeMs, dryRun }: Sweep,
): Promise<string[]> {
  const { dir, spool } = files.folders;
  const swept: string[] = [];
  const madeMs = database.now(rows.madeMs());
  // A new file may belong to a row that another process is about to commit.
  const isStale = async (path: string): Promise<boolean> => {
    const found = await stat(path).catch(() => null);
    if (found === null || Math.max(found.mtimeMs, found.ctimeMs) >= nowMs - staleMs) return false;
    // If the file is older than the database, its row was lost with an earlier database. A caller that has its id may
    // still read it, so it stays until `maxAgeMs`.
    return found.mtimeMs >= madeMs || found.mtimeMs < nowMs - maxAgeMs;
  };
  for (const name of await readdir(spool)) {
    const path = join(spool, name);
    // A writer sets its part's time now and then, even while it waits.
    const found = name.endsWith(".part") ? await stat(path).catch(() => null) : null;
    if (found === null || found.mtimeMs >= nowMs - staleMs) continue;
    if (!dryRun) await unlink(path).catch(() => {});
    swept.push(relative(dir, path));
  }
  for (const { path, key } of await findOrphans(database, rows, files)) {
    if (key === null || !(await isStale(path))) continue;
    if (!dryRun) await files.tidy(key);
    swept.push(relative(dir, path));
  }
  return swept;
}

/** Finds files under artifacts/ that no row names. The key is null if the file is not one of ours. */
export async function findOrphans(
  database: Database,
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
      const form =
        key === null || !key.startsWith(folder.name) ? null : (database.now(rows.findByKey(key))?.form ?? null);
      const isNamed = form === "plain" && ending === "";
      if (!isNamed || !entry.isFile()) {
        orphans.push({ path: join(path, entry.name), key: entry.isFile() || form === null ? key : null });
      }
    }
  }
  return orphans;
}

/** Reports what was removed with a session. */
export interface RemovedSession {
  /** Artifacts that belonged to no other session. They were deleted. */
  removed: number;
  removedBytes: number;
  /** Artifacts that other sessions have too. They stay, and no longer belong to this one. */
  untied: number;
}

/**
 * Deletes the artifacts that belong only to this session of a scope, and unties the others from it. Null stands
 * for artifacts without a session.
 */
export async function removeSession(
  { kysely, commit }: Sql,
  rows: ArtifactRows,
  files: Pick<CollectedFiles, "remove">,
  of: { session: string | null; scope: string },
): Promise<RemovedSession> {
  const report: RemovedSession = { removed: 0, removedBytes: 0, untied: 0 };
  if (of.session === "") return report;
  const session = storedName(of.session) ?? "";
  const ties = queriesOf(kysely, 0)
    .tied({ session, scope: storedName(of.scope) ?? "" })
    .limit(PAGE);
  for (;;) {
    const untied = await commit(function* () {
      const dropped: (ArtifactTable | null)[] = [];
      yield* rows.takeTurn("artifacts");
      for (const { key } of yield* all(ties)) {
        yield* change(kysely.deleteFrom("artifact_sessions").where("key", "=", key).where("session", "=", session));
        const others = yield* all(kysely.selectFrom("artifact_sessions").select("key").where("key", "=", key).limit(1));
        dropped.push(others.length > 0 ? null : yield* rows.drop(key));
      }
      return dropped;
    });
    const removed = untied.filter((row) => row !== null);
    await files.remove(removed);
    report.removed += removed.length;
    report.removedBytes += removed.reduce((bytes, row) => bytes + row.bytes, 0);
    report.untied += untied.length - removed.length;
    if (untied.length < PAGE) return report;
  }
}
