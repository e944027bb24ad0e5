import type { Command } from "commander";
import type { Artifact } from "../../../contract/store.ts";
import type { Local } from "../../../storage/local/open-local.ts";
import { sizeText, timeText } from "../amounts.ts";
import { addPlaceFlag, type PlaceFlags, SCOPE, withPlace } from "../open-place.ts";
import { alignTable, cell } from "../table.ts";
import { wholeNumber } from "../whole-number.ts";
import { writeJson, writeOut } from "../write-out.ts";

interface LsFlags extends PlaceFlags {
  session?: string;
  max?: number;
  json?: boolean;
}

/** `spillway ls`: what is saved. */
export function addLsCommand(program: Command): void {
  addPlaceFlag(program.command("ls").description("list saved outputs, newest first"))
    .option("--session <name>", "only those of this session")
    .option("--max <n>", "at most so many (default 1000)", wholeNumber("--max"))
    .option("--json", "print one JSON object for each line")
    .addHelpText("after", "\nExamples:\n  spillway ls\n  spillway ls --session s1 --json | jq -r .id")
    .action((flags: LsFlags) => withPlace(flags, (place) => list(place, flags)));
}

async function list({ store }: Local, { session, max, json }: LsFlags): Promise<void> {
  const artifacts = await store.list({
    scope: SCOPE,
    ...(session !== undefined && { session }),
    ...(max !== undefined && { max }),
  });
  if (json) for (const artifact of artifacts) await writeJson(artifact);
  else if (artifacts.length === 0) process.stderr.write("spillway: nothing is saved here\n");
  else await writeOut(alignTable([HEAD, ...artifacts.map(rowOf)], new Set([2, 3])));
}

const HEAD = ["ID", "SAVED AT", "SIZE", "LINES", "TOOL", "SESSION"];

function rowOf({ id, createdAtMs, bytes, lines, tool, session, saved }: Artifact): string[] {
  const part = saved === "partial" ? " (in part)" : "";
  return [id, timeText(createdAtMs), sizeText(bytes), String(lines), cell(tool), `${cell(session)}${part}`];
}
