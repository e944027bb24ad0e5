import { messageOf } from "../../../errors.ts";
import { counted } from "../../../values.ts";
import { sizeText, timeText } from "../amounts.ts";
import type { Command } from "../command.ts";
import {
  addPlaceFlag,
  LAST,
  type PlaceFlags,
  type ReadPlace,
  readPlace,
  resolveId,
  unknownArtifact,
} from "../open-place.ts";
import { addScreenFlags, onScreen, type Screen, type ScreenFlags } from "../screen.ts";
import { alignTable, cell } from "../table.ts";
import { writeJson, writeOut } from "../write-out.ts";

interface ShowFlags extends PlaceFlags, ScreenFlags {
  json?: boolean;
}

/** All that a store keeps of a command. */
const MAX_COMMAND_CHARS = 1000;

/** `spillway show`: what is known of an artifact. */
export function addShowCommand(program: Command): void {
  showing(program.command("show").description("print what is known of a saved output"))
    .argument("<id>", "the artifact; its first 6 characters are enough, and last is the newest")
    .notes(`
Example:
  spillway show k3v7q2`)
    .action((id: string, flags: ShowFlags) => show(id, flags));
}

const showing = (command: Command) => addScreenFlags(addPlaceFlag(command)).option("--json", "print one JSON object");

/** `spillway last`: the same of the newest output. */
export function addLastCommand(program: Command): void {
  showing(program.command("last").description("print what is known of the output that was saved last"))
    .notes(`
"last" also stands for its id in other commands.

Examples:
  spillway last
  spillway recall last --tail 50
  spillway search last "error|warning"`)
    .action((flags: ShowFlags) => show(LAST, flags));
}

function show(typed: string, flags: ShowFlags): Promise<void> {
  return onScreen(flags, (screen) => readPlace(flags, (place) => print(place, typed, flags, screen)));
}

async function print(place: ReadPlace, typed: string, { json }: ShowFlags, { paints }: Screen): Promise<void> {
  const id = await resolveId(place, typed);
  const artifact = await place.store.find(id, place.scope);
  if (artifact === null) throw unknownArtifact(`artifact ${id} was removed just now`);
  const file = await place.store.file(id, place.scope);
  // Opens the artifact without reading it, to see whether its bytes are still there.
  const fault = await place.store.read(id, place.scope, { from: 0, to: 0 }).then(() => null, messageOf);
  if (json) return writeJson({ ...artifact, file, fault });
  const { count, bytes } = artifact.redactions;
  const rows = [
    ["id", artifact.id],
    ["saved", fault !== null ? `no longer: ${fault}` : artifact.saved === "partial" ? "in part" : "whole"],
    ["saved at", timeText(artifact.createdAtMs)],
    ["size", `${counted(artifact.bytes, "byte")} (${sizeText(artifact.bytes)}), ${counted(artifact.lines, "line")}`],
    ["sha256", artifact.sha256],
    ["command", cell(artifact.command, MAX_COMMAND_CHARS)],
    ["folder", cell(artifact.folder, MAX_COMMAND_CHARS)],
    ["exit code", artifact.exitCode === null ? "-" : String(artifact.exitCode)],
    ["tool", cell(artifact.tool)],
    ["session", cell(artifact.session)],
    ["call", cell(artifact.call)],
    ["redacted", count === 0 ? "nothing" : `${counted(count, "secret")}, ${counted(bytes, "byte")}`],
    ["file", file ?? (fault === null ? "none of its own: it is a row of the database" : "none")],
  ];
  await writeOut(
    alignTable(rows, new Set(), { paint: (_text, _row, column) => (column === 0 ? paints.dim : undefined) }),
  );
}
