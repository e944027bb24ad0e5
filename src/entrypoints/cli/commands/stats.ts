import { Option } from "commander";
import type { StatQuery, StatRow } from "../../../contract/ledger.ts";
import { definedOnly } from "../../../stages/policy/check-row.ts";
import { NUMBERS } from "../../../stages/policy/defaults.ts";
import { deriveRates, LEAST_CUT, type Rates } from "../../../stages/record/derive-rates.ts";
import { counted, grouped } from "../../../values.ts";
import { readDuration, sizeText } from "../amounts.ts";
import type { Command } from "../command.ts";
import { readShare } from "../flags.ts";
import { addPlaceFlag, type PlaceFlags, type ReadPlace, readPlace } from "../open-place.ts";
import { addScreenFlags, onScreen, type Screen, type ScreenFlags } from "../screen.ts";
import { alignTable, cell, filterText } from "../table.ts";
import { tell } from "../tell.ts";
import { writeJson, writeOut } from "../write-out.ts";

interface StatsFlags extends PlaceFlags, ScreenFlags {
  by: "tool" | "session";
  session?: string;
  since?: number;
  flagAbove: number;
  json?: boolean;
  prometheus?: boolean;
}

const NUMBER_COLUMNS = new Set([1, 2, 3, 4, 5, 6, 7]);
const HEAD = ["CALLS", "CUT", "BYTES IN", "SHOWN", "TOKENS SAVED", "CUT RATE", "RECALLS"];

/** Under the table on a terminal, and short enough for a narrow one. */
const LEGEND = "! means cut too often. TOKENS SAVED is net of recalls.";

/** `spillway stats`: sums for each tool or session. */
export function addStatsCommand(program: Command): void {
  addScreenFlags(
    addPlaceFlag(
      program.command("stats").description("print how much tools gave, and how much of it was shown and saved"),
    ),
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
    .addOption(
      new Option("--prometheus", "print the sums of all time by tool as counters for Prometheus").conflicts([
        "by",
        "session",
        "since",
        "json",
      ]),
    )
    .notes(`
A rate with ! is above --flag-above, of ${LEAST_CUT} cut outputs or more: look at the limits of that tool. TOKENS SAVED is net: what
was read back is taken off, and what the host would have cut anyway (beyond 50 KiB or 2,000 lines, if nobody says) is not counted.

Examples:
  spillway stats
  spillway stats --by session --since 1d --json
  spillway stats --prometheus > /var/lib/node_exporter/spillway.prom`)
    .action((flags: StatsFlags) =>
      onScreen(flags, (screen) => readPlace(flags, (place) => printStats(place, flags, screen))),
    );
}

async function printStats({ ledger }: ReadPlace, flags: StatsFlags, { paints, width }: Screen): Promise<void> {
  const { by, session, since, flagAbove, json, prometheus } = flags;
  if (prometheus) {
    const { ledgerLines } = await import("../../serve/metrics.ts");
    return writeOut(`${(await ledgerLines(ledger)).join("\n")}\n`);
  }
  const sinceMs = since === undefined ? undefined : Date.now() - since;
  const query: Omit<StatQuery, "by"> = definedOnly({ session, sinceMs });
  const withRates = (row: StatRow): RatedRow => ({ ...row, ...deriveRates(row, flagAbove) });
  const stats = await ledger.stats({ ...query, by });
  // Requests have sums too, of no tool.
  const rows = stats.filter(({ calls, recalls }) => by === "session" || calls + recalls > 0).map(withRates);
  const all = (await ledger.stats({ ...query, by: "all" })).map(withRates)[0] ?? null;
  const summaries = await summariesOf(ledger, query);
  if (json) return writeJson({ by, rows, all, summaries });
  if (rows.length === 0) {
    tell(`nothing is recorded${filterText({ "--session": session, "--since": since }) || " yet"}`);
  } else {
    const table = [[by.toUpperCase(), ...HEAD], ...rows.map((row) => columns(cell(row[by]), row))];
    if (all !== null) table.push(columns("all", all));
    const paint = (text: string, row: number) =>
      row === 0 ? paints.bold : text.endsWith(" !") ? paints.red : undefined;
    await writeOut(alignTable(table, NUMBER_COLUMNS, { width, cuts: [0], drops: [2, 3, 4], paint }));
    if (width !== null) await writeOut(`${paints.dim(LEGEND)}\n`);
  }
  if (summaries.calls > 0) tell(summariesText(summaries));
}

/** What summaries by a model took. */
interface Summaries {
  calls: number;
  inputTokens: number;
  outputTokens: number;
  /** Null if no price is stated. */
  dollars: number | null;
}

/** Adds up what summaries took, by their events. */
export async function summariesOf(
  ledger: Pick<ReadPlace["ledger"], "events">,
  query: Omit<StatQuery, "by">,
): Promise<Summaries> {
  const sum: Summaries = { calls: 0, inputTokens: 0, outputTokens: 0, dollars: null };
  for (let afterId = 0; ; ) {
    const page = await ledger.events({ ...query, kinds: ["summary-paid"], afterId });
    for (const { id, more } of page) {
      afterId = id;
      const { calls, inputTokens, outputTokens, dollars } = (more ?? {}) as Partial<Summaries>;
      sum.calls += calls ?? 0;
      sum.inputTokens += inputTokens ?? 0;
      sum.outputTokens += outputTokens ?? 0;
      if (typeof dollars === "number") sum.dollars = (sum.dollars ?? 0) + dollars;
    }
    if (page.length === 0) return sum;
  }
}

/** The sums as a line. */
export function summariesText({ calls, inputTokens, outputTokens, dollars }: Summaries): string {
  const price = dollars === null ? "no price is stated" : `$${dollars.toFixed(dollars < 1 ? 4 : 2)}`;
  return `summaries: ${counted(calls, "call")} of a model, ${grouped(inputTokens)} tokens in, ${grouped(outputTokens)} out, ${price}`;
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
