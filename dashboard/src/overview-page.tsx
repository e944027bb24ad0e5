import { type ReactNode, useMemo, useState } from "react";
import { PRICES, type Prices } from "../../src/entrypoints/replay/prices.ts";
import { overviewPaths, RANGES, rangeIn, thisHourMs } from "./ahead.ts";
import { bytesText, dollars, exact, percent } from "./amounts.ts";
import { type Page, type RecordedEvent, type Stat, useAsked, useLive } from "./api.ts";
import { Sparkline, StackedChart } from "./chart.tsx";
import { Answer, Bar, Bytes, type Column, Count, Figures, NothingHere, SessionLink, Table, Time } from "./parts.tsx";
import { go, hrefTo } from "./route.ts";
import { TOOL_COLUMN } from "./tools-page.tsx";

const HOUR_MS = 3_600_000;

/** Does it pay, and is anything wrong? */
export function OverviewPage({ params }: { params: URLSearchParams }): ReactNode {
  const range = rangeIn(params);
  const hours = RANGES[range] ?? 0;
  const [since, setSince] = useState(thisHourMs);
  const paths = overviewPaths(since, hours);
  const all = useAsked<{ rows: Stat[] }>(paths.all);
  const byHour = useAsked<{ rows: Stat[] }>(paths.byHour);
  const byTool = useAsked<{ rows: Stat[] }>(paths.byTool);
  const overflows = useAsked<Page<RecordedEvent>>(paths.overflows);
  const live = useLive(() => {
    // A page that stays open comes into the next hour.
    setSince(thisHourMs);
    for (const asked of [all, byHour, byTool, overflows]) asked.again();
  });
  return (
    <>
      <div className="section-head">
        <h1>Overview</h1>
        <div className="toolbar">
          <span className="quiet" role="status">
            {live === "live" ? "● live" : "○ not live"}
          </span>
          <label className="quiet">
            Last{" "}
            <select
              value={range}
              onChange={(event) => go(hrefTo("overview", "", { range: event.target.value }), "replace")}
            >
              {Object.keys(RANGES).map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
        </div>
      </div>
      <Answer asked={all}>
        {({ rows: [sums] }) =>
          sums === undefined || sums.calls + sums.requests === 0 ? (
            <NothingHere title={`Nothing was recorded in the last ${range}`}>
              {() => <a href={hrefTo("overview", "", { range: "all" })}>All that is recorded</a>}
            </NothingHere>
          ) : (
            <>
              <Sums sums={sums} hours={byHour.data === null ? [] : everyHour(byHour.data.rows, since, hours)} />
              <Answer asked={byHour}>{({ rows }) => <OverTime rows={rows} untilMs={since} hours={hours} />}</Answer>
              <Answer asked={byTool}>{({ rows }) => <ByTool rows={rows} />}</Answer>
              <Cost sums={sums} />
              <LastOverflows sums={sums} events={overflows.data?.items ?? []} />
            </>
          )
        }
      </Answer>
    </>
  );
}

/** More bars than this are no chart. */
const MOST_HOURS = 24 * 90;

/** A row for every hour, those without events included. */
function everyHour(rows: Stat[], untilMs: number, hours: number): Pick<Stat, SumName | "hourMs">[] {
  const first = rows[0]?.hourMs ?? untilMs;
  const count = Math.min(MOST_HOURS, hours === 0 ? Math.round((untilMs - first) / HOUR_MS) : hours);
  const byHour = new Map(rows.map((row) => [row.hourMs, row]));
  return Array.from({ length: count + 1 }, (_none, at) => {
    const hourMs = untilMs - (count - at) * HOUR_MS;
    return byHour.get(hourMs) ?? { hourMs, tokensIn: 0, tokensShown: 0, tokensSaved: 0, recalls: 0, recalledTokens: 0 };
  });
}

type SumName = "tokensIn" | "tokensShown" | "tokensSaved" | "recalls" | "recalledTokens";

function Sums({ sums, hours }: { sums: Stat; hours: ReturnType<typeof everyHour> }): ReactNode {
  const { tokensIn, tokensShown, tokensSaved, recalls, recalledTokens, cutCalls, calls, bytesIn, bytesShown } = sums;
  const line = (name: SumName) => <Sparkline values={hours.map((row) => row[name])} />;
  return (
    <Figures
      figures={[
        {
          name: "Tools printed",
          value: <Count of={tokensIn} unit="tokens" />,
          note: (
            <>
              <Bytes of={bytesIn} /> in <Count of={calls} unit="outputs" />
            </>
          ),
          line: line("tokensIn"),
        },
        {
          name: "Models were shown",
          value: <Count of={tokensShown} unit="tokens" />,
          note: (
            <>
              <Bytes of={bytesShown} />; <Count of={cutCalls} unit="outputs" /> cut
            </>
          ),
          line: line("tokensShown"),
        },
        {
          name: "Net saved",
          value: <Count of={tokensSaved} unit="tokens" />,
          note: `${tokensIn === 0 ? "—" : percent(tokensSaved / tokensIn)} of what was printed`,
          line: line("tokensSaved"),
        },
        {
          name: "Read back",
          value: <Count of={recalls} unit="times" />,
          note: (
            <>
              <Count of={recalledTokens} unit="tokens" />; {percent(sums.recallRate)} of cut outputs
            </>
          ),
          line: line("recalls"),
        },
      ]}
    />
  );
}

function OverTime({ rows: found, untilMs, hours }: { rows: Stat[]; untilMs: number; hours: number }): ReactNode {
  const rows = useMemo(() => everyHour(found, untilMs, hours), [found, untilMs, hours]);
  const times = useMemo(() => rows.map(({ hourMs }) => hourMs ?? 0), [rows]);
  const layers = useMemo(
    () => [
      { name: "shown", color: "--accent", values: rows.map(({ tokensShown }) => tokensShown) },
      { name: "read back", color: "--found", values: rows.map(({ recalledTokens }) => recalledTokens) },
      { name: "net saved", color: "--saved", values: rows.map(({ tokensSaved }) => tokensSaved) },
    ],
    [rows],
  );
  return (
    <>
      <StackedChart title="What tools printed, tokens per hour" times={times} layers={layers} />
      <p className="quiet">
        Net saved is what was printed, less what was shown and what was read back. What the agent would have cut itself
        does not count as tokens printed: beyond 50 KiB or 2,000 lines if nobody says, and nothing of a request to the
        gateway. Nor does an output that a tool printed again because it had been cut.
      </p>
    </>
  );
}

function ByTool({ rows }: { rows: Stat[] }): ReactNode {
  const tools = rows
    .filter(({ calls, recalls }) => calls + recalls > 0)
    .toSorted((one, other) => other.tokensSaved - one.tokensSaved);
  const most = Math.max(1, ...tools.map(({ tokensSaved }) => Math.abs(tokensSaved)));
  const columns: Column<Stat>[] = [
    TOOL_COLUMN,
    {
      head: "Net saved, tokens",
      kind: "right",
      cell: ({ tokensSaved }) => <Bar share={tokensSaved / most} label={exact(tokensSaved)} />,
    },
    { head: "Outputs", kind: "right", cell: ({ calls }) => <Count of={calls} /> },
    {
      head: "Cut",
      kind: "right",
      cell: ({ truncationRate, cutsTooOften }) => (
        <>
          {cutsTooOften && "! "}
          {percent(truncationRate)}
        </>
      ),
    },
    { head: "Read back", kind: "right", cell: ({ recallRate }) => percent(recallRate) },
    { head: "Printed", kind: "right", cell: ({ bytesIn }) => <Bytes of={bytesIn} /> },
    { head: "Shown", kind: "right", cell: ({ bytesShown }) => <Bytes of={bytesShown} /> },
  ];
  return (
    <section aria-labelledby="by-tool">
      <h2 id="by-tool">By tool, the largest effect first</h2>
      <Table label="Sums by tool" columns={columns} rows={tools} keyOf={({ tool }) => tool ?? ""} />
      {tools.some(({ cutsTooOften }) => cutsTooOften) && (
        <p className="quiet">! More outputs of this tool are cut than should be: look at its limits.</p>
      )}
    </section>
  );
}

function Cost({ sums }: { sums: Stat }): ReactNode {
  const [name, setName] = useState("anthropic");
  const prices = (PRICES.find((each) => each.name === name) ?? PRICES[0]) as Prices;
  const { requests, inputTokens, cacheReadTokens, cacheWriteTokens, tokensSaved } = sums;
  const plain = Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens);
  const spent =
    (plain * prices.input + cacheReadTokens * prices.cacheRead + cacheWriteTokens * prices.cacheWrite) / 1e6;
  const isCached = cacheReadTokens + cacheWriteTokens > 0;
  const uncached = (inputTokens * prices.input) / 1e6;
  return (
    <section aria-labelledby="cost">
      <div className="section-head">
        <h2 id="cost">What requests cost, input only</h2>
        <label className="quiet">
          Prices of{" "}
          <select value={name} onChange={(event) => setName(event.target.value)}>
            {PRICES.map((each) => (
              <option key={each.name} value={each.name}>
                {each.source.split(",")[0]}
              </option>
            ))}
          </select>
        </label>
      </div>
      <Figures
        figures={[
          {
            name: "Requests answered",
            value: <Count of={requests} />,
            note: (
              <>
                <Count of={inputTokens} unit="tokens" /> in, as providers counted
              </>
            ),
          },
          { name: "Input cost", value: dollars(spent), note: `without the cache ${dollars(uncached)}` },
          {
            name: "From the cache",
            value: isCached ? percent(cacheReadTokens / inputTokens) : "—",
            note: isCached ? <Count of={cacheReadTokens} unit="tokens" /> : "no provider reported any",
          },
          {
            name: "Net saved is worth",
            value: dollars((tokensSaved * prices.input) / 1e6),
            note: "for each time it would have been sent",
          },
        ]}
      />
      <p className="quiet">Prices: {prices.source}.</p>
    </section>
  );
}

function LastOverflows({ sums, events }: { sums: Stat; events: RecordedEvent[] }): ReactNode {
  return (
    <section aria-labelledby="overflows">
      <h2 id="overflows">Refused for size</h2>
      {sums.refusals === 0 ? (
        <p className="quiet">No provider refused a request for its size in this time.</p>
      ) : (
        <>
          <p>
            <Count of={sums.refusals} unit="refusals" />, <Count of={sums.recoveries} unit="requests recovered" />.{" "}
            <a href={hrefTo("overflows")}>All of them</a>
          </p>
          <ul className="log">
            {events.map(({ id, kind, session, atMs, more }) => (
              <li key={id}>
                {kind === "overflow-recovered" ? "✓ recovered" : "✕ given up"}, <Time atMs={atMs} />, session{" "}
                <SessionLink session={session} />
                {typeof more?.["fromBytes"] === "number" &&
                  typeof more["bytes"] === "number" &&
                  `: ${bytesText(more["fromBytes"])} to ${bytesText(more["bytes"])}`}
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}
