import type { Ledger, Totals } from "../../contract/ledger.ts";
import type { Spool, SpoolState } from "../../storage/remote/remote-store.ts";

type Labels = Record<string, string>;

/** Counts what happens in this process. */
export interface Metrics {
  add(name: keyof typeof COUNTERS, labels: Labels, by?: number): void;
  /** Puts a duration into a histogram. */
  took(name: keyof typeof DURATIONS, labels: Labels, seconds: number): void;
  /** All of it in Prometheus's text form. */
  text(ledger: Ledger | null, spool?: Spool): Promise<string>;
}

const COUNTERS = {
  spillway_requests_total: "Requests to the gateway, by API and status.",
  spillway_request_bytes_total: "Bytes of request bodies, as they came and as they were sent.",
} as const;

const DURATIONS = {
  spillway_upstream_seconds:
    "From sending a request on to the first byte of the provider's answer, all its sends together.",
  spillway_own_seconds: "What Spillway itself took for a request beside that.",
} as const;

const LEDGER_COUNTERS: Record<keyof Totals, [name: string, help: string]> = {
  calls: ["spillway_outputs_total", "Outputs that passed."],
  cutCalls: ["spillway_outputs_cut_total", "Outputs of which something was cut."],
  bytesIn: ["spillway_output_bytes_total", "Bytes of outputs as they came."],
  bytesShown: ["spillway_output_shown_bytes_total", "Bytes of outputs that models were shown."],
  tokensIn: ["spillway_output_tokens_total", "Tokens that models would have got without Spillway."],
  tokensShown: ["spillway_output_shown_tokens_total", "Tokens of outputs that models were shown."],
  recalls: ["spillway_recalls_total", "Times that something was read back."],
  recalledBytes: ["spillway_recalled_bytes_total", "Bytes that were read back."],
  recalledTokens: ["spillway_recalled_tokens_total", "Tokens that were read back."],
  requests: ["spillway_answered_requests_total", "Requests that were answered."],
  inputTokens: ["spillway_input_tokens_total", "Tokens of requests, as providers counted."],
  outputTokens: ["spillway_output_tokens_counted_total", "Tokens of answers, as providers counted."],
  cacheReadTokens: ["spillway_cache_read_tokens_total", "Tokens of requests that came from a cache."],
  cacheWriteTokens: ["spillway_cache_written_tokens_total", "Tokens of requests that were written to a cache."],
  refusals: ["spillway_refusals_total", "Requests that a provider refused for their size."],
  recoveries: ["spillway_recoveries_total", "Refused requests that were recovered."],
};

/** What is counted of requests, which belong to no tool. */
const OF_REQUESTS: ReadonlySet<keyof Totals> = new Set([
  "requests",
  "inputTokens",
  "outputTokens",
  "cacheReadTokens",
  "cacheWriteTokens",
  "refusals",
  "recoveries",
]);

const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];
/** A label can come from a request: what is over this is counted together. */
const MOST_SERIES = 1000;
/** Tools by themselves; the others have no series of their own. */
const MOST_TOOLS = 200;

