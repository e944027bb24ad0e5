import { createHash } from "node:crypto";
import type { Artifact } from "../../contract/store.ts";
import { all, change, type Sql, type Steps } from "../sql.ts";
import type { ArtifactSessionTable, ArtifactTable, SessionTable } from "./schema.ts";

/** An artifact, and how one of its sessions saved it. */
export type ArtifactRow = ArtifactTable & ArtifactSessionTable;

/** The bytes of an artifact: in `data`, or in a file with its line index. */
export interface Bytes {
  data?: Uint8Array | null;
  index?: Uint8Array | null;
  /** Moves the file to where the row says. It may be called more than once. */
  place?: () => void;
  /** Says that it was saved earlier, elsewhere: it keeps its time unless another artifact has just that one. */
  isCopy?: boolean;
}

/** The setting that holds the secret of all machines. */
export const SECRET = "secret";
/** Begins the settings that hold other secrets with which ids of artifacts here were made. */
const OTHER_SECRET = "early secret ";

/** A row before its time is set. */
export type NewRow = Omit<ArtifactRow, "created_ms" | "saved_ms">;

/**
 * If another artifact of the scope has the same time, the new one gets the next free millisecond within this span.
 * Lists page by time, so times must differ.
 */
const SPREAD_MS = 60_000;

/** The columns that say how an artifact was saved. They are written anew each time, */
const SAVING = ["saved_ms", "tool", "call"] as const;
/** and these unless the same tool saves it again and does not say them. */
const MADE = ["command", "folder", "exit_code"] as const;

/** The steps by which rows of artifacts are read and changed. */
export type ArtifactRows = ReturnType<typeof artifactRows>;

