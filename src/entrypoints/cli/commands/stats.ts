import type { Command } from "commander";
import { Option } from "commander";
import type { StatQuery, StatRow } from "../../../contract/ledger.ts";
import { NUMBERS } from "../../../stages/policy/defaults.ts";
import { deriveRates, type Rates } from "../../../stages/record/derive-rates.ts";
import { grouped } from "../../../values.ts";
import { readDuration, sizeText } from "../amounts.ts";
import { readShare } from "../flags.ts";
import { addPlaceFlag, type PlaceFlags, type ReadPlace, readPlace } from "../open-place.ts";
import { alignTable, cell, filterText } from "../table.ts";
import { tell } from "../tell.ts";
import { writeJson, writeOut } from "../write-out.ts";

interface StatsFlags extends PlaceFlags {
  by: "tool" | "session";
  session?: string;
  since?: number;
  flagAbove: number;
  json?: boolean;
}

const NUMBER_COLUMNS = new Set([1, 2, 3, 4, 5, 6, 7]);
const HEAD = ["CALLS", "CUT", "BYTES IN", "SHOWN", "TOKENS SAVED", "CUT RATE", "RECALLS"];

/** `spillway stats`: sums for each tool or session. */
export function addStatsCommand(program: Command): void {
  addPlaceFlag(
    program.command("stats").description("print how much tools gave, and how much of it was shown and saved"),
  )
    .addOption(new Option("--by <what>", "what each row is about").choices(["tool", "session"]).default("tool"))
    .option("--session <name>", "count only this session")
    .option("--since <time>", "count only from this long ago until now, by the hour (1d, 12h)", readDuration)
    .option(
      "--flag-above <share>",
      "flag rows in which a larger share of calls is cut, 0 to 1",
      readShare("--flag-above"),
      NUMBERS.truncationFlagShare.default,
    )
    .option("--json", "print one JSON object, { rows, all }")
    .addHelpText(
      "after",
      `
A rate with ! is above --flag-above: the limits of that tool deserve a look. TOKENS SAVED is net: what was read back is taken off, and what the host would have cut anyway is not counted.

Examples:
  spillway stats
  spillway stats --by session --since 1d --json`,
    )
    .action((flags: StatsFlags) => readPlace(flags, (place) => printStats(place, flags)));
}

async function printStats({ ledger }: ReadPlace, { by, session, since, flagAbove, json }: StatsFlags): Promise<void> {
  const query: Omit<StatQuery, "by"> = {
    ...(session !== undefined && { session }),
    ...(since !== undefined && { sinceMs: Date.now() - since }),
  };
  const withRates = (row: StatRow): RatedRow => ({ ...row, ...deriveRates(row, flagAbove) });
  const rows = (await ledger.stats({ ...query, by })).map(withRates);
  const all = (await ledger.stats({ ...query, by: "all" })).map(withRates)[0] ?? null;
  if (json) return writeJson({ by, rows, all });
  if (rows.length === 0) {
    tell(`nothing is recorded${filterText({ "--session": session, "--since": since }) || " yet"}`);
  } else {
    const table = [[by.toUpperCase(), ...HEAD], ...rows.map((row) => columns(cell(row[by]), row))];
    if (all !== null) table.push(columns("all", all));
    await writeOut(alignTable(table, NUMBER_COLUMNS));
  }
}

type RatedRow = StatRow & Rates;

function columns(name: string, row: RatedRow): string[] {
  return [
    name,
    grouped(row.calls),
    grouped(row.cutCalls),
    sizeText(row.bytesIn),
    sizeText(row.bytesShown),
    grouped(row.tokensSaved),
    `${(row.truncationRate * 100).toFixed(1)} %${row.cutsTooOften ? " !" : "  "}`,
    grouped(row.recalls),
  ];
}
