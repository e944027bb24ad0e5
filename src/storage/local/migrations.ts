import { type Compilable, type Kysely, sql } from "kysely";
import { SpillwayError } from "../../errors.ts";
import type { Schema } from "./schema.ts";
import { retryBusy, type SqliteConnection } from "./sqlite-connection.ts";

/** The column types in which database engines differ. */
export interface EngineTypes {
  /** A text that is compared by its bytes. */
  text: string;
  /** The type of a number that grows with each row and is never used twice. */
  growingId: string;
  bytes: "blob" | "bytea";
  /** The ending of a table whose rows are read by primary key. It spares SQLite a second tree. */
  keyed: string;
}

/** One step from a version of the schema to the next. A released step is never changed: add another one. */
export type Migration = (kysely: Kysely<Schema>, types: EngineTypes) => Compilable[];

const SUMS = [
  "calls",
  "cut_calls",
  "bytes_in",
  "bytes_shown",
  "tokens_in",
  "tokens_shown",
  "recalls",
  "recalled_bytes",
  "recalled_tokens",
] as const;

const first: Migration = ({ schema }, { text: textType, growingId, bytes, keyed }) => {
  const text = sql.raw(textType);
  const rollups = schema
    .createTable("rollups")
    .addColumn("session", text, (column) => column.notNull())
    .addColumn("hour_ms", "bigint", (column) => column.notNull())
    .addColumn("tool", text, (column) => column.notNull());
  return [
    schema
      .createTable("artifacts")
      .addColumn("key", text, (column) => column.primaryKey().notNull())
      .addColumn("id", text, (column) => column.notNull())
      .addColumn("scope", text, (column) => column.notNull())
      .addColumn("session", text)
      .addColumn("tool", text, (column) => column.notNull())
      .addColumn("call", text)
      .addColumn("bytes", "bigint", (column) => column.notNull())
      .addColumn("lines", "bigint", (column) => column.notNull())
      .addColumn("sha256", text, (column) => column.notNull())
      .addColumn("saved", text, (column) => column.notNull())
      .addColumn("created_ms", "bigint", (column) => column.notNull())
      .addColumn("redaction_count", "bigint", (column) => column.notNull())
      .addColumn("redaction_bytes", "bigint", (column) => column.notNull())
      .addColumn("form", text, (column) => column.notNull()),
    schema.createIndex("artifacts_by_id").on("artifacts").columns(["scope", "id"]),
    schema.createIndex("artifacts_by_age").on("artifacts").columns(["scope", "created_ms"]),
    schema
      .createTable("artifact_sessions")
      .addColumn("key", text, (column) => column.notNull())
      .addColumn("session", text, (column) => column.notNull())
      .addPrimaryKeyConstraint("artifact_sessions_key", ["key", "session"])
      .modifyEnd(sql.raw(keyed)),
    schema.createIndex("artifact_sessions_by_session").on("artifact_sessions").columns(["session"]),
    schema
      .createTable("small")
      .addColumn("key", text, (column) => column.primaryKey().notNull())
      .addColumn("data", bytes, (column) => column.notNull()),
    schema
      .createTable("events")
      .addColumn("id", sql.raw(growingId))
      .addColumn("kind", text, (column) => column.notNull())
      .addColumn("at_ms", "bigint", (column) => column.notNull())
      .addColumn("session", text)
      .addColumn("tool", text)
      .addColumn("call", text)
      .addColumn("artifact", text)
      .addColumn("receipt", text)
      .addColumn("more", text),
    schema.createIndex("events_by_session").on("events").columns(["session"]),
    schema.createIndex("events_by_age").on("events").columns(["at_ms"]),
    SUMS.reduce((table, sum) => table.addColumn(sum, "bigint", (column) => column.notNull()), rollups)
      .addPrimaryKeyConstraint("rollups_key", ["session", "hour_ms", "tool"])
      .modifyEnd(sql.raw(keyed)),
    schema.createIndex("rollups_by_hour").on("rollups").columns(["hour_ms"]),
    schema
      .createTable("sessions")
      .addColumn("session", text, (column) => column.primaryKey().notNull())
      .addColumn("first_seen_ms", "bigint", (column) => column.notNull())
      .addColumn("last_seen_ms", "bigint", (column) => column.notNull())
      .addColumn("pinned", "bigint", (column) => column.notNull())
      .modifyEnd(sql.raw(keyed)),
    schema
      .createTable("projections")
      .addColumn("key", text, (column) => column.primaryKey().notNull())
      .addColumn("session", text)
      .addColumn("at_ms", "bigint", (column) => column.notNull())
      .addColumn("text", text, (column) => column.notNull())
      .addColumn("step", "bigint", (column) => column.notNull()),
    schema.createIndex("projections_by_session").on("projections").columns(["session"]),
    schema.createIndex("projections_by_age").on("projections").columns(["at_ms"]),
  ];
};

