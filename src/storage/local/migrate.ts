import type { Kysely } from "kysely";
import { SpillwayError } from "../../errors.ts";
import { type EngineTypes, MIGRATIONS, type Migration } from "./migrations.ts";
import type { Schema } from "./schema.ts";
import { retryBusy, type SqliteConnection } from "./sqlite-connection.ts";

const SQLITE_TYPES: EngineTypes = {
  growingId: "integer primary key autoincrement",
  bytes: "blob",
  keyed: "without rowid",
};

/** Brings a database to the newest version. Any number of processes may try at once: one does it, the others find it done. */
export async function migrate(
  connection: SqliteConnection,
  { schema }: Kysely<Schema>,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<void> {
  if ((await retryBusy(() => versionOf(connection, migrations))) === migrations.length) return;
  for (const [index, migration] of migrations.entries()) {
    await connection.write(() => {
      connection.exec("create table if not exists versions (version integer primary key, applied_ms integer not null)");
      if (versionOf(connection, migrations) > index) return;
      for (const step of migration(schema, SQLITE_TYPES)) connection.exec(step.compile().sql);
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
    throw new SpillwayError(
      "store-unavailable",
      `database ${connection.path} is of version ${version}, made by a newer Spillway; this one knows up to ` +
        `${migrations.length}. Update Spillway, or choose another folder with --dir or SPILLWAY_DIR.`,
    );
  }
  return version;
}
