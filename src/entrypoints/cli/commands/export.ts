import type { Command } from "../command.ts";
import { fullEventWriter, LEFT_OUT } from "../full-events.ts";
import { addPlaceFlag, type PlaceFlags, type ReadPlace, readPlace } from "../open-place.ts";
import { filterText } from "../table.ts";
import { tell } from "../tell.ts";
import { writeJson } from "../write-out.ts";

interface ExportFlags extends PlaceFlags {
  session?: string;
}

const PAGE = 500;

/** `spillway export`: every event with its artifact's text. */
export function addExportCommand(program: Command): void {
  addPlaceFlag(program.command("export").description("print every event with its saved output, as lines of JSON"))
    .option("--session <name>", "print only events of this session")
    .notes(`
An output is written once, with the event that saved it. ${LEFT_OUT}

Example:
  spillway export --session s1 > s1.jsonl`)
    .action((flags: ExportFlags) => readPlace(flags, (place) => exportEvents(place, flags)));
}

async function exportEvents(place: ReadPlace, flags: ExportFlags): Promise<void> {
  const { session } = flags;
  const fullEvents = fullEventWriter(place, flags);
  const written = new Set<string>();
  for (let afterId = 0; ; ) {
    const events = await place.ledger.events({ afterId, max: PAGE, ...(session !== undefined && { session }) });
    if (events.length === 0) {
      if (afterId === 0 && session !== undefined) tell(`nothing is recorded${filterText({ "--session": session })}`);
      return fullEvents.end();
    }
    for (const event of events) {
      afterId = event.id;
      const isNew = event.artifact !== null && !written.has(event.artifact);
      if (isNew && event.artifact !== null) written.add(event.artifact);
      await (isNew ? fullEvents.write(event) : writeJson({ ...event, text: null }));
    }
  }
}