/** Moves what is known of an output from the artifact to the session that saved it, with its command, folder and exit code. */
const savedBySession: Migration = (kysely, { text: textType }) => {
  const text = sql.raw(textType);
  const { schema } = kysely;
  // The columns that this step removes are not in the schema any more.
  const ofArtifact = (column: "created_ms" | "tool" | "call") =>
    sql<never>`(select ${sql.ref(`artifacts.${column}`)} from artifacts where artifacts.key = artifact_sessions.key)`;
  const add = schema.alterTable("artifact_sessions");
  const drop = schema.alterTable("artifacts");
  return [
    add.addColumn("saved_ms", "bigint", (column) => column.notNull().defaultTo(0)),
    add.addColumn("tool", text, (column) => column.notNull().defaultTo("")),
    add.addColumn("call", text),
    add.addColumn("command", text),
    add.addColumn("folder", text),
    add.addColumn("exit_code", "bigint"),
    kysely.updateTable("artifact_sessions").set({
      saved_ms: ofArtifact("created_ms"),
      tool: ofArtifact("tool"),
      call: ofArtifact("call"),
    }),
    drop.dropColumn("session"),
    drop.dropColumn("tool"),
    drop.dropColumn("call"),
    schema.dropIndex("artifact_sessions_by_session"),
    schema.createIndex("artifact_sessions_by_session").on("artifact_sessions").columns(["session", "saved_ms"]),
    schema.createIndex("artifact_sessions_by_time").on("artifact_sessions").columns(["saved_ms"]),
  ];
};

/** Line indexes become rows, with a checksum for each block. Those of an earlier version are made again when they are needed. */
const lineIndexes: Migration = ({ schema }, { text, bytes }) => [
  schema
    .createTable("line_indexes")
    .addColumn("key", sql.raw(text), (column) => column.primaryKey().notNull())
    .addColumn("data", bytes, (column) => column.notNull()),
];

/** Finds what happened to an artifact without reading all events. */
const eventsByArtifact: Migration = ({ schema }) => [
  schema.createIndex("events_by_artifact").on("events").columns(["artifact"]).where("artifact", "is not", null),
];

/** Tells the few events about overflows from the many others, in the words of their index. */
export const IS_OVERFLOW = sql<boolean>`substr(kind, 1, 9) = 'overflow-'`;

const REQUEST_SUMS = [
  "requests",
  "input_tokens",
  "output_tokens",
  "cache_read_tokens",
  "cache_write_tokens",
  "refusals",
  "recoveries",
] as const;

/** Sums of requests, and the way to overflows without reading all events. */
const requestSums: Migration = ({ schema }) => [
  ...REQUEST_SUMS.map((sum) =>
    schema.alterTable("rollups").addColumn(sum, "bigint", (column) => column.notNull().defaultTo(0)),
  ),
  schema.createIndex("events_of_overflows").on("events").columns(["id"]).where(IS_OVERFLOW),
];

/** The bytes of artifacts can be objects of another server, and what a folder has in files is in the database. */
const objects: Migration = ({ schema }, { text: textType, bytes }) => {
  const text = sql.raw(textType);
  return [
    schema.alterTable("artifacts").addColumn("place", text),
    schema
      .createTable("uploads")
      .addColumn("place", text, (column) => column.primaryKey().notNull())
      .addColumn("began_ms", "bigint", (column) => column.notNull()),
    schema
      .createTable("settings")
      .addColumn("name", text, (column) => column.primaryKey().notNull())
      .addColumn("value", bytes, (column) => column.notNull()),
  ];
};

/**
 * Everything that is recorded has a scope, as artifacts always had. What was recorded before is the local user's. A primary
 * key cannot be changed in every engine, so three tables are made anew.
 */
