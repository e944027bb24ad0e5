import type { Artifact } from "../../../contract/store.ts";
import { badInput } from "../../../errors.ts";
import { createSpillway, type SearchPage, type SearchQuery } from "../../../index.ts";
import { definedOnly } from "../../../stages/policy/check-row.ts";
import { NUMBERS } from "../../../stages/policy/defaults.ts";
import { counted } from "../../../values.ts";
import { timeText } from "../amounts.ts";
import type { Command } from "../command.ts";
import { wholeNumber } from "../flags.ts";
import { addPlaceFlag, type PlaceFlags, type ReadPlace, readPlace, resolveId } from "../open-place.ts";
import { addScreenFlags, harmless, onScreen, type Paint, type Paints, type ScreenFlags } from "../screen.ts";
import { startStatus } from "../status-line.ts";
import { cell } from "../table.ts";
import { EXIT_NO, FAULTS, tell } from "../tell.ts";
import { readsHere, writeEnded, writeJson, writeOut } from "../write-out.ts";

interface SearchFlags extends PlaceFlags, ScreenFlags {
  context?: number;
  ignoreCase?: boolean;
  fixedStrings?: boolean;
  max?: number;
  from?: number;
  session?: string;
  all?: boolean;
  json?: boolean;
}

/** `spillway search`: finds a pattern in an artifact. */
export function addSearchCommand(program: Command): void {
  const command = program
    .command("search")
    .description("find a pattern in a saved output, in those of a session, or in all")
    .argument("[id]", "the artifact, as the marker names it; its first 6 characters are enough, and last is the newest")
    .argument("[pattern]", "a regular expression; after -- if it begins with a dash")
    .usage(
      "[options] <id> <pattern>\n       spillway search [options] --session <name> <pattern>\n       spillway search [options] --all <pattern>",
    );
  addScreenFlags(addPlaceFlag(command))
    .option(
      "-C, --context <n>",
      `lines before and after each match (default ${NUMBERS.searchContext.default})`,
      wholeNumber("--context"),
    )
    .option("-i, --ignore-case", "treat capital and small letters as the same")
    .option("-F, --fixed-strings", "take the pattern as plain text")
    .option("--max <n>", "show at most this many matching lines; all of them are counted", wholeNumber("--max"))
    .option("--from <line>", "show matches from this line on", wholeNumber("--from"))
    .option("--session <name>", "search all outputs of this session, the newest first, in place of one")
    .option("--all", "search all saved outputs, the newest first, in place of one")
    .option("--json", "print one JSON object, { total, matches, next }; of several outputs, { outputs }")
    .notes(`
Ends with 0 if something was found, with 1 if not.

Examples:
  spillway search k3v7q2m4x5ya "error|warning" -C 2
  spillway search k3v7q2 -F "a[0]" --max 10
  spillway search k3v7q2 timeout --json | jq .total
  spillway search --session s1 "panic:"`)
    .action((first: string | undefined, second: string | undefined, flags: SearchFlags) => {
      const isMany = flags.session !== undefined || flags.all === true;
      const [id, pattern] = isMany ? [undefined, first] : [first, second];
      if (pattern === undefined || (isMany && second !== undefined)) {
        const got = [first, second].filter((each) => each !== undefined).length;
        const expected = isMany
          ? "one pattern and no id with --session or --all"
          : "an id and a pattern (last is the newest id), or --all and a pattern";
        throw badInput(`search takes ${expected}; got ${counted(got, "argument")}`);
      }
      const { context, max, from, ignoreCase = false, fixedStrings: literal = false } = flags;
      const query: SearchQuery = { pattern, literal, ignoreCase, ...definedOnly({ context, max, from }) };
      return onScreen(flags, ({ paints }) =>
        readPlace(flags, (place) =>
          id === undefined ? searchMany(place, query, flags, paints) : searchOne(place, id, query, flags, paints),
        ),
      );
    });
}

