import { badInput } from "../../../errors.ts";
import { timeText } from "../amounts.ts";
import type { Command } from "../command.ts";
import { addPlaceFlag, type Place, type PlaceFlags, withPlace } from "../open-place.ts";
import { alignTable, cell } from "../table.ts";
import { tell } from "../tell.ts";
import { writeJson, writeOut } from "../write-out.ts";

interface PinFlags extends PlaceFlags {
  remove?: boolean;
  json?: boolean;
  quiet?: boolean;
}

/** `spillway pin`: keeps a session whatever its age and size. */
export function addPinCommand(program: Command): void {
  addPlaceFlag(
    program
      .command("pin")
      .description("keep everything of a session, whatever its age; without a name, list the pinned sessions"),
  )
    .argument("[session]", "the session's name")
    .option("--remove", "no longer keep it")
    .option("--json", "print one JSON object, { pinned }")
    .option("-q, --quiet", "print nothing")
    .notes(`
Examples:
  spillway pin s1
  spillway pin s1 --remove
  spillway pin`)
    .action((session: string | undefined, flags: PinFlags) => withPlace(flags, (place) => pin(place, session, flags)));
}

async function pin(
  { ledger, database }: Place,
  session: string | undefined,
  { remove = false, json, quiet }: PinFlags,
) {
  if (session !== undefined) {
    if (session === "") throw badInput("pin takes a session's name");
    const [known] = await ledger.sessions({ session, max: 1 });
    await ledger.pin(session, !remove);
    const unknown =
      known === undefined ? `; nothing of it is recorded yet: "spillway stats --by session" lists names` : "";
    if (!json && !quiet) tell(`${cell(session)} is ${remove ? "no longer kept" : "kept until --remove"}${unknown}`);
  } else if (remove) throw badInput("pin --remove takes a session's name");
  if (session !== undefined && !json) return;
  const { all } = await import("../../../storage/sql.ts");
  const pinned = await database.read(() =>
    all(
      database.kysely
        .selectFrom("sessions")
        .select(["session", "last_seen_ms as lastSeenMs"])
        .where("pinned", "<>", 0)
        .orderBy("session"),
    ),
  );
  if (json) return writeJson({ pinned });
  if (pinned.length === 0) return tell("no session is pinned");
  await writeOut(
    alignTable(
      pinned.map((row) => [cell(row.session), timeText(row.lastSeenMs)]),
      new Set(),
    ),
  );
}