/** Counts from zero. */
export function newMetrics(): Metrics {
  const counters = new Map<string, { name: string; labels: Labels; value: number }>();
  const durations = new Map<string, { name: string; labels: Labels; counts: number[]; sum: number }>();
  return {
    add(name, labels, by = 1) {
      const key = keyOf(name, labels);
      const known = counters.get(key);
      if (known !== undefined) known.value += by;
      else if (counters.size < MOST_SERIES) counters.set(key, { name, labels, value: by });
      else if (labels !== OTHER) this.add(name, OTHER, by);
      else counters.set(key, { name, labels, value: by });
    },
    took(name, labels, seconds) {
      const key = keyOf(name, labels);
      if (!durations.has(key) && durations.size >= MOST_SERIES) return;
      const series = durations.get(key) ?? { name, labels, counts: BOUNDS.map(() => 0).concat(0), sum: 0 };
      durations.set(key, series);
      const at = BOUNDS.findIndex((bound) => seconds <= bound);
      const slot = at < 0 ? BOUNDS.length : at;
      series.counts[slot] = (series.counts[slot] ?? 0) + 1;
      series.sum += seconds;
    },
    async text(ledger, spool) {
      const lines: string[] = [];
      for (const [name, help] of Object.entries(COUNTERS)) {
        lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} counter`);
        for (const series of counters.values())
          if (series.name === name) lines.push(`${seriesOf(name, series.labels)} ${series.value}`);
      }
      for (const [name, help] of Object.entries(DURATIONS)) {
        lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} histogram`);
        for (const series of durations.values()) if (series.name === name) lines.push(...bucketLines(series));
      }
      if (ledger !== null) lines.push(...(await ledgerLines(ledger)));
      if (spool !== undefined) lines.push(...spoolLines(await spool.state()));
      lines.push(
        "# HELP process_resident_memory_bytes Memory of this process.",
        "# TYPE process_resident_memory_bytes gauge",
        `process_resident_memory_bytes ${process.memoryUsage.rss()}`,
      );
      return `${lines.join("\n")}\n`;
    },
  };
}

function bucketLines({ name, labels, counts, sum }: { name: string; labels: Labels; counts: number[]; sum: number }) {
  let total = 0;
  const buckets = counts.map((count, at) => {
    total += count;
    return `${seriesOf(`${name}_bucket`, { ...labels, le: String(BOUNDS[at] ?? "+Inf") })} ${total}`;
  });
  return [...buckets, `${seriesOf(`${name}_sum`, labels)} ${sum}`, `${seriesOf(`${name}_count`, labels)} ${total}`];
}

function spoolLines({ artifacts, bytes, oldestMs, uploaded, failed }: SpoolState): string[] {
  const waitedMs = oldestMs === null ? 0 : Math.max(0, Date.now() - oldestMs);
  const row = (name: string, type: string, help: string, ...series: string[]) => [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${type}`,
    ...series.map((each) => name + each),
  ];
  return [
    ...row("spillway_spool_artifacts", "gauge", "Outputs of this machine that wait for their upload.", ` ${artifacts}`),
    ...row("spillway_spool_bytes", "gauge", "Bytes of outputs that wait for their upload.", ` ${bytes}`),
    ...row("spillway_spool_seconds", "gauge", "How long the oldest of them has waited.", ` ${waitedMs / 1000}`),
    ...row(
      "spillway_uploads_total",
      "counter",
      "Uploads of this process, by how they ended.",
      `{result="done"} ${uploaded}`,
      `{result="failed"} ${failed}`,
    ),
  ];
}

/** The sums of a ledger, those of outputs by tool, as lines of Prometheus's text form. */
export async function ledgerLines(ledger: Pick<Ledger, "stats">): Promise<string[]> {
  const rows = await ledger.stats({ by: "tool" });
  return (Object.keys(LEDGER_COUNTERS) as (keyof Totals)[]).flatMap((sum) => {
    const [name, help] = LEDGER_COUNTERS[sum];
    const series = OF_REQUESTS.has(sum)
      ? [`${name} ${rows.reduce((total, row) => total + row[sum], 0)}`]
      : rows
          // What belongs to no tool is a row too: mostly requests.
          .filter((row) => row.tool !== null || row[sum] !== 0)
          .slice(0, MOST_TOOLS)
          .map((row) => `${seriesOf(name, { tool: row.tool ?? "" })} ${row[sum]}`);
    return [`# HELP ${name} ${help}`, `# TYPE ${name} counter`, ...series];
  });
}

const OTHER: Labels = { other: "true" };

function keyOf(name: string, labels: Labels): string {
  let key = name;
  for (const label in labels) key += `\n${label}\n${labels[label]}`;
  return key;
}

function seriesOf(name: string, labels: Labels): string {
  const written = Object.entries(labels).map(([label, value]) => `${label}="${escaped(value)}"`);
  return `${name}{${written.join(",")}}`;
}

function escaped(value: string): string {
  return value.toWellFormed().replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
