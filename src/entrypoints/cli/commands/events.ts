import type { Command } from "commander";
import type { EventQuery } from "../../../contract/ledger.ts";
import { describeEvent } from "../describe-event.ts";
import { filterText } from "../filter-text.ts";
import { fullEventWriter, LEFT_OUT } from "../full-events.ts";
import { addPlaceFlag, followPlace, type PlaceFlags, type ReadPlace, readPlace } from "../open-place.ts";
import { tell } from "../tell.ts";
import { writeJson, writeOut } from "../write-out.ts";

interface EventsFlags extends PlaceFlags {
  follow?: boolean;
  session?: string;
  tool?: string;
  full?: boolean;
  json?: boolean;
}

const PAGE = 500;
const LOOK_MS = 250;

/** `spillway events`: what happened, oldest first. */
export function addEventsCommand(program: Command): void {
  addPlaceFlag(program.command("events").description("print what happened, oldest first"))
    .option("-f, --follow", "go on with what happens from now on, until interrupted")
    .option("--session <name>", "only of this session")
    .option("--tool <name>", "only of this tool")
    .option("--full", "JSON, each with its artifact's text")
    .option("--json", "print one JSON object for each line")
    .addHelpText(
      "after",
      `\n--full: ${LEFT_OUT}\n\nExamples:\n  spillway events --session s1\n  spillway events --follow --json | jq .kind`,
    )
    .action((flags: EventsFlags) => {
      const open = flags.follow ? followPlace : readPlace;
      return open(flags, (place) => printEvents(place, flags));
    });
}

async function printEvents(place: ReadPlace, flags: EventsFlags): Promise<void> {
  const { session, tool, follow = false, full = false, json = false } = flags;
  const query: EventQuery = {
    max: PAGE,
    ...(session !== undefined && { session }),
    ...(tool !== undefined && { tool }),
  };
  const fullEvents = fullEventWriter(place.store, flags);
  const wait = new AbortController();
  const stop = () => wait.abort();
  if (follow) for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(name, stop);
  for (let afterId = 0; !wait.signal.aborted; ) {
    const events = await place.ledger.events({ ...query, afterId });
    for (const event of events) {
      afterId = event.id;
      if (full) await fullEvents.write(event);
      else await (json ? writeJson(event) : writeOut(describeEvent(event)));
    }
    if (events.length > 0) continue;
    if (!follow) {
      const filters = filterText({ "--session": session, "--tool": tool });
      if (afterId === 0 && filters !== "") tell(`nothing is recorded${filters}`);
      break;
    }
    const { setTimeout } = await import("node:timers/promises");
    await setTimeout(LOOK_MS, null, { signal: wait.signal }).catch(() => {});
  }
  fullEvents.end();
}
