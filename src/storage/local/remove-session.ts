import { storedName } from "../stored-name.ts";
import type { ArtifactFiles } from "./artifact-files.ts";
import type { ArtifactRows } from "./artifact-rows.ts";
import type { Database } from "./open-database.ts";

/** What belonged to a session. */
export interface RemovedSession {
  /** Artifacts that belonged to no other session. */
  removed: number;
  removedBytes: number;
  /** Artifacts that other sessions have too: they stay, untied from this one. */
  untied: number;
}

const PAGE = 200;
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
