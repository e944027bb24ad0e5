import type { ReactNode } from "react";
import { bytesText, counted, exact, percent } from "./amounts.ts";
import { type Limits, type Receipt, type Stat, useAsked } from "./api.ts";
import { Answer, Bytes, Count, Empty, NothingYet, Raw } from "./parts.tsx";
import { hrefTo } from "./route.ts";

/** Which limit is wrong? */
export function ToolsPage(): ReactNode {
  const asked = useAsked<{ rows: Stat[] }>("/api/stats?by=tool");
  return (
    <>
      <h1>Tools</h1>
      <p className="lead">
        How large the outputs of each tool are, how often they are cut and read back, and what that says about its
        limits.
      </p>
      <Answer asked={asked}>
        {({ rows }) => {
          const tools = rows.filter(({ calls, recalls }) => calls + recalls > 0);
          if (tools.length === 0) return <NothingYet />;
          return (
            <div className="table-box" tabIndex={0} role="region" aria-label="Tools">
              <table>
                <thead>
                  <tr>
                    <th scope="col">Tool</th>
                    <th scope="col">Suggestion</th>
                    <th scope="col" className="right">
                      Outputs
                    </th>
                    <th scope="col" className="right">
                      Mean size
                    </th>
                    <th scope="col" className="right">
                      Cut
                    </th>
                    <th scope="col" className="right">
                      Read back
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
                      <td className="wrap">
                        <SuggestionText row={row} />
                      </td>
                      <td className="right">
                        <Count of={row.calls} />
                      </td>
                      <td className="right">
                        <Bytes of={row.calls === 0 ? 0 : Math.round(row.bytesIn / row.calls)} />
                      </td>
                      <td className="right number">{percent(row.truncationRate)}</td>
                      <td className="right number">{percent(row.recallRate)}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          );
        }}
      </Answer>
    </>
  );
}

/** What the figures of a tool say about its limits. */
interface Suggestion {
  word: "raise" | "lower" | "keep" | "wait";
  evidence: string;
}

/** Fewer cut outputs than this say nothing. */
const LEAST_CUT = 5;
/** Fewer than this that nobody missed are no reason to cut more. */
const LEAST_UNMISSED = 20;
const OFTEN = 0.5;

/** Reads a suggestion off the sums of a tool. */
function suggestionFor({ calls, cutCalls, recalls, recallRate }: Stat): Suggestion {
  if (cutCalls === 0) return { word: "keep", evidence: `none of ${counted(calls, "output")} was cut` };
  const read = `read back ${counted(recalls, "time")} for ${counted(cutCalls, "cut output")}`;
  if (cutCalls < LEAST_CUT) return { word: "wait", evidence: `${read}: too few to tell` };
  if (recallRate >= OFTEN) return { word: "raise", evidence: `${read}: models miss what is cut` };
  if (recalls === 0 && cutCalls >= LEAST_UNMISSED)
    return { word: "lower", evidence: `${read}: nobody missed what was cut` };
  return { word: "keep", evidence: read };
}

const SIGNS = { raise: "▲ raise", lower: "▼ lower", keep: "= keep", wait: "… wait" };

function SuggestionText({ row }: { row: Stat }): ReactNode {
  const { word, evidence } = suggestionFor(row);
  return (
    <>
      <strong className={`suggest-${word}`}>{SIGNS[word]}</strong> <span className="quiet">{evidence}</span>
    </>
  );
}

/** One tool: its sizes against its limits, and what to set. */
export function ToolPage({ tool }: { tool: string }): ReactNode {
  const name = encodeURIComponent(tool);
  const stats = useAsked<{ rows: Stat[] }>(`/api/stats?by=all&tool=${name}`);
  const policy = useAsked<{ limits: Limits; strategy: string }>(`/api/policy/${name}`);
  const receipts = useAsked<{ items: { receipt: Receipt; event: number }[] }>(`/api/receipts?tool=${name}&max=500`);
  return (
    <>
      <h1>
        <bdi>
          <Raw text={tool} />
        </bdi>
      </h1>
      <Answer asked={stats}>
        {({ rows: [row] }) =>
          row === undefined || row.calls === 0 ? (
            <Empty title="No output of this tool is recorded">
              <p>
                <a href={hrefTo("tools")}>All tools</a>
              </p>
            </Empty>
          ) : (
            <Answer asked={policy}>
              {({ limits, strategy }) => <Tool row={row} limits={limits} strategy={strategy} />}
            </Answer>
          )
        }
      </Answer>
      <Answer asked={receipts}>
        {({ items }) =>
          items.length === 0 ? null : (
            <Sizes receipts={items.map(({ receipt }) => receipt)} limits={policy.data?.limits ?? {}} />
          )
        }
      </Answer>
    </>
  );
}

