import { InvalidArgumentError } from "commander";
import type { Artifact } from "../../../contract/store.ts";
import { definedOnly } from "../../../stages/policy/check-row.ts";
import { grouped } from "../../../values.ts";
import { shortTimeText, sizeText, timeText } from "../amounts.ts";
import type { Command } from "../command.ts";
import { wholeNumber } from "../flags.ts";
import { addPlaceFlag, LOCAL_SCOPE, type PlaceFlags, placeText, type ReadPlace, readPlace } from "../open-place.ts";
import { addScreenFlags, onScreen, type Screen, type ScreenFlags } from "../screen.ts";
import { alignTable, cell, filterText } from "../table.ts";
import { tell } from "../tell.ts";
import { writeJson, writeOut } from "../write-out.ts";

interface LsFlags extends PlaceFlags, ScreenFlags {
  session?: string;
  limit?: number;
  before?: number;
  json?: boolean;
}

/** The most that the store gives at once. */
const PAGE = 1000;

/** `spillway ls`: what is saved. */
export function addLsCommand(program: Command): void {
  addScreenFlags(addPlaceFlag(program.command("ls").description("list saved outputs, newest first")))
    .option("--session <name>", "list only outputs of this session")
    .option("--limit <n>", "list at most this many (default 1000)", wholeNumber("--limit"))
    .option("--before <time>", "list only outputs saved before this: a date, or `next` of the page before", readTime)
    .option("--json", "print one JSON object, { artifacts, next }")
    .notes(`
Examples:
  spillway ls
  spillway ls --session s1 --json | jq -r '.artifacts[].id'
  spillway ls --limit 50 --before 2026-03-01`)
    .action((flags: LsFlags) => onScreen(flags, (screen) => readPlace(flags, (place) => list(place, flags, screen))));
}

async function list(place: ReadPlace, flags: LsFlags, { paints, width }: Screen): Promise<void> {
  const { store, scope } = place;
  const { session, limit = PAGE, before, json } = flags;
  const artifacts: Artifact[] = [];
  // One more than asked for is read, to know whether there is a next page.
  for (let beforeMs = before; artifacts.length <= limit; beforeMs = artifacts.at(-1)?.createdAtMs) {
    const max = Math.min(PAGE, limit + 1 - artifacts.length);
    const page = await store.list({ scope, max, ...definedOnly({ session, beforeMs }) });
    artifacts.push(...page);
    if (page.length < max) break;
  }
  const shown = artifacts.slice(0, limit);
  const next = artifacts.length > limit ? (shown.at(-1)?.createdAtMs ?? before ?? null) : null;
  if (json) return writeJson({ artifacts: shown, next });
  if (artifacts.length === 0) {
    const where = scope === LOCAL_SCOPE ? "here" : `in ${placeText(place)}`;
    return tell(`nothing is saved ${where}${filterText({ "--session": session, "--before": before })}`);
  }
  const paint = (text: string, row: number, column: number) =>
    row === 0 ? paints.bold : column === EXIT && text !== "0" && text !== "-" ? paints.red : undefined;
  const rows = [[...HEAD], ...shown.map((artifact) => rowOf(artifact, width === null ? timeText : shortTimeText))];
  // On a terminal, room goes to the command.
  if (width !== null && rows.every((row, at) => at === 0 || row[SESSION] === "-"))
    for (const row of rows) row.splice(SESSION, 1);
  await writeOut(alignTable(rows, new Set([2, 3, EXIT]), { width, cuts: [5, 6, 7], drops: [5, 3, 1], paint }));
  if (next !== null) tell(`there are more: --before ${next}`);
}

const HEAD = ["ID", "SAVED AT", "SIZE", "LINES", "EXIT", "TOOL", "SESSION", "COMMAND"];
const EXIT = 4;
const SESSION = 6;

/** Enough to know a command again; `show` has all of it. */
const COMMAND_CHARS = 60;

function rowOf(artifact: Artifact, timeOf: (atMs: number) => string): string[] {
  const { id, createdAtMs, bytes, lines, exitCode, tool, session, saved, command } = artifact;
  const part = saved === "partial" ? " (in part)" : "";
  const size = [sizeText(bytes), grouped(lines), exitCode === null ? "-" : String(exitCode)];
  return [id, timeOf(createdAtMs), ...size, cell(tool), `${cell(session)}${part}`, cell(command, COMMAND_CHARS)];
}

/** Reads milliseconds, as `next` has them, or a date. */
function readTime(text: string): number {
  const atMs = /^\d{12,15}$/.test(text) ? Number(text) : Date.parse(text);
  if (Number.isFinite(atMs)) return atMs;
  throw new InvalidArgumentError(`--before takes a date, such as 2026-03-01 or 2026-03-01T12:30; got "${text}"`);
}
