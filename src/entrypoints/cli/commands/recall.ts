import { createHash } from "node:crypto";
import { InvalidArgumentError } from "commander";
import { badInput, SpillwayError } from "../../../errors.ts";
import { createSpillway } from "../../../index.ts";
import type { RecallWant } from "../../../recall/index.ts";
import { definedOnly } from "../../../stages/policy/check-row.ts";
import { NUMBERS } from "../../../stages/policy/defaults.ts";
import { counted, grouped } from "../../../values.ts";
import type { Command } from "../command.ts";
import { wholeNumber } from "../flags.ts";
import { addPlaceFlag, type PlaceFlags, type ReadPlace, readArtifact, readPlace, resolveId } from "../open-place.ts";
import { addScreenFlags, dimMarkers, harmless, onScreen, type Paints, type ScreenFlags } from "../screen.ts";
import { tell } from "../tell.ts";
import { readsHere, writeEnded, writeJson, writeOut } from "../write-out.ts";

interface RecallFlags extends PlaceFlags, ScreenFlags {
  lines?: [number, number];
  bytes?: [number, number];
  head?: number;
  tail?: number;
  around?: number;
  raw?: boolean;
  json?: boolean;
}

const CONTEXT_LINES = NUMBERS.recallContext.default;

/** `spillway recall`: reads part of an artifact back. */
export function addRecallCommand(program: Command): void {
  const command = program
    .command("recall")
    .description("read part of a saved output")
    .argument(
      "<id>",
      "the artifact, as the marker names it; its first 6 characters are enough, and last is the newest",
    );
  addScreenFlags(addPlaceFlag(command))
    .option("--lines <a-b>", "read these lines, counted from 1, both included (also 120 or 120-)", readRange("--lines"))
    .option("--bytes <a-b>", "read these bytes, counted from 0, the last not included", readRange("--bytes"))
    .option("--head <n>", "read this many lines at the start", wholeNumber("--head"))
    .option("--tail <n>", "read this many lines at the end", wholeNumber("--tail"))
    .option("--around <line>", `read a line and the ${CONTEXT_LINES} before and after it`, wholeNumber("--around"))
    .option("--raw", "print exactly the saved bytes, without a limit or a note")
    .option("--json", "print one JSON object, { text, lines, bytes, total, next, note ... }")
    .notes(`
A page is bounded; its last line says which part it is and how to go on. --raw is not bounded, and takes --lines and
the like too.

Examples:
  spillway recall k3v7q2m4x5ya --lines 120-180
  spillway recall k3v7q2 --tail 50
  spillway recall k3v7q2 --around 4211
  spillway recall k3v7q2 --raw | sort | uniq -c`)
    .action((id: string, flags: RecallFlags) =>
      onScreen(flags, ({ paints }) => readPlace(flags, (place) => recallPart(place, id, flags, paints))),
    );
}

async function recallPart(place: ReadPlace, typed: string, flags: RecallFlags, paints: Paints): Promise<void> {
  const wants = wantsOf(flags);
  if (wants.length > 1) {
    throw badInput("--lines, --bytes, --head, --tail and --around exclude each other: give one");
  }
  if (flags.raw && flags.json) throw badInput("--raw and --json exclude each other: give one");
  const id = await resolveId(place, typed);
  const { store, ledger, options } = place;
  const spillway = await createSpillway({ ...options, store, ledger, env: {} });
  if (flags.raw) {
    await spillway.artifact(id, { reads: readsHere() });
    return writeRaw(place, id, wants[0]);
  }
  const page = await spillway.recall(id, wants[0], { reads: readsHere() });
  const { recallText } = await import("../../../recall/index.ts");
  const note = page.note
    .replace(/; next: (line|byte)s? ([\d-]+)\]$/, "; next: --$1s $2]")
    .replaceAll(/(?<= of )\d+/g, (total) => grouped(Number(total)));
  if (flags.json) return writeJson(page);
  // Only the note is ours: the artifact may have lines that look like it.
  const text = recallText({ ...page, note });
  await writeEnded(harmless(text.slice(0, text.length - note.length)) + dimMarkers(note, paints));
}

function wantsOf({ lines, bytes, head, tail, around: line }: RecallFlags): RecallWant[] {
  const around = line === undefined ? undefined : { line };
  const given = Object.entries(definedOnly({ lines, bytes, head, tail, around }));
  return given.map(([name, value]) => ({ [name]: value }) as unknown as RecallWant);
}

async function writeRaw(place: ReadPlace, id: string, want: RecallWant | undefined): Promise<void> {
  const { store, scope } = place;
  const artifact = await store.find(id, scope);
  const lines = artifact?.lines ?? 0;
  let range = { from: 0, to: artifact?.bytes ?? 0 };
  if (want !== undefined && "bytes" in want) range = { from: want.bytes[0], to: Math.min(want.bytes[1], range.to) };
  else if (want !== undefined) {
    const span = spanOf(want, lines);
    range = span[1] < span[0] ? { from: 0, to: 0 } : ((await store.locate(id, scope, span)) ?? range);
  }
  const isPastEnd = want !== undefined && range.to <= range.from && artifact !== null && artifact.bytes > 0;
  // Standard output is exactly the saved bytes, and there are none.
  if (isPastEnd) tell(`nothing: the artifact has ${counted(lines, "line")}, ${counted(artifact.bytes, "byte")}`);
  const end = want !== undefined && "lines" in want ? want.lines[1] : 0;
  if (!isPastEnd && end > lines && end < Number.MAX_SAFE_INTEGER) tell(`the artifact ends at line ${lines}`);
  const isWhole = artifact !== null && range.from === 0 && range.to === artifact.bytes;
  const hash = createHash("sha256");
  for await (const chunk of readArtifact(place, id, range)) {
    if (isWhole) hash.update(chunk);
    await writeOut(chunk);
  }
  // All bytes pass here, so damage is found, and the reader is told that these are not the saved bytes.
  if (isWhole && hash.digest("hex") !== artifact.sha256) {
    const message = `artifact ${id} is damaged: these are not the bytes that were saved. Run: spillway verify`;
    throw new SpillwayError("store-damaged", message);
  }
}

/** The wanted lines, given how many there are. */
function spanOf(want: Exclude<RecallWant, { bytes: unknown }>, lines: number): [number, number] {
  if ("lines" in want) return want.lines;
  if ("head" in want) return [1, want.head];
  if ("tail" in want) return [Math.max(1, lines - want.tail + 1), lines];
  const line = "line" in want.around ? want.around.line : 1;
  return line > lines ? [line, line] : [Math.max(1, line - CONTEXT_LINES), Math.min(line + CONTEXT_LINES, lines)];
}

function readRange(flag: string): (text: string) => [number, number] {
  return (text) => {
    const [, first = "", dash = "", last = ""] = /^(\d{1,15})\s*([-:,]?)\s*(\d{0,15})$/.exec(text.trim()) ?? [];
    if (first === "") throw new InvalidArgumentError(`${flag} takes two numbers, such as 120-180; got "${text}"`);
    const from = Number(first);
    if (dash === "") return [from, flag === "--bytes" ? from + 1 : from];
    return [from, last === "" ? Number.MAX_SAFE_INTEGER : Number(last)];
  };
}