function Tool({ row, limits, strategy }: { row: Stat; limits: Limits; strategy: string }): ReactNode {
  const { word } = suggestionFor(row);
  const { maxLines, maxChars } = limits;
  const by = word === "raise" ? 2 : 0.5;
  const lines = [
    maxLines && `maxLines: ${Math.round(maxLines * by)}`,
    maxChars && `maxChars: ${Math.round(maxChars * by)}`,
  ].filter(Boolean);
  return (
    <>
      <dl className="figures">
        <div>
          <dt>Outputs</dt>
          <dd>
            <Count of={row.calls} />
          </dd>
          <dd className="quiet">
            <Bytes of={row.bytesIn} />
          </dd>
        </div>
        <div>
          <dt>Cut</dt>
          <dd>
            <span className="number">{percent(row.truncationRate)}</span>
          </dd>
          <dd className="quiet">
            <Count of={row.cutCalls} unit="outputs" />
          </dd>
        </div>
        <div>
          <dt>Read back</dt>
          <dd>
            <span className="number">{percent(row.recallRate)}</span>
          </dd>
          <dd className="quiet">
            <Count of={row.recalls} unit="times" />
          </dd>
        </div>
        <div>
          <dt>Limits now</dt>
          <dd className="word">{maxLines === undefined ? "—" : `${exact(maxLines)} lines`}</dd>
          <dd className="quiet">
            {maxChars !== undefined && `${exact(maxChars)} characters; `}
            {strategy}
          </dd>
        </div>
      </dl>
      <p className="note">
        <SuggestionText row={row} />
      </p>
      {(word === "raise" || word === "lower") && (
        <>
          <p>
            In the config file (<code>spillway.yaml</code>):
          </p>
          <pre className="config">{`tools:\n  ${JSON.stringify(row.tool ?? "")}:\n    ${lines.join("\n    ")}`}</pre>
        </>
      )}
    </>
  );
}

/** Sizes double from one to the next. */
const FIRST = 256;
const STEPS = 21;

function isAtLimit(top: number, limit: number): boolean {
  return limit > top / 2 && limit <= top;
}

/** How many outputs have which size, and which of them were cut, on an axis that doubles. */
function Sizes({ receipts, limits }: { receipts: Receipt[]; limits: Limits }): ReactNode {
  const bins = Array.from({ length: STEPS }, () => ({ all: 0, cut: 0 }));
  for (const { total, omitted } of receipts) {
    const bin = bins[Math.max(0, Math.min(STEPS - 1, Math.ceil(Math.log2(Math.max(1, total.bytes) / FIRST))))];
    if (bin === undefined) continue;
    bin.all += 1;
    if (omitted.bytes > 0) bin.cut += 1;
  }
  const limit = Math.min(limits.maxBytes ?? Infinity, limits.maxChars ?? Infinity);
  const isShown = ({ all }: { all: number }, at: number) => all > 0 || isAtLimit(FIRST * 2 ** at, limit);
  const from = bins.findIndex(isShown);
  const to = bins.findLastIndex(isShown);
  const shown = bins.slice(from, to + 1);
  const most = Math.max(1, ...shown.map(({ all }) => all));
  return (
    <section aria-labelledby="sizes">
      <h2 id="sizes">Sizes of the last {counted(receipts.length, "output")}</h2>
      <div className="table-box" tabIndex={0} role="region" aria-label="Sizes">
        <table className="sizes">
          <thead>
            <tr>
              <th scope="col" className="right">
                Up to
              </th>
              <th scope="col">Outputs</th>
              <th scope="col" className="right">
                Count
              </th>
              <th scope="col" className="right">
                Cut
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.map(({ all, cut }, at) => {
              const top = FIRST * 2 ** (from + at);
              return (
                <tr key={top} className={isAtLimit(top, limit) ? "at-limit" : ""}>
                  <th scope="row" className="right number">
                    {bytesText(top)}
                  </th>
                  <td className="wide">
                    <span className="size-bar" aria-hidden="true">
                      <span className="form-whole" style={{ width: `${((all - cut) / most) * 100}%` }} />
                      <span className="form-cut" style={{ width: `${(cut / most) * 100}%` }} />
                    </span>
                    {isAtLimit(top, limit) && <span className="limit-label">◂ limit {bytesText(limit)}</span>}
                  </td>
                  <td className="right number">{exact(all)}</td>
                  <td className="right number">{exact(cut)}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      <ul className="legend">
        <li>
          <span className="lane-part form-whole sample" aria-hidden="true" />
          shown whole
        </li>
        <li>
          <span className="lane-part form-cut sample" aria-hidden="true" />
          cut
        </li>
      </ul>
    </section>
  );
}
