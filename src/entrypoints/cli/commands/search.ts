import type { Command } from "commander";
import { createSpillway } from "../../../index.ts";
import { NUMBERS } from "../../../stages/policy/defaults.ts";
import { wholeNumber } from "../flags.ts";
import { addPlaceFlag, type PlaceFlags, type ReadPlace, readPlace, resolveId } from "../open-place.ts";
import { writeJson, writeText } from "../write-out.ts";

interface SearchFlags extends PlaceFlags {
  context?: number;
  ignoreCase?: boolean;
  fixedStrings?: boolean;
  max?: number;
  from?: number;
  json?: boolean;
}

/** The exit code if nothing matched, as of grep. */
const EXIT_NOT_FOUND = 1;

/** `spillway search`: finds a pattern in an artifact. */
export function addSearchCommand(program: Command): void {
  const command = program
    .command("search")
    .description("find a pattern in a saved output")
    .argument("<id>", "the artifact, as the marker names it; its first 6 characters are enough")
    .argument("<pattern>", "a regular expression; after -- if it begins with a dash");
  addPlaceFlag(command)
    .option(
      "-C, --context <n>",
      `lines before and after each match (default ${NUMBERS.searchContext.default})`,
      wholeNumber("--context"),
    )
    .option("-i, --ignore-case", "treat capital and small letters as the same")
    .option("-F, --fixed-strings", "take the pattern as plain text")
    .option("--max <n>", "show at most this many matching lines; all of them are counted", wholeNumber("--max"))
    .option("--from <line>", "show matches from this line on", wholeNumber("--from"))
    .option("--json", "print one JSON object, { total, matches, next }")
    .addHelpText(
      "after",
      `
Ends with 0 if something was found, with 1 if not.

Examples:
  spillway search k3v7q2m4x5ya "error|warning" -C 2
  spillway search k3v7q2 -F "a[0]" --max 10
  spillway search k3v7q2 timeout --json | jq .total`,
    )
    .action((id: string, pattern: string, flags: SearchFlags) =>
      readPlace(flags, (place) => searchArtifact(place, id, pattern, flags)),
    );
}

async function searchArtifact(place: ReadPlace, typed: string, pattern: string, flags: SearchFlags): Promise<void> {
  const { context, max, from, ignoreCase = false, fixedStrings: literal = false } = flags;
  const { store, ledger, options } = place;
  const page = await (await createSpillway({ ...options, store, ledger, env: {} })).search(
    await resolveId(place, typed),
    {
      pattern,
      literal,
      ignoreCase,
      ...(context !== undefined && { context }),
      ...(max !== undefined && { max }),
      ...(from !== undefined && { from }),
    },
  );
  const { searchText } = await import("../../../recall/index.ts");
  // The note is written for a tool's arguments; here the next page is a flag.
  const note = page.note.replace(/; next: from line (\d+)\]$/, "; next: --from $1]");
  await (flags.json ? writeJson(page) : writeText(searchText({ ...page, note })));
  if (page.total === 0) process.exitCode = EXIT_NOT_FOUND;
}
