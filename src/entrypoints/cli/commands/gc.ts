import { definedOnly } from "../../../stages/policy/check-row.ts";
import { NUMBERS } from "../../../stages/policy/defaults.ts";
import { counted, grouped } from "../../../values.ts";
import { readBytes, readDuration, sizeText, timeText } from "../amounts.ts";
import { type Command, writeLines } from "../command.ts";
import { addPlaceFlag, type Place, type PlaceFlags, withPlace } from "../open-place.ts";
import { withStatus } from "../status-line.ts";
import { alignTable } from "../table.ts";
import { writeJson, writeOut } from "../write-out.ts";

interface GcFlags extends PlaceFlags {
  dryRun?: boolean;
  maxAge?: number;
  maxBytes?: number;
  maxSessionBytes?: number;
  retain?: number;
  json?: boolean;
}

/** No limits: everything is kept. */
const KEPT = { maxAgeMs: Infinity, maxBytes: Infinity, maxSessionBytes: Infinity, retainMs: undefined };

const WHY = { age: "too old", "session-bytes": "its session has too much", "total-bytes": "too much in all" };

/** `spillway gc`: removes what is too old or too large. */
export function addGcCommand(program: Command): void {
  addPlaceFlag(program.command("gc").description("remove what is too old or too large"))
    .option("--dry-run", "say what would be done, and do nothing")
    .option("--max-age <time>", "remove what is older than this (default 7d)", readDuration)
    .option("--max-bytes <size>", "remove the oldest outputs beyond this total (default 10GiB)", readBytes)
    .option("--max-session-bytes <size>", "remove a session's oldest outputs beyond this (default 1GiB)", readBytes)
    .option("--retain <time>", "keep everything of a session that was used within this time (default 1h)", readDuration)
    .option("--json", "print one JSON object, { collected, pruned }")
    .notes(`
This also happens by itself, once an hour, as outputs are kept. The defaults are your config's \`retention\`.

Examples:
  spillway gc --dry-run
  spillway gc --max-age 2d --max-bytes 1GiB`)
    .action((flags: GcFlags) => withPlace(flags, (place) => collect(place, flags)));
}

async function collect({ store, ledger, database, dir, retention, options }: Place, flags: GcFlags): Promise<void> {
  const { dryRun = false } = flags;
  // If the config keeps everything, only the flags set limits.
  const usual = retention === "off" ? KEPT : retention;
  const { maxAge = usual.maxAgeMs ?? NUMBERS.retainAgeMs.default, retain = usual.retainMs } = flags;
  const { maxBytes = usual.maxBytes, maxSessionBytes = usual.maxSessionBytes } = flags;
  const held = definedOnly({ retainMs: retain });
  const { pruneEvents } = await import("../../../storage/ledgers/prune-events.ts");
  const collected = await withStatus("looking for what is too old or too large", () =>
    store.collect({ dryRun, maxAgeMs: maxAge, ...definedOnly({ maxBytes, maxSessionBytes }), ...held }),
  );
  const pruned = await pruneEvents(database, { olderThanMs: maxAge, isDryRun: dryRun, ...held });
  const isPinned = async (session: string) => (await ledger.sessions({ session, max: 1 })).some(({ pinned }) => pinned);
  const { sweepRuns } = await import("../../../storage/event-files/run-directory.ts");
  const sweep = { maxAgeMs: maxAge, isPinned, isDryRun: dryRun };
  const runs = options.runs === undefined ? 0 : await sweepRuns(options.runs, sweep);
  if (flags.json) return writeJson({ dryRun, collected, pruned, runs });
  const would = dryRun ? "would be " : "";
  const rows = collected.artifacts.map((one) => [
    one.id,
    timeText(one.createdAtMs),
    sizeText(one.bytes),
    WHY[one.reason],
  ]);
  await writeOut(alignTable(rows, new Set([2])));
  const lines = [
    `${counted(collected.removed, "artifact")} ${would}removed (${sizeText(collected.removedBytes)}); ${grouped(collected.remaining)} (${sizeText(collected.remainingBytes)}) stay in ${dir}`,
    `${counted(collected.files.length, "file")} without an owner ${would}removed`,
    `${counted(pruned.events, "event")} and ${counted(pruned.projections, "projection")} ${would}removed`,
    ...(options.runs === undefined ? [] : [`${counted(runs, "run")} ${would}removed from ${options.runs}`]),
  ];
  await writeLines(lines);
}
