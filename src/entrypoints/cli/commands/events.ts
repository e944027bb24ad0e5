import type { RecordedEvent } from "../../../contract/event.ts";
import type { EventQuery } from "../../../contract/ledger.ts";
import { definedOnly } from "../../../stages/policy/check-row.ts";
import { counted, grouped } from "../../../values.ts";
import { sizeText, timeText } from "../amounts.ts";
import type { Command } from "../command.ts";
import { fullEventWriter, LEFT_OUT } from "../full-events.ts";
import { addPlaceFlag, followPlace, type PlaceFlags, type ReadPlace, readPlace } from "../open-place.ts";
import { addScreenFlags, onScreen, type Paints, type ScreenFlags } from "../screen.ts";
import { cell, filterText } from "../table.ts";
import { tell } from "../tell.ts";
import { writeJson, writeOut } from "../write-out.ts";

interface EventsFlags extends PlaceFlags, ScreenFlags {
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
  addScreenFlags(addPlaceFlag(program.command("events").description("print what happened, oldest first")))
    .option("-f, --follow", "also print what happens from now on, until interrupted")
    .option("--session <name>", "print only events of this session")
    .option("--tool <name>", "print only events of this tool")
    .option("--full", "print JSON, and the saved text with each event")
    .option("--json", "print each event as one line of JSON")
    .notes(`
--full: ${LEFT_OUT}

Examples:
  spillway events --session s1
  spillway events --follow --json | jq .kind`)
    .action((flags: EventsFlags) => {
      const open = flags.follow ? followPlace : readPlace;
      // What is followed has no end, so that a pager would show nothing.
      const screenFlags = flags.follow ? { ...flags, pager: false } : flags;
      return onScreen(screenFlags, ({ paints }) => open(flags, (place) => printEvents(place, flags, paints)));
    });
}

async function printEvents(place: ReadPlace, flags: EventsFlags, { dim }: Paints): Promise<void> {
  const { session, tool, follow = false, full = false, json = false } = flags;
  const query: EventQuery = { max: PAGE, ...definedOnly({ session, tool }) };
  const fullEvents = fullEventWriter(place, flags);
  const wait = new AbortController();
  const stop = () => wait.abort();
  if (follow) for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(name, stop);
  for (let afterId = 0; !wait.signal.aborted; ) {
    const events = await place.ledger.events({ ...query, afterId });
    for (const event of events) {
      afterId = event.id;
      if (full) await fullEvents.write(event);
      else await (json ? writeJson(event) : writeOut(describeEvent(event).replace(/^[\d-]+ [\d:]+/, dim)));
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

/** A reason gets more room than a name. */
const MAX_FAULT_CHARS = 300;

/** An event on one line, for people. */
export function describeEvent(event: RecordedEvent): string {
  const { receipt, artifact, more } = event;
  const what: string[] = [];
  if (receipt !== null) {
    what.push(`${sizeText(receipt.total.bytes)}, ${counted(receipt.total.lines, "line")}`);
    if (receipt.cutBy !== null) what.push(`cut by ${receipt.cutBy} to ${sizeText(receipt.shown.bytes)}`);
    if (receipt.exitCode !== null) what.push(`exit code ${receipt.exitCode}`);
  } else if (typeof more?.["bytes"] === "number") what.push(sizeText(more["bytes"]));
  what.push(...requestTexts(more ?? {}));
  if (typeof more?.["command"] === "string") what.push(cell(more["command"]));
  if (typeof more?.["reason"] === "string") what.push(cell(more["reason"]));
  const faults: unknown = receipt?.faults ?? more?.["faults"] ?? (more?.["fault"] ? [more["fault"]] : []);
  if (Array.isArray(faults)) what.push(...faults.map((fault) => cell(String(fault), MAX_FAULT_CHARS)));
  if (artifact !== null) what.push(`artifact ${artifact}`);
  const names = [event.session, event.tool].map((name) => cell(name)).join("  ");
  return `${timeText(event.atMs)}  ${event.kind.padEnd(18)}  ${names}  ${what.join("; ")}`.trimEnd().concat("\n");
}

/** What an event says of a request that was made smaller: which step, from how much to how much, and why. */
function requestTexts({
  rung,
  freedTokens,
  leftTokens,
  fromTokens,
  estimatedTokens,
  sends,
  why,
  ...more
}: More): string[] {
  const texts: string[] = [];
  const from = fromTokens ?? tokensOf(more["before"]);
  const to = fromTokens === undefined ? tokensOf(more["after"]) : estimatedTokens;
  if (typeof rung === "string") texts.push(cell(rung));
  if (typeof freedTokens === "number") texts.push(`${counted(freedTokens, "token")} freed`);
  if (typeof leftTokens === "number") texts.push(`${grouped(leftTokens)} left`);
  if (typeof from === "number" && typeof to === "number") texts.push(`${grouped(from)} -> ${counted(to, "token")}`);
  else if (typeof estimatedTokens === "number") texts.push(counted(estimatedTokens, "token"));
  if (typeof more["inputTokens"] === "number" && typeof more["outputTokens"] === "number")
    texts.push(`${counted(more["inputTokens"], "token")} in, ${grouped(more["outputTokens"])} out`);
  if (typeof sends === "number") texts.push(`sent ${counted(sends, "time")}`);
  if (typeof why === "string") texts.push(cell(why, MAX_FAULT_CHARS));
  return texts;
}

type More = Record<string, unknown>;

function tokensOf(weight: unknown): unknown {
  return typeof weight === "object" && weight !== null && "tokens" in weight ? weight.tokens : undefined;
}
