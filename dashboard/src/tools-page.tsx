import type { ReactNode } from "react";
import { LEAST_CUT } from "../../src/stages/record/derive-rates.ts";
import { bytesText, counted, exact, percent } from "./amounts.ts";
import { type Limits, type Receipt, type Stat, useAsked, useLive } from "./api.ts";
import {
  Answer,
  Bytes,
  type Column,
  Count,
  Empty,
  Figures,
  FormSample,
  Legend,
  Name,
  NothingHere,
  Table,
} from "./parts.tsx";
import { hrefTo } from "./route.ts";

/** Which limit is wrong? */
export function ToolsPage(): ReactNode {
  const asked = useAsked<{ rows: Stat[] }>("/api/stats?by=tool");
  useLive(asked.again);
  return (
    <>
      <h1>Tools</h1>
      <p className="lead">
        How large the outputs of each tool are, how often they are cut and read back, and what that says about its
        limits.
      </p>
      <Answer asked={asked}>
        {({ rows }) => {
          const tools = rows
            .filter(({ calls, recalls }) => calls + recalls > 0)
            .toSorted((one, other) => urgencyOf(one) - urgencyOf(other));
          if (tools.length === 0)
            return (
              <NothingHere title="No output of a tool is recorded">
                {({ requests }) => `${counted(requests, "request")} went through without one.`}
              </NothingHere>
            );
          return <Table label="Tools" columns={COLUMNS} rows={tools} keyOf={({ tool }) => tool ?? ""} />;
        }}
      </Answer>
    </>
  );
}

/** A tool by its name, with what is known of it. */
export const TOOL_COLUMN: Column<Stat> = {
  head: "Tool",
  kind: "long",
  cell: ({ tool }) => (
    <a href={hrefTo("tools", tool ?? "")}>
      <Name text={tool ?? "no tool"} />
    </a>
  ),
};

const COLUMNS: Column<Stat>[] = [
  TOOL_COLUMN,
  { head: "Suggestion", kind: "wrap", cell: (row) => <SuggestionText row={row} /> },
  { head: "Outputs", kind: "right", cell: ({ calls }) => <Count of={calls} /> },
  {
    head: "Mean size",
    kind: "right",
    cell: ({ calls, bytesIn }) => <Bytes of={calls === 0 ? 0 : Math.round(bytesIn / calls)} />,
  },
  { head: "Cut", kind: "right", cell: ({ truncationRate }) => percent(truncationRate) },
  { head: "Read back", kind: "right", cell: ({ recallRate }) => percent(recallRate) },
  {
    head: "Limits",
    kind: "right",
    cell: ({ tool }, at) => (tool === null || at >= MOST_ASKED ? "—" : <LimitsNow tool={tool} />),
  },
];

/** For more tools than this one looks at the page of each. */
const MOST_ASKED = 100;

interface InForce {
  limits: Limits;
  strategy: string;
}

const policyPath = (tool: string) => `/api/policy/${encodeURIComponent(tool)}`;

function LimitsNow({ tool }: { tool: string }): ReactNode {
  const { data } = useAsked<InForce>(policyPath(tool));
  return data && limitTexts(data.limits).join(", ");
}

function limitTexts(limits: Limits): string[] {
  return LIMITS.flatMap(([name, unit]) => (limits[name] === undefined ? [] : `${exact(limits[name])} ${unit}`));
}

/** What the figures of a tool say about its limits. */
interface Suggestion {
  word: "raise" | "lower" | "keep" | "wait";
  evidence: string;
}

/** Fewer than this that nobody missed are no reason to cut more. */
const LEAST_UNMISSED = 20;
const OFTEN = 0.5;

/** Reads a suggestion off the sums of a tool. */
function suggestionFor({ calls, cutCalls, recalls, recallRate }: Stat): Suggestion {
  if (cutCalls === 0) return { word: "keep", evidence: `none of ${counted(calls, "output")} was cut` };
  const read = `read back ${counted(recalls, "time")} for ${counted(cutCalls, "cut output")}`;
  if (cutCalls < LEAST_CUT) return { word: "wait", evidence: `${counted(cutCalls, "cut output")}: too few to tell` };
  if (recallRate >= OFTEN) return { word: "raise", evidence: `${read}: models miss what is cut` };
  if (recalls === 0 && cutCalls >= LEAST_UNMISSED)
    return { word: "lower", evidence: `${read}: nobody missed what was cut` };
  return { word: "keep", evidence: read };
}

