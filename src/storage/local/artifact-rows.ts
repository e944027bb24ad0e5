import type { Artifact } from "../../contract/store.ts";
import { storedName } from "../stored-name.ts";
import type { Database } from "./open-database.ts";
import type { ArtifactSessionTable, ArtifactTable } from "./schema.ts";

/** An artifact, and how one of its sessions saved it. */
export type ArtifactRow = ArtifactTable & ArtifactSessionTable;

/** The bytes of an artifact: in `data`, or in a file with its line index. */
export interface Bytes {
  data?: Uint8Array | null;
  index?: Uint8Array | null;
  /** Moves the file to where the row says. It may be called more than once. */
  place?: () => void;
}

/** A row before its time is set. */
export type NewRow = Omit<ArtifactRow, "created_ms" | "saved_ms">;

/**
 * If another artifact of the scope has the same time, the new one gets the next free millisecond within this span.
 * Lists page by time, so times must differ.
 */
const SPREAD_MS = 60_000;

/** The columns that say how an artifact was saved. They are written anew each time. */
const SAVING = ["saved_ms", "tool", "call", "command", "folder", "exit_code"] as const;

/** Gives access to the rows of artifacts. */
export type ArtifactRows = ReturnType<typeof openRows>;

/** Gives access to the rows of artifacts in a database. */
export function openRows({ kysely, all, change, transaction, write }: Database) {
  /** Artifacts with how each of their sessions saved them. */
  const savings = () =>
    kysely.selectFrom("artifacts").innerJoin("artifact_sessions", "artifact_sessions.key", "artifacts.key").selectAll();

  const find = (id: string, scope: string): ArtifactRow | null =>
    all(savings().where("scope", "=", scope).where("id", "=", id).orderBy("saved_ms", "desc").limit(1))[0] ?? null;

  const findByKey = (key: string): ArtifactTable | null =>
    all(kysely.selectFrom("artifacts").selectAll().where("key", "=", key))[0] ?? null;

  /** Deletes the row with its bytes and its sessions. Returns false if the row was gone already. */
  const drop = (key: string): boolean => {
    if (change(kysely.deleteFrom("artifacts").where("key", "=", key)) === 0) return false;
    change(kysely.deleteFrom("artifact_sessions").where("key", "=", key));
    for (const table of ["small", "line_indexes"] as const) change(kysely.deleteFrom(table).where("key", "=", key));
    return true;
  };

  /** Returns the first free time from `nowMs` on. */
  function freeMs(scope: string, nowMs: number): number {
    const [latest] = all(
      kysely
        .selectFrom("artifacts")
        .select(({ fn }) => fn.max("created_ms").as("at"))
        .where("scope", "=", scope)
        .where("created_ms", ">=", nowMs)
        .where("created_ms", "<", nowMs + SPREAD_MS),
    );
    const at: number | null = latest?.at ?? null;
    return at === null ? nowMs : at + 1;
  }

  function putArtifact(artifact: ArtifactTable): void {
    change(
      kysely
        .insertInto("artifacts")
        .values(artifact)
        .onConflict((conflict) =>
          conflict.column("key").doUpdateSet((row) => ({
            created_ms: row.ref("excluded.created_ms"),
            form: row.ref("excluded.form"),
            redaction_count: row.ref("excluded.redaction_count"),
            redaction_bytes: row.ref("excluded.redaction_bytes"),
            saved: row.case().when("artifacts.saved", "=", "yes").then("yes").else(row.ref("excluded.saved")).end(),
          })),
        ),
    );
  }

  function put(table: "small" | "line_indexes", key: string, data: Uint8Array | null): void {
    if (data === null) change(kysely.deleteFrom(table).where("key", "=", key));
    else
      change(
        kysely
          .insertInto(table)
          .values({ key, data })
          .onConflict((conflict) => conflict.column("key").doUpdateSet({ data })),
      );
  }

  const dataOf = (table: "small" | "line_indexes", key: string): Uint8Array | null =>
    all(kysely.selectFrom(table).select("data").where("key", "=", key))[0]?.data ?? null;

  function tie(tie: ArtifactSessionTable): void {
    change(
      kysely
        .insertInto("artifact_sessions")
        .values(tie)
        .onConflict((conflict) =>
          conflict
            .columns(["key", "session"])
            .doUpdateSet((row) => Object.fromEntries(SAVING.map((column) => [column, row.ref(`excluded.${column}`)]))),
        ),
    );
  }

  return {
    transaction,
    write,
    drop,
    find,
    findByKey,
    smallData: (key: string) => dataOf("small", key),
    indexData: (key: string) => dataOf("line_indexes", key),
    saveIndex: (key: string, data: Uint8Array) => write(() => put("line_indexes", key, data)),
    /** Returns when this database was made. A file that is older does not come from it. */
    madeMs: () => all(kysely.selectFrom("versions").select(({ fn }) => fn.min("applied_ms").as("at")))[0]?.at ?? 0,
    totalBytes: () =>
      Number(all(kysely.selectFrom("artifacts").select(({ fn }) => fn.sum("bytes").as("of")))[0]?.of ?? 0),

    /** Saves a row with its bytes or its file. Call it in a transaction. */
    save(row: NewRow, nowMs: number, { data = null, index = null, place }: Bytes): ArtifactRow {
      place?.();
      const { key, session, tool, call, command, folder, exit_code, ...artifact } = row;
      const savedMs = freeMs(row.scope, nowMs);
      putArtifact({ key, ...artifact, created_ms: savedMs });
      put("small", key, data);
      put("line_indexes", key, index);
      tie({ key, session, saved_ms: savedMs, tool, call, command, folder, exit_code });
      if (session !== "") change(seenSession(kysely, session, nowMs));
      return { ...row, created_ms: savedMs, saved_ms: savedMs };
    },

    remove: (id: string, scope: string): Promise<string | null> =>
      write(() => {
        const row = find(id, scope);
        return row !== null && drop(row.key) ? row.key : null;
      }),

    /** Returns one page of artifacts, newest first, each once for every session that saved it. */
    list(scope: string, session: string | undefined, beforeMs: number | undefined, max: number): ArtifactRow[] {
      let query = savings().where("scope", "=", scope).orderBy("saved_ms", "desc").limit(max);
      if (beforeMs !== undefined) query = query.where("saved_ms", "<", beforeMs);
      if (session !== undefined) query = query.where("session", "=", session);
      return all(query);
    },

    /** Returns ids that begin with a prefix. */
    idsFrom: (prefix: string, scope: string, max: number): string[] =>
      all(
        kysely
          .selectFrom("artifacts")
          .select("id")
          .where("scope", "=", scope)
          .where("id", ">=", prefix)
          .where("id", "<", `${prefix}{`)
          .orderBy("id")
          .limit(max),
      ).map(({ id }) => id),
  };
}

