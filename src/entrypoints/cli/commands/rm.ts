import type { Command } from "commander";
import { SpillwayError } from "../../../errors.ts";
import { counted } from "../../../stages/mark/texts.ts";
import type { Local } from "../../../storage/local/open-local.ts";
import { sizeText } from "../amounts.ts";
import { addPlaceFlag, type Place, type PlaceFlags, resolveId, SCOPE, withPlace } from "../open-place.ts";
import { tell } from "../tell.ts";
import { writeJson } from "../write-out.ts";

interface RmFlags extends PlaceFlags {
  session?: string;
  runs?: string;
  events?: string;
  json?: boolean;
  quiet?: boolean;
}

/** `spillway rm`: removes artifacts, or all that belongs to a session. */
export function addRmCommand(program: Command): void {
  addPlaceFlag(program.command("rm").description("remove saved outputs, or everything of a session"))
    .argument("[ids...]", "artifacts; their first 6 characters may do")
    .option("--session <name>", "its artifacts, events and sums; what other sessions have too stays")
    .option("--runs <folder>", "with --session: remove its run from this folder of runs too (default: your config's)")
    .option("--events <file>", "with --session: take its lines out of this event log too (default: your config's)")
    .option("--json", "print one JSON object, { artifacts, bytes, events }")
    .option("-q, --quiet", "say nothing")
    .addHelpText("after", "\nExamples:\n  spillway rm k3v7q2 m4x5ya\n  spillway rm --session s1 --runs ./runs")
    .action((ids: string[], flags: RmFlags) => {
      if ((ids.length === 0) === (flags.session === undefined)) {
        throw new SpillwayError("bad-input", "rm takes either ids or --session NAME");
      }
      if (flags.session === undefined && (flags.runs ?? flags.events) !== undefined) {
        throw new SpillwayError("bad-input", "--runs and --events go with --session NAME");
      }
      return withPlace(flags, (place) => remove(place, ids, flags));
    });
}

async function remove(place: Place, typed: string[], flags: RmFlags): Promise<void> {
  const gone =
    flags.session === undefined ? await removeIds(place, typed) : await removeSession(place, flags, flags.session);
  if (flags.json) return writeJson(gone);
  if (flags.quiet) return;
  const events = flags.session === undefined ? "" : ` and ${counted(gone.events, "event")}`;
  tell(`removed ${counted(gone.artifacts, "artifact")} (${sizeText(gone.bytes)})${events}`);
}

interface Gone {
  artifacts: number;
  bytes: number;
  events: number;
}

async function removeIds(place: Local, typed: string[]): Promise<Gone> {
  const ids = new Set<string>();
  // All are known before one goes.
  for (const each of typed) ids.add(await resolveId(place, each));
  const gone: Gone = { artifacts: 0, bytes: 0, events: 0 };
  for (const id of ids) {
    const bytes = (await place.store.find(id, SCOPE))?.bytes ?? 0;
    if (!(await place.store.remove(id, SCOPE))) continue;
    gone.artifacts += 1;
    gone.bytes += bytes;
  }
  return gone;
}

async function removeSession({ store, ledger, options }: Place, flags: RmFlags, session: string): Promise<Gone> {
  const { runs = options.runs, events = options.events } = flags;
  const { removed, removedBytes } = await store.removeSession(session);
  const recorded = await ledger.removeSession(session);
  if (runs !== undefined)
    await (await import("../../../storage/event-files/run-directory.ts")).removeRun(runs, session);
  if (events !== undefined) {
    await (await import("../../../storage/event-files/remove-from-event-file.ts")).removeFromEventFile(events, session);
  }
  return { artifacts: removed, bytes: removedBytes, events: recorded };
}