/** What asks for a change stands first. */
function urgencyOf(row: Stat): number {
  return ["raise", "lower", "keep", "wait"].indexOf(suggestionFor(row).word);
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
  const policy = useAsked<InForce>(policyPath(tool));
  const receipts = useAsked<{ items: { receipt: Receipt; event: number }[] }>(`/api/receipts?tool=${name}&max=500`);
  return (
    <>
      <h1>
        <Name text={tool} />
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
  const by = word === "raise" ? 2 : 0.5;
  const given = LIMITS.filter(([name]) => limits[name] !== undefined);
  const [first = "—", ...others] = limitTexts(limits);
  const lines = given.map(([name]) => `${name}: ${Math.round((limits[name] ?? 0) * by)}`);
  return (
    <>
      <Figures
        figures={[
          { name: "Outputs", value: <Count of={row.calls} />, note: <Bytes of={row.bytesIn} /> },
          { name: "Cut", value: percent(row.truncationRate), note: <Count of={row.cutCalls} unit="outputs" /> },
          { name: "Read back", value: percent(row.recallRate), note: <Count of={row.recalls} unit="times" /> },
          {
            name: "Limits now",
            isWord: true,
            value: first,
            note: [...others, strategy].join("; "),
          },
        ]}
      />
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

const LIMITS = [
  ["maxLines", "lines"],
  ["maxChars", "characters"],
  ["maxBytes", "bytes"],
  ["maxTokens", "tokens"],
] as const;

/** Sizes double from one to the next. */
const FIRST = 256;
const STEPS = 21;

function isAtLimit(top: number, limit: number): boolean {
  return limit > top / 2 && limit <= top;
}

/** How many outputs have which size, and which of them were cut, on an axis that doubles. */
function Sizes({ receipts, limits }: { receipts: Receipt[]; limits: Limits }): ReactNode {
  const bins = Array.from({ length: STEPS }, (_none, at) => ({ top: FIRST * 2 ** at, all: 0, cut: 0 }));
  for (const { total, omitted } of receipts) {
    const bin = bins[Math.max(0, Math.min(STEPS - 1, Math.ceil(Math.log2(Math.max(1, total.bytes) / FIRST))))];
    if (bin === undefined) continue;
    bin.all += 1;
    if (omitted.bytes > 0) bin.cut += 1;
  }
  const { maxBytes = Infinity, maxChars = Infinity } = limits;
  const limit = Math.min(maxBytes, maxChars);
  const limitText =
    maxChars < maxBytes
      ? `${exact(maxChars)} characters, ${bytesText(maxChars)} or more`
      : `${exact(maxBytes)} bytes, ${bytesText(maxBytes)}`;
  const isShown = ({ all, top }: (typeof bins)[number]) => all > 0 || isAtLimit(top, limit);
  const shown = bins.slice(bins.findIndex(isShown), bins.findLastIndex(isShown) + 1);
  const most = Math.max(1, ...shown.map(({ all }) => all));
  const columns: Column<(typeof bins)[number]>[] = [
    { head: "Up to", kind: "right heading", cell: ({ top }) => bytesText(top) },
    {
      head: "Outputs",
      kind: "wide",
      cell: ({ top, all, cut }) => (
        <>
          {all > 0 && (
            <span className="size-bar" aria-hidden="true">
              <span className="form-whole" style={{ width: `${((all - cut) / most) * 100}%` }} />
              <span className="form-cut" style={{ width: `${(cut / most) * 100}%` }} />
            </span>
          )}
          {isAtLimit(top, limit) && <span className="limit-label">◂ in this row: the limit of {limitText}</span>}
        </>
      ),
    },
    { head: "Count", kind: "right", cell: ({ all }) => exact(all) },
    { head: "Cut", kind: "right", cell: ({ cut }) => exact(cut) },
  ];
  return (
    <section aria-labelledby="sizes">
      <h2 id="sizes">Sizes of the last {counted(receipts.length, "output")}</h2>
      <Table
        label="Sizes"
        className="sizes"
        columns={columns}
        rows={shown}
        keyOf={({ top }) => top}
        classOf={({ top }) => (isAtLimit(top, limit) ? "at-limit" : "")}
      />
      <Legend
        items={[
          [<FormSample key="whole" form="whole" />, "shown whole"],
          [<FormSample key="cut" form="cut" />, "cut"],
        ]}
      />
    </section>
  );
}
