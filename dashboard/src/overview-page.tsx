import { type ReactNode, useMemo, useState } from "react";
import { PRICES, type Prices } from "../../src/entrypoints/replay/prices.ts";
import { bytesText, dollars, exact, percent } from "./amounts.ts";
import { type Page, type RecordedEvent, type Stat, useAsked, useLive } from "./api.ts";
import { Sparkline, StackedChart } from "./chart.tsx";
import { Answer, Bar, Bytes, Count, NothingYet, Raw, Time } from "./parts.tsx";
import { go, hrefTo } from "./route.ts";

const RANGES: Record<string, number> = { "24 hours": 24, "7 days": 168, "30 days": 720, all: 0 };
const HOUR_MS = 3_600_000;

/** Does it pay, and is anything wrong? */
export function OverviewPage({ params }: { params: URLSearchParams }): ReactNode {
  const range = params.get("range") ?? "24 hours";
  const hours = RANGES[range] ?? 24;
  // By the whole hour, so that asking again asks the same.
  const [since] = useState(() => Math.floor(Date.now() / HOUR_MS) * HOUR_MS);
  const from = hours === 0 ? "" : `&since=${since - hours * HOUR_MS}`;
  const all = useAsked<{ rows: Stat[] }>(`/api/stats?by=all${from}`);
  const byHour = useAsked<{ rows: Stat[] }>(`/api/stats?by=hour${from}`);
  const byTool = useAsked<{ rows: Stat[] }>(`/api/stats?by=tool${from}`);
  const overflows = useAsked<Page<RecordedEvent>>("/api/events?kind=overflow-recovered,overflow-failed&max=5");
  const live = useLive(() => {
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
            <NothingYet />
          ) : (
            <>
              <Figures sums={sums} hours={everyHour(byHour.data?.rows ?? [], since, hours)} />
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

function Figures({ sums, hours }: { sums: Stat; hours: ReturnType<typeof everyHour> }): ReactNode {
  const {
    tokensIn,
    tokensShown,
    tokensSaved,
    recalls,
    recalledTokens,
    cutCalls,
    calls,
    bytesIn,
    bytesShown,
    recallRate,
  } = sums;
  return (
    <dl className="figures">
      <div>
        <dt>Tools printed</dt>
        <dd>
          <Count of={tokensIn} unit="tokens" />
        </dd>
        <dd className="quiet">
          <Bytes of={bytesIn} /> in <Count of={calls} unit="outputs" />
        </dd>
        <dd>
          <Sparkline values={hours.map((row) => row.tokensIn)} />
        </dd>
      </div>
      <div>
        <dt>Models were shown</dt>
        <dd>
          <Count of={tokensShown} unit="tokens" />
        </dd>
        <dd className="quiet">
          <Bytes of={bytesShown} />; <Count of={cutCalls} unit="outputs" /> cut
        </dd>
        <dd>
          <Sparkline values={hours.map((row) => row.tokensShown)} />
        </dd>
      </div>
      <div>
        <dt>Net saved</dt>
        <dd>
          <Count of={tokensSaved} unit="tokens" />
        </dd>
        <dd className="quiet">{tokensIn === 0 ? "—" : percent(tokensSaved / tokensIn)} of what was printed</dd>
        <dd>
          <Sparkline values={hours.map((row) => row.tokensSaved)} />
        </dd>
      </div>
      <div>
        <dt>Read back</dt>
        <dd>
          <Count of={recalls} unit="times" />
        </dd>
        <dd className="quiet">
          <Count of={recalledTokens} unit="tokens" />; {percent(recallRate)} of cut outputs
        </dd>
        <dd>
          <Sparkline values={hours.map((row) => row.recalls)} />
        </dd>
      </div>
    </dl>
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
        does not count as printed.
      </p>
    </>
  );
}

function ByTool({ rows }: { rows: Stat[] }): ReactNode {
  const tools = rows
    .filter(({ calls, recalls }) => calls + recalls > 0)
    .toSorted((one, other) => other.tokensSaved - one.tokensSaved);
  const most = Math.max(1, ...tools.map(({ tokensSaved }) => Math.abs(tokensSaved)));
  return (
    <section aria-labelledby="by-tool">
      <h2 id="by-tool">By tool, the largest effect first</h2>
      <div className="table-box" tabIndex={0} role="region" aria-label="Sums by tool">
        <table>
          <thead>
            <tr>
              <th scope="col">Tool</th>
              <th scope="col" className="right">
                Outputs
              </th>
              <th scope="col" className="right">
                Cut
              </th>
              <th scope="col" className="right">
                Read back
              </th>
              <th scope="col" className="right">
                Printed
              </th>
              <th scope="col" className="right">
                Shown
              </th>
              <th scope="col" className="right">
                Net saved, tokens
              </th>
            </tr>
          </thead>
          <tbody>
            {tools.map((row) => (
              <tr key={row.tool}>
                <td className="long">
                  <a href={hrefTo("tools", row.tool ?? "")}>
                    <bdi>
                      <Raw text={row.tool ?? "no tool"} />
                    </bdi>
                  </a>
                </td>
                <td className="right">
                  <Count of={row.calls} />
                </td>
                <td className="right number">
                  {percent(row.truncationRate)}
                  {row.cutsTooOften && <span title="More than should be: look at its limits"> !</span>}
                </td>
                <td className="right number">{percent(row.recallRate)}</td>
                <td className="right">
                  <Bytes of={row.bytesIn} />
                </td>
                <td className="right">
                  <Bytes of={row.bytesShown} />
                </td>
                <td className="right">
                  <Bar share={row.tokensSaved / most} label={exact(row.tokensSaved)} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
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
      <dl className="figures">
        <div>
          <dt>Requests answered</dt>
          <dd>
            <Count of={requests} />
          </dd>
          <dd className="quiet">
            <Count of={inputTokens} unit="tokens" /> in, as providers counted
          </dd>
        </div>
        <div>
          <dt>Input cost</dt>
          <dd>
            <span className="number">{dollars(spent)}</span>
          </dd>
          <dd className="quiet">without the cache {dollars(uncached)}</dd>
        </div>
        <div>
          <dt>From the cache</dt>
          <dd>
            <span className="number">{isCached ? percent(cacheReadTokens / inputTokens) : "—"}</span>
          </dd>
          <dd className="quiet">
            {isCached ? <Count of={cacheReadTokens} unit="tokens" /> : "no provider reported any"}
          </dd>
        </div>
        <div>
          <dt>Net saved is worth</dt>
          <dd>
            <span className="number">{dollars((tokensSaved * prices.input) / 1e6)}</span>
          </dd>
          <dd className="quiet">for each time it would have been sent</dd>
        </div>
      </dl>
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
          <ul>
            {events.map(({ id, kind, session, atMs, more }) => (
              <li key={id}>
                {kind === "overflow-recovered" ? "✓ recovered" : "✕ given up"}, <Time atMs={atMs} />, session{" "}
                <bdi>
                  <Raw text={session ?? "—"} />
                </bdi>
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