const scopes: Migration = (kysely, { text, keyed }) => {
  const run = (statement: string): Compilable => ({ compile: () => sql.raw(statement).compile(kysely) });
  const scope = `scope ${text} not null`;
  const totals = [...SUMS, ...REQUEST_SUMS];
  const remade = (table: string, columns: string, names: string, ending = "") => [
    run(`alter table ${table} rename to old_${table}`),
    run(`create table ${table} (${scope}, ${columns}) ${ending}`),
    run(`insert into ${table} (scope, ${names}) select 'local', ${names} from old_${table}`),
    run(`drop table old_${table}`),
  ];
  return [
    run(`alter table events add column ${scope} default 'local'`),
    run("drop index events_by_session"),
    run("drop index events_by_artifact"),
    run("drop index events_of_overflows"),
    run("create index events_by_scope on events (scope, id)"),
    run("create index events_by_session on events (scope, session, id)"),
    run("create index events_by_artifact on events (scope, artifact) where artifact is not null"),
    kysely.schema.createIndex("events_of_overflows").on("events").columns(["scope", "id"]).where(IS_OVERFLOW),
    ...remade(
      "rollups",
      `session ${text} not null, hour_ms bigint not null, tool ${text} not null, ` +
        `${totals.map((sum) => `${sum} bigint not null default 0, `).join("")}primary key (scope, session, hour_ms, tool)`,
      ["session", "hour_ms", "tool", ...totals].join(", "),
      keyed,
    ),
    run("create index rollups_by_hour on rollups (scope, hour_ms)"),
    ...remade(
      "sessions",
      `session ${text} not null, first_seen_ms bigint not null, last_seen_ms bigint not null, pinned bigint not null, ` +
        "primary key (scope, session)",
      "session, first_seen_ms, last_seen_ms, pinned",
      keyed,
    ),
    run("create index sessions_by_time on sessions (scope, last_seen_ms)"),
    ...remade(
      "projections",
      `key ${text} not null, session ${text}, at_ms bigint not null, text ${text} not null, step bigint not null, ` +
        "primary key (scope, key)",
      "key, session, at_ms, text, step",
    ),
    run("create index projections_by_session on projections (scope, session)"),
    run("create index projections_by_age on projections (at_ms)"),
  ];
};

/** Retention goes through artifacts by age, whosever they are. Without this each page of it reads all of them. */
const artifactsByTime: Migration = ({ schema }) => [
  schema.createIndex("artifacts_by_time").on("artifacts").columns(["created_ms", "key"]),
];

/** The steps in order. The first one makes version 1 from an empty database. */
export const MIGRATIONS: readonly Migration[] = [
  first,
  savedBySession,
  lineIndexes,
  eventsByArtifact,
  requestSums,
  objects,
  scopes,
  artifactsByTime,
];

const SQLITE_TYPES: EngineTypes = {
  text: "text",
  growingId: "integer primary key autoincrement",
  bytes: "blob",
  keyed: "without rowid",
};

/**
 * Brings a database to the newest version. If several processes try at the same time, one does it and the others find
 * it done.
 */
export async function migrate(
  connection: SqliteConnection,
  kysely: Kysely<Schema>,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<void> {
  if ((await retryBusy(() => versionOf(connection, migrations))) === migrations.length) return;
  for (const [index, migration] of migrations.entries()) {
    await connection.write(() => {
      connection.exec("create table if not exists versions (version integer primary key, applied_ms integer not null)");
      if (versionOf(connection, migrations) > index) return;
      for (const step of migration(kysely, SQLITE_TYPES)) connection.exec(step.compile().sql);
      connection.prepare("insert into versions (version, applied_ms) values (?, ?)").run(index + 1, Date.now());
    });
  }
}

function versionOf(connection: SqliteConnection, migrations: readonly Migration[]): number {
  const table = connection.prepare("select name from sqlite_master where name = 'versions'").get();
  if (table === undefined) return 0;
  const found = connection.prepare<{ version: number | null }>("select max(version) as version from versions").get();
  const version = found?.version ?? 0;
  if (version > migrations.length) {
    throw newerFault(connection.path, version, migrations.length, "choose another folder with --dir or SPILLWAY_DIR");
  }
  return version;
}

/** Says that a database was made by a newer Spillway, which may keep things that this one would overlook. */
export function newerFault(path: string, version: number, known: number, way: string): SpillwayError {
  return new SpillwayError(
    "store-unavailable",
    `database ${path} is of version ${version}, made by a newer Spillway; this one knows up to ${known}. Update ` +
      `Spillway, or ${way}.`,
  );
}
