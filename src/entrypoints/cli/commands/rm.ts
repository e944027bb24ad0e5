import { badInput } from "../../../errors.ts";
import { counted } from "../../../values.ts";
import { sizeText } from "../amounts.ts";
import type { Command } from "../command.ts";
import { addPlaceFlag, type Place, type PlaceFlags, resolveId, withPlace } from "../open-place.ts";
import { tell } from "../tell.ts";
import { writeJson } from "../write-out.ts";

interface RmFlags extends PlaceFlags {
  /** False means what belongs to no session. If only the negated flag is defined, Commander's default is true. */
  session?: string | boolean;
  runs?: string;
  events?: string;
  json?: boolean;
  quiet?: boolean;
}

/** `spillway rm`: removes artifacts, or all that belongs to a session. */
export function addRmCommand(program: Command): void {
  const command = program.command("rm").description("remove saved outputs, or everything of a session");
  // Both flags set the same value. If both are given, the last would win and the first would be ignored silently.
  let named = 0;
  const onSession = () => {
    named += 1;
    if (named > 1) throw badInput("rm takes one --session NAME or --no-session, and only once");
  };
  command.on("option:session", onSession).on("option:no-session", onSession);
  addPlaceFlag(command)
    .argument("[ids...]", "artifacts; their first 6 characters are enough, and last is the newest")
    .option("--session <name>", "remove its artifacts, events and sums, but no artifact that another session has too")
    .option("--no-session", "remove what belongs to no session")
    .option("--runs <folder>", "also remove the copies in this folder of runs (default: your config's)")
    .option("--events <file>", "with a session: also take its lines out of this event log (default: your config's)")
    .option("--json", "print one JSON object, { artifacts, bytes, untied, events, files, lines }")
    .option("-q, --quiet", "print nothing")
    .notes(`
Examples:
  spillway rm k3v7q2 m4x5ya
  spillway rm --session s1 --runs ./runs
  spillway rm --no-session`)
    .action((ids: string[], flags: RmFlags) => {
      const session = flags.session === false ? null : typeof flags.session === "string" ? flags.session : undefined;
      if ((ids.length === 0) === (session === undefined)) {
        throw badInput("rm takes either ids or --session NAME (or --no-session)");
      }
      if (session === "") throw badInput("--session takes a name; --no-session is for none");
      if (session === undefined && flags.events !== undefined) {
        throw badInput("--events goes with --session NAME");
      }
      return withPlace(flags, (place) => remove(place, ids, session, flags));
    });
}

async function remove(
  place: Place,
  typed: string[],
  session: string | null | undefined,
  flags: RmFlags,
): Promise<void> {
  const gone =
    session === undefined ? await removeIds(place, flags, typed) : await removeSession(place, flags, session);
  if (flags.json) return writeJson(gone);
  if (flags.quiet) return;
  const { artifacts, bytes, untied, events, files, lines } = gone;
  const parts = [
    `${counted(artifacts, "artifact")} (${sizeText(bytes)})`,
    session === undefined ? "" : counted(events, "event"),
    files === 0 ? "" : `${counted(files, "file")} in runs`,
    lines === 0 ? "" : `${counted(lines, "line")} of the event log`,
  ].filter((words) => words !== "");
  const last = parts.length > 1 ? ` and ${parts.pop()}` : "";
  const stay = untied === 0 ? "" : `; ${counted(untied, "artifact")} of other sessions too: kept for those`;
  tell(`removed ${parts.join(", ")}${last}${stay}`);
}

interface Gone {
  artifacts: number;
  bytes: number;
  /** How many artifacts stay, since other sessions have them too. */
  untied: number;
  events: number;
  /** In the folder of runs. */
  files: number;
  /** Of the event log. */
  lines: number;
}

async function removeIds(place: Place, flags: RmFlags, typed: string[]): Promise<Gone> {
  const { runs = place.options.runs } = flags;
  const ids = new Set<string>();
  // All ids are looked up before the first artifact is removed.
  for (const each of typed) ids.add(await resolveId(place, each));
  const gone: Gone = { artifacts: 0, bytes: 0, untied: 0, events: 0, files: 0, lines: 0 };
  for (const id of ids) {
    const bytes = (await place.store.find(id, place.scope))?.bytes ?? 0;
    if (runs !== undefined) {
      gone.files += await (await import("../../../storage/event-files/run-directory.ts")).removeCopies(runs, id);
    }
    if (!(await place.store.remove(id, place.scope))) continue;
    gone.artifacts += 1;
    gone.bytes += bytes;
  }
  return gone;
}

async function removeSession(
  { store, ledger, scope, options }: Place,
  flags: RmFlags,
  session: string | null,
): Promise<Gone> {
  const { runs = options.runs, events: log = options.events } = flags;
  const { removed: artifacts, removedBytes: bytes, untied } = await store.removeSession(session, scope);
  const gone: Gone = { artifacts, bytes, untied, events: await ledger.removeSession(session), files: 0, lines: 0 };
  if (runs !== undefined) {
    gone.files = await (await import("../../../storage/event-files/run-directory.ts")).removeRun(runs, session);
  }
  if (log !== undefined) {
    const [{ removeFromEventFile }, { rotatedFiles }] = await Promise.all([
      import("../../../storage/event-files/remove-from-event-file.ts"),
      import("../../../storage/event-files/file-events.ts"),
    ]);
    for (const file of [...rotatedFiles(log), log]) gone.lines += await removeFromEventFile(file, session);
  }
  return gone;
}