/**
 * Notes that a session was seen. Clocks jump, so the earliest time counts as first seen and the latest as last seen, in
 * whatever order they come.
 */
export function seenSession(kysely: Database["kysely"], session: string, atMs: number) {
  return kysely
    .insertInto("sessions")
    .values({ session, first_seen_ms: atMs, last_seen_ms: atMs, pinned: 0 })
    .onConflict((conflict) =>
      conflict.column("session").doUpdateSet((row) => ({
        first_seen_ms: row
          .case()
          .when("sessions.first_seen_ms", "<", row.ref("excluded.first_seen_ms"))
          .then(row.ref("sessions.first_seen_ms"))
          .else(row.ref("excluded.first_seen_ms"))
          .end(),
        last_seen_ms: row
          .case()
          .when("sessions.last_seen_ms", ">", row.ref("excluded.last_seen_ms"))
          .then(row.ref("sessions.last_seen_ms"))
          .else(row.ref("excluded.last_seen_ms"))
          .end(),
      })),
    );
}

/** Returns a row in the form that readers get. */
export function toArtifact(row: ArtifactRow): Artifact {
  return {
    id: row.id,
    scope: row.scope,
    session: storedName(row.session),
    tool: row.tool,
    call: row.call,
    command: row.command,
    folder: row.folder,
    exitCode: row.exit_code,
    bytes: row.bytes,
    lines: row.lines,
    sha256: row.sha256,
    saved: row.saved as Artifact["saved"],
    createdAtMs: row.saved_ms,
    redactions: { count: row.redaction_count, bytes: row.redaction_bytes },
  };
}
