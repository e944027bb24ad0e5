import type { Artifact } from "../../contract/store.ts";
import type { Database } from "./open-database.ts";
import type { ArtifactTable } from "./schema.ts";

/** A row before its time is set. */
export type NewRow = Omit<ArtifactTable, "created_ms">;

/**
 * If another artifact of the scope has the same time, the new one gets the next free millisecond within this span.
 * Lists page by time, so times must differ.
 */
const SPREAD_MS = 60_000;
const NO_SESSION = "";

/** Gives access to the rows of artifacts. */
export type ArtifactRows = ReturnType<typeof openRows>;

/** Prepares the statements that the store runs on its database. */
export function openRows(database: Database) {
  const { raw, transaction, write } = database;
  const byId = raw.prepare<ArtifactTable>("select * from artifacts where scope = ? and id = ?");
  const byKey = raw.prepare<ArtifactTable>("select * from artifacts where key = ?");
  const small = raw.prepare<{ data: Uint8Array }>("select data from small where key = ?");
  const latest = raw.prepare<{ at: number | null }>(
    "select max(created_ms) as at from artifacts where scope = ? and created_ms >= ? and created_ms < ?",
  );
  const insert = raw.prepare(
    `insert into artifacts (key, id, scope, session, tool, call, bytes, lines, sha256, saved, created_ms,
       redaction_count, redaction_bytes, form) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     on conflict (key) do update set session = excluded.session, tool = excluded.tool, call = excluded.call,
       created_ms = excluded.created_ms, form = excluded.form, redaction_count = excluded.redaction_count,
       redaction_bytes = excluded.redaction_bytes,
       saved = case when artifacts.saved = 'yes' then 'yes' else excluded.saved end`,
  );
  const putSmall = raw.prepare(
    "insert into small (key, data) values (?, ?) on conflict (key) do update set data = excluded.data",
  );
  const dropSmall = raw.prepare("delete from small where key = ?");
  const tie = raw.prepare("insert into artifact_sessions (key, session) values (?, ?) on conflict do nothing");
  const seen = raw.prepare(
    `insert into sessions (session, first_seen_ms, last_seen_ms, pinned) values (?, ?, ?, 0)
     on conflict (session) do update set last_seen_ms = max(sessions.last_seen_ms, excluded.last_seen_ms)`,
  );
  const dropRow = raw.prepare("delete from artifacts where key = ?");
  const dropTies = raw.prepare("delete from artifact_sessions where key = ?");
  const setForm = raw.prepare("update artifacts set form = ? where key = ? and form = ?");
  const made = raw.prepare<{ at: number | null }>("select min(applied_ms) as at from versions");
  const sum = raw.prepare<{ total: number | null }>("select sum(bytes) as total from artifacts");

  /** Deletes the row with its bytes and its sessions. Returns false if the row was gone already. */
  const drop = (key: string): boolean => {
    if (dropRow.run(key).changes === 0) return false;
    dropTies.run(key);
    dropSmall.run(key);
    return true;
  };

  return {
    transaction,
    write,
    drop,
    find: (id: string, scope: string) => byId.get(scope, id) ?? null,
    findByKey: (key: string) => byKey.get(key) ?? null,
    smallData: (key: string) => small.get(key)?.data ?? null,
    /** Returns when this database was made. A file that is older does not come from it. */
    madeMs: () => made.get()?.at ?? 0,
    totalBytes: () => sum.get()?.total ?? 0,
    /** Call it in a transaction. Returns true if the row had the form `from` and now has the form `to`. */
    changeForm: (key: string, from: ArtifactTable["form"], to: ArtifactTable["form"]) =>
      setForm.run(to, key, from).changes > 0,

    /**
     * Saves a row with its bytes or its file. Call it in a transaction. `place` moves the file to where the row says;
     * it may be called more than once.
     */
    save(row: NewRow, nowMs: number, data: Uint8Array | null, place: () => void): ArtifactTable {
      place();
      const last = latest.get(row.scope, nowMs, nowMs + SPREAD_MS)?.at ?? null;
      const createdMs = last === null ? nowMs : last + 1;
      const { redaction_count: count, redaction_bytes: bytes } = row;
      const about = [row.session, row.tool, row.call, row.bytes, row.lines, row.sha256, row.saved] as const;
      insert.run(row.key, row.id, row.scope, ...about, createdMs, count, bytes, row.form);
      if (data === null) dropSmall.run(row.key);
      else putSmall.run(row.key, data);
      tie.run(row.key, row.session ?? NO_SESSION);
      if (row.session !== null) seen.run(row.session, nowMs, nowMs);
      return byKey.get(row.key) ?? { ...row, created_ms: createdMs };
    },

    remove: (id: string, scope: string): Promise<string | null> =>
      write(() => {
        const row = byId.get(scope, id);
        return row !== undefined && drop(row.key) ? row.key : null;
      }),
  };
}

/** Returns a row in the form that readers get. */
export function toArtifact(row: ArtifactTable): Artifact {
  return {
    id: row.id,
    scope: row.scope,
    session: row.session,
    tool: row.tool,
    call: row.call,
    bytes: row.bytes,
    lines: row.lines,
    sha256: row.sha256,
    saved: row.saved as Artifact["saved"],
    createdAtMs: row.created_ms,
    redactions: { count: row.redaction_count, bytes: row.redaction_bytes },
  };
}