async function searchOne(
  place: ReadPlace,
  typed: string,
  query: SearchQuery,
  { json }: SearchFlags,
  paints: Paints,
): Promise<void> {
  const { store, ledger, options } = place;
  const spillway = await createSpillway({ ...options, store, ledger, env: {}, logger: FAULTS });
  const page = await spillway.search(await resolveId(place, typed), query, { reads: readsHere() });
  // The note is written for a tool's arguments; here the next page is a flag.
  const note = page.note.replace(/; next: from line (\d+)\]$/, "; next: --from $1]");
  await (json ? writeJson(page) : writeEnded(await pageText({ ...page, note }, query, paints)));
  if (page.total === 0) process.exitCode = EXIT_NO;
}

/** Outputs that are searched by one call; the rest is said. */
const MOST_OUTPUTS = 1000;

/** Searches several outputs, each under a line that says which it is. */
async function searchMany(
  place: ReadPlace,
  query: SearchQuery,
  { session, json }: SearchFlags,
  paints: Paints,
): Promise<void> {
  const { store, scope, options } = place;
  // A person who looks through everything has not read each output back.
  const spillway = await createSpillway({ ...options, store, ledger: null, env: {}, logger: FAULTS });
  const listed = await store.list({ scope, max: MOST_OUTPUTS, ...(session !== undefined && { session }) });
  // The same bytes may have been saved by several sessions.
  const artifacts = [...new Map(listed.map((artifact) => [artifact.id, artifact])).values()];
  const outputs: (SearchPage & Pick<Artifact, "id" | "command" | "session">)[] = [];
  let done = 0;
  const status = startStatus((seconds) => `searching ${seconds}, ${done} of ${counted(artifacts.length, "output")}`);
  for (const { id, command, session, tool, createdAtMs } of artifacts) {
    const page = await spillway.search(id, query);
    done += 1;
    if (page.total === 0) continue;
    outputs.push({ ...page, id, command, session });
    if (json) continue;
    const what = [id, timeText(createdAtMs), cell(command ?? tool), ...(session === null ? [] : [cell(session)])];
    await writeOut(`${paints.bold(what.join("  "))}\n${(await pageText(page, query, paints)).trimEnd()}\n\n`);
  }
  status.stop();
  if (json) await writeJson({ outputs });
  if (listed.length === MOST_OUTPUTS) tell(`only the newest ${MOST_OUTPUTS} outputs were searched`);
  if (outputs.length > 0) return;
  const where = session === undefined ? "" : ` of session "${cell(session)}"`;
  if (!json) tell(`not found in ${counted(artifacts.length, "output")}${where}`);
  process.exitCode = EXIT_NO;
}

/** The page as people read it: what matches is painted, and our note is dimmed. */
async function pageText(page: SearchPage, query: SearchQuery, { dim, red }: Paints): Promise<string> {
  const { searchText } = await import("../../../recall/index.ts");
  if (dim("-") === "-") return harmless(searchText(page));
  const painted = await paintMatches(page.matches, query, red);
  const text = searchText({ ...page, matches: painted, note: "" }).replaceAll(/^\d+[-:]/gm, dim);
  return harmless(text) + dim(page.note);
}

/** If painting takes longer, the pattern backtracks, as ripgrep's do not, and the matches are left unpainted. */
const PAINT_MS = 200;

async function paintMatches(
  matches: SearchPage["matches"],
  { pattern, literal, ignoreCase }: SearchQuery,
  paint: Paint,
): Promise<SearchPage["matches"]> {
  const { runInNewContext } = await import("node:vm");
  const source = literal ? pattern.replaceAll(/[$()*+.?[\\\]^{|}]/g, "\\$&") : pattern;
  const known = { texts: matches.map(({ text }) => text), source, flags: ignoreCase ? "giu" : "gu", paint };
  const script = "texts.map((text) => text.replace(new RegExp(source, flags), (found) => paint(found)))";
  try {
    const texts: string[] = runInNewContext(script, known, { timeout: PAINT_MS });
    return matches.map((match, index) => ({ ...match, text: texts[index] ?? match.text }));
  } catch {
    return matches; // or JavaScript does not know the pattern
  }
}
