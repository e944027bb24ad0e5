import type { Command } from "commander";
import { joinArtifact } from "../join-artifact.ts";
import { addPlaceFlag, type PlaceFlags, type ReadPlace, readPlace } from "../open-place.ts";
import { writeJson } from "../write-out.ts";

interface ExportFlags extends PlaceFlags {
  session?: string;
}

const PAGE = 500;

/** `spillway export`: every event with its artifact's text. */
export function addExportCommand(program: Command): void {
  addPlaceFlag(program.command("export").description("print every event with its saved output, as lines of JSON"))
    .option("--session <name>", "only of this session")
    .addHelpText(
      "after",
      "\nAn output is written once, with the event that saved it.\n\nExample:\n  spillway export --session s1 > s1.jsonl",
    )
    .action((flags: ExportFlags) => readPlace(flags, (place) => exportEvents(place, flags)));
}

async function exportEvents({ store, ledger }: ReadPlace, { session }: ExportFlags): Promise<void> {
  const written = new Set<string>();
  for (let afterId = 0; ; ) {
    const events = await ledger.events({ afterId, max: PAGE, ...(session !== undefined && { session }) });
    if (events.length === 0) return;
    for (const event of events) {
      afterId = event.id;
      const isNew = event.artifact !== null && !written.has(event.artifact);
      if (isNew && event.artifact !== null) written.add(event.artifact);
      await writeJson(isNew ? await joinArtifact(store, event) : { ...event, text: null });
    }
  }
}