/** Returns the steps by which rows of artifacts are read and changed. */
export function artifactRows({ kysely, takeTurn }: Sql) {
  const savings = () =>
    kysely.selectFrom("artifacts").innerJoin("artifact_sessions", "artifact_sessions.key", "artifacts.key").selectAll();

  /** Finds how an artifact was saved last; by one session, if that is said. */
  function* find(id: string, scope: string, session?: string): Steps<ArtifactRow | null> {
    const newest = savings().where("scope", "=", scope).where("id", "=", id).orderBy("saved_ms", "desc").limit(1);
    return (yield* all(session === undefined ? newest : newest.where("session", "=", session)))[0] ?? null;
  }

  function* findByKey(key: string): Steps<ArtifactTable | null> {
    return (yield* all(kysely.selectFrom("artifacts").selectAll().where("key", "=", key)))[0] ?? null;
  }

  /** Says that an object belongs to nobody any more, so that it is removed though this process ends before it is. */
  const disown = (place: string): Steps<number> =>
    change(
      kysely
        .insertInto("uploads")
        .values({ place, began_ms: 0 })
        .onConflict((conflict) => conflict.column("place").doUpdateSet({ began_ms: 0 })),
    );

  /** Deletes the row with its bytes and its sessions. Returns null if the row was gone already. */
  function* drop(key: string): Steps<ArtifactTable | null> {
    yield* takeTurn("artifacts");
    const row = yield* findByKey(key);
    if ((yield* change(kysely.deleteFrom("artifacts").where("key", "=", key))) === 0) return null;
    if (row?.form === "object" && row.place !== null) yield* disown(row.place);
    yield* change(kysely.deleteFrom("artifact_sessions").where("key", "=", key));
    for (const table of ["small", "line_indexes"] as const)
      yield* change(kysely.deleteFrom(table).where("key", "=", key));
    return row;
  }

  /** Returns the first free time from `nowMs` on, after all that are within a short while of it. */
  function* freeMs(scope: string, nowMs: number, isCopy: boolean): Steps<number> {
    const latestBefore = (untilMs: number) =>
      kysely
        .selectFrom("artifacts")
        .select(({ fn }) => fn.max("created_ms").as("at"))
        .where("scope", "=", scope)
        .where("created_ms", ">=", nowMs)
        .where("created_ms", "<", untilMs);
    if (isCopy && !(yield* all(latestBefore(nowMs + 1)))[0]?.at) return nowMs;
    const [latest] = yield* all(latestBefore(nowMs + SPREAD_MS));
    const at: number | null = latest?.at ?? null;
    return at === null ? nowMs : at + 1;
  }

  const putArtifact = (artifact: ArtifactTable) =>
    change(
      kysely
        .insertInto("artifacts")
        .values(artifact)
        .onConflict((conflict) =>
          conflict.column("key").doUpdateSet((row) => ({
            created_ms: row.ref("excluded.created_ms"),
            form: row.ref("excluded.form"),
            place: row.ref("excluded.place"),
            redaction_count: row.ref("excluded.redaction_count"),
            redaction_bytes: row.ref("excluded.redaction_bytes"),
            saved: row.case().when("artifacts.saved", "=", "yes").then("yes").else(row.ref("excluded.saved")).end(),
          })),
        ),
    );

  const put = (table: "small" | "line_indexes", key: string, data: Uint8Array | null) =>
    change(
      data === null
        ? kysely.deleteFrom(table).where("key", "=", key)
        : kysely
            .insertInto(table)
            .values({ key, data })
            .onConflict((conflict) => conflict.column("key").doUpdateSet({ data })),
    );

  function* dataOf(table: "small" | "line_indexes", key: string): Steps<Uint8Array | null> {
    return (yield* all(kysely.selectFrom(table).select("data").where("key", "=", key)))[0]?.data ?? null;
  }

  const tie = (tie: ArtifactSessionTable) =>
    change(
      kysely
        .insertInto("artifact_sessions")
        .values(tie)
        .onConflict((conflict) =>
          conflict.columns(["key", "session"]).doUpdateSet((row) =>
            Object.fromEntries([
              ...SAVING.map((column) => [column, row.ref(`excluded.${column}`)]),
              ...MADE.map((column) => [
                column,
                row
                  .case()
                  .when("artifact_sessions.tool", "=", row.ref("excluded.tool"))
                  .then(row.fn.coalesce(row.ref(`excluded.${column}`), row.ref(`artifact_sessions.${column}`)))
                  .else(row.ref(`excluded.${column}`))
                  .end(),
              ]),
            ]),
          ),
        ),
    );

  function* see({ scope, session }: Pick<ArtifactRow, "scope" | "session">, atMs: number): Steps<void> {
    if (session === "") return;
    yield* change(seenSessions(kysely, [{ scope, session, first_seen_ms: atMs, last_seen_ms: atMs, pinned: 0 }]));
  }

  return {
    takeTurn,
    drop,
    disown,
    find,
    findByKey,
    smallData: (key: string) => dataOf("small", key),
    indexData: (key: string) => dataOf("line_indexes", key),
    saveIndex: (key: string, data: Uint8Array) => put("line_indexes", key, data),
    /** Returns when this database was made. A file that is older does not come from it. */
    *madeMs(): Steps<number> {
      const versions = kysely.selectFrom("versions").select(({ fn }) => fn.min("applied_ms").as("at"));
      return (yield* all(versions))[0]?.at ?? 0;
    },
    *totalBytes(): Steps<number> {
      const [sum] = yield* all(kysely.selectFrom("artifacts").select(({ fn }) => fn.sum("bytes").as("of")));
      return Number(sum?.of ?? 0);
    },

    /** Saves a row with its bytes or its file. Call it in a transaction. */
    *save(row: NewRow, nowMs: number, bytes: Bytes): Steps<ArtifactRow> {
      const { data = null, index = null, place, isCopy = false } = bytes;
      place?.();
      yield* takeTurn("artifacts");
      const { key, session, tool, call, command, folder, exit_code, ...artifact } = row;
      const savedMs = yield* freeMs(row.scope, nowMs, isCopy);
      yield* putArtifact({ key, ...artifact, created_ms: savedMs });
      yield* put("small", key, data);
      yield* put("line_indexes", key, index);
      yield* tie({ key, session, saved_ms: savedMs, tool, call, command, folder, exit_code });
      yield* see(row, nowMs);
      return { ...row, created_ms: savedMs, saved_ms: savedMs };
    },

    /** Adds a saving to an artifact that is here already. Returns null if it is not, and false if that session has it too. */
    *join(row: ArtifactRow): Steps<boolean | null> {
      yield* takeTurn("artifacts");
      const found = yield* findByKey(row.key);
      if (found === null || found.form === "spool") return null;
      const { key, session, saved_ms, tool, call, command, folder, exit_code } = row;
      const same = kysely.selectFrom("artifact_sessions").select("key").where("key", "=", key);
      if ((yield* all(same.where("session", "=", session))).length > 0) return false;
      yield* tie({ key, session, saved_ms, tool, call, command, folder, exit_code });
      yield* see(row, saved_ms);
      return true;
    },

    /** Returns a page of all savings after one of them, whoever may read them; those of one artifact newest first. */
    after: ({ key, saved_ms }: Pick<ArtifactRow, "key" | "saved_ms">, max: number): Steps<ArtifactRow[]> =>
      all(
        savings()
          .where(({ or, and, eb }) =>
            or([eb("artifacts.key", ">", key), and([eb("artifacts.key", "=", key), eb("saved_ms", "<", saved_ms)])]),
          )
          .orderBy("artifacts.key")
          .orderBy("saved_ms", "desc")
          .limit(max),
      ),

    /** Returns the secrets that the database knows: that of all its machines, and others that ids were made with. */
    *secrets(): Steps<Uint8Array[]> {
      const named = kysely
        .selectFrom("settings")
        .select("value")
        .where(({ or, eb }) => or([eb("name", "=", SECRET), eb("name", "like", `${OTHER_SECRET}%`)]));
      return (yield* all(named)).map(({ value }) => value);
    },

    /** Remembers a secret that ids were made with elsewhere. */
    learnSecret(value: Uint8Array): Steps<number> {
      const name =
        OTHER_SECRET + createHash("sha256").update(Buffer.from(value).toString("hex")).digest("hex").slice(0, 16);
      const told = kysely.insertInto("settings").values({ name, value });
      return change(told.onConflict((conflict) => conflict.doNothing()));
    },

    /** Returns what was saved first, whoever may read it. */
    oldest: (max: number): Steps<ArtifactRow[]> => all(savings().orderBy("saved_ms").limit(max)),

    /** Unties an artifact from one saving, and drops it if no other is left. Returns true if it was dropped. */
    *untie({ key, session, saved_ms }: ArtifactRow): Steps<boolean> {
      const ties = kysely.selectFrom("artifact_sessions").select("key").where("key", "=", key).limit(1);
      yield* change(
        kysely
          .deleteFrom("artifact_sessions")
          .where("key", "=", key)
          .where("session", "=", session)
          .where("saved_ms", "=", saved_ms),
      );
      return (yield* all(ties)).length === 0 && (yield* drop(key)) !== null;
    },

    *remove(id: string, scope: string): Steps<ArtifactTable | null> {
      const row = yield* find(id, scope);
      return row && (yield* drop(row.key));
    },

    /** Returns one page of artifacts, newest first, each once for every session that saved it. */
    list(scope: string, session: string | undefined, beforeMs: number | undefined, max: number): Steps<ArtifactRow[]> {
      let query = savings().where("scope", "=", scope).orderBy("saved_ms", "desc").limit(max);
      if (beforeMs !== undefined) query = query.where("saved_ms", "<", beforeMs);
      if (session !== undefined) query = query.where("session", "=", session);
      return all(query);
    },

    /** Returns ids that begin with a prefix. */
    *idsFrom(prefix: string, scope: string, max: number): Steps<string[]> {
      const ids = kysely
        .selectFrom("artifacts")
        .select("id")
        .where("scope", "=", scope)
        .where("id", ">=", prefix)
        .where("id", "<", `${prefix}{`)
        .orderBy("id")
        .limit(max);
      return (yield* all(ids)).map(({ id }) => id);
    },
  };
}

/**
 * Notes that sessions were seen, each from a first time to a last. Clocks jump, so the earliest time counts as first seen and
 * the latest as last seen, in whatever order they come.
 */
export function seenSessions(kysely: Sql["kysely"], sessions: SessionTable[]) {
  return kysely
    .insertInto("sessions")
    .values(sessions)
    .onConflict((conflict) =>
      conflict.columns(["scope", "session"]).doUpdateSet((row) => ({
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

/** Returns a row of one store as one that is about to be saved in another. */
export function unsaved({ created_ms: _created, saved_ms: _saved, ...row }: ArtifactRow): NewRow {
  return row;
}

/** Returns a row in the form that readers get. */
export function toArtifact(row: ArtifactRow): Artifact {
  return {
    id: row.id,
    scope: row.scope,
    session: row.session || null,
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
