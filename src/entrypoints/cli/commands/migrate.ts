import type { Command } from "../command.ts";
import { addPlaceFlag, openPlace, type Place, type PlaceFlags } from "../open-place.ts";
import { writeJson, writeOut } from "../write-out.ts";

interface MigrateFlags extends PlaceFlags {
  json?: boolean;
}

/** `spillway migrate`: brings the tables to the version of this Spillway. */
export function addMigrateCommand(program: Command): void {
  addPlaceFlag(program.command("migrate").description("bring the tables of the database to the newest version"))
    .option("--json", "print one JSON object, { place, version }")
    .notes(`
Every command does this when it opens a database. Run it by itself before an update if only another user may change tables, or
to see that it works. A database of a newer version is refused and left as it is.

Example:
  SPILLWAY_LEDGER=postgres://owner@db.example/spillway spillway migrate`)
    .action(async (flags: MigrateFlags) => {
      const place = await openPlace(flags);
      await printVersion(place, flags).finally(place.close);
    });
}

async function printVersion({ database, dir }: Place, { json }: MigrateFlags): Promise<void> {
  const { all } = await import("../../../storage/sql.ts");
  const versions = database.kysely.selectFrom("versions").select(({ fn }) => fn.max("version").as("version"));
  const [found] = await database.read(() => all(versions));
  const { place = dir } = database;
  if (json) return writeJson({ place, version: found?.version ?? 0 });
  await writeOut(`${place} is of version ${found?.version ?? 0}\n`);
}
