import { createSpillway } from "../../../index.ts";
import type { Command } from "../command.ts";
import { addPlaceFlag, LAST, type PlaceFlags, type ReadPlace, readPlace, resolveId } from "../open-place.ts";
import { addScreenFlags, harmless, onScreen, type Paints, type ScreenFlags } from "../screen.ts";
import { EXIT_NO } from "../tell.ts";
import { readsHere, writeJson, writeOut } from "../write-out.ts";

interface DiffFlags extends PlaceFlags, ScreenFlags {
  last?: boolean;
  json?: boolean;
}

/** `spillway diff`: what changed between two runs. */
export function addDiffCommand(program: Command): void {
  const command = program
    .command("diff")
    .description("print what is new, what is gone and which counts moved between two runs")
    .argument("[before]", "the earlier output; its first 6 characters are enough")
    .argument("[after]", "the later output, or last for the newest")
    .usage("[options] <before> <after>\n       spillway diff [options] [after]");
  addScreenFlags(addPlaceFlag(command))
    .option("--last", "compare with the last run of the same command, even if it failed")
    .option("--json", "print one JSON object, { before, after, added, gone, moved, total }")
    .notes(`
If you name one output, it is compared with the last good run of the same command in the same folder. If you name none, the
newest output is.
Times, durations, addresses, temporary paths and the order of lines do not count as changes.
Ends with 0 if nothing changed, with 1 if something did.

Examples:
  spillway diff
  spillway diff k3v7q2 last
  spillway diff last --last --json | jq .total`)
    .action((first: string | undefined, second: string | undefined, flags: DiffFlags) =>
      onScreen(flags, ({ paints }) =>
        readPlace(flags, (place) =>
          second === undefined
            ? printChanges(place, first ?? LAST, undefined, flags, paints)
            : printChanges(place, second, first, flags, paints),
        ),
      ),
    );
}

async function printChanges(
  place: ReadPlace,
  after: string,
  before: string | undefined,
  flags: DiffFlags,
  { dim, green, red }: Paints,
): Promise<void> {
  const { store, ledger, options } = place;
  const spillway = await createSpillway({ ...options, store, ledger, env: {} });
  const usual = flags.last ? "last" : undefined;
  const against = before === undefined ? usual : await resolveId(place, before);
  const page = await spillway.since(await resolveId(place, after), {
    reads: readsHere(),
    against,
    maxChars: Number.MAX_SAFE_INTEGER,
  });
  const { text, ...changes } = page;
  const { added, gone, moved, same } = page.total;
  // Runs that are binary have no lines to compare.
  const isOther = same === 0 && page.before.id !== page.after.id;
  process.exitCode = added + gone + moved > 0 || isOther ? EXIT_NO : 0;
  if (flags.json) return writeJson(changes);
  const paintOf = (line: string) =>
    /^\+\d/.test(line) ? green : /^-\d/.test(line) ? red : line[0] === "[" ? dim : null;
  const lines = harmless(text).split("\n");
  await writeOut(`${lines.map((line) => paintOf(line)?.(line) ?? line).join("\n")}\n`);
}
