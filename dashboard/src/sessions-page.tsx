import { type ReactNode, useLayoutEffect, useMemo, useRef, useState } from "react";
import { deriveRates } from "../../src/stages/record/derive-rates.ts";
import { eventsPath } from "./ahead.ts";
import { axisText, counted, dollars, exact, exactTime, percent, short } from "./amounts.ts";
import {
  ApiFault,
  type Artifact,
  askAll,
  MOST_ITEMS,
  type Page,
  type RecordedEvent,
  type SessionRow,
  useAsked,
  useLive,
  type View,
} from "./api.ts";
import {
  Answer,
  Bytes,
  ChartOrTable,
  type Column,
  Count,
  Fault,
  Figures,
  FormSample,
  Legend,
  List,
  Made,
  Name,
  NothingHere,
  SessionLink,
  Table,
  Time,
} from "./parts.tsx";
import { go, hrefTo } from "./route.ts";
import {
  FORM_WORDS,
  type LifeStory,
  lifeText,
  type RequestStory,
  type SessionStory,
  stepAt,
  storyOf,
} from "./session-story.ts";
import { PlainText } from "./text-view.tsx";

/** All sessions, the last seen first. */
export function SessionsPage(): ReactNode {
  const path = "/api/sessions?max=200";
  const asked = useAsked<Page<SessionRow>>(path);
  useLive(asked.again);
  return (
    <>
      <h1>Sessions</h1>
      <p className="lead">One run of an agent each. Open one to see how its context filled.</p>
      <Answer asked={asked}>
        {(page) =>
          page.items.length === 0 ? (
            // Outputs of a library or of a command line often name no session.
            <NothingHere title="No session is recorded">
              {({ calls }) => (
                <>
                  {counted(calls, "output")} came in without the name of a session. Those that were saved are under{" "}
                  <a href={hrefTo("outputs")}>Outputs</a>, the sums of all of them under{" "}
                  <a href={hrefTo("tools")}>Tools</a>.
                </>
              )}
            </NothingHere>
          ) : (
            <List label="Sessions" columns={COLUMNS} path={path} first={page} keyOf={({ session }) => session} />
          )
        }
      </Answer>
    </>
  );
}

const COLUMNS: Column<SessionRow>[] = [
  {
    head: "Session",
    kind: "long",
    cell: ({ session }) => <SessionLink session={session} />,
  },
  { head: "Last seen", cell: ({ lastSeenMs }) => <Time atMs={lastSeenMs} /> },
  { head: "Outputs", kind: "right", cell: ({ calls }) => <Count of={calls} /> },
  { head: "Cut", kind: "right", cell: ({ cutCalls }) => <Count of={cutCalls} /> },
  { head: "Read back", kind: "right", cell: ({ recalls }) => <Count of={recalls} /> },
  { head: "Printed", kind: "right", cell: ({ bytesIn }) => <Bytes of={bytesIn} /> },
  { head: "Shown", kind: "right", cell: ({ bytesShown }) => <Bytes of={bytesShown} /> },
  { head: "Net saved", kind: "right", cell: (row) => <Count of={deriveRates(row, 1).tokensSaved} unit="tokens" /> },
];

/** One session: how its context filled, and the life of each result in it. */
export function SessionPage({ session, params }: { session: string; params: URLSearchParams }): ReactNode {
  const asked = useAsked<RecordedEvent[]>(eventsPath(session), askAll);
  useLive(asked.again, session);
  return (
    <>
      <h1>
        Session <Name text={session} />
      </h1>
      <Answer asked={asked}>
        {(events) =>
          events.length === 0 ? (
            <Fault
              fault={new ApiFault(404, "unknown-session", "Nothing of this session is recorded.")}
              again={asked.again}
            />
          ) : (
            <Story session={session} events={events} result={params.get("result")} />
          )
        }
      </Answer>
    </>
  );
}

const NO_REQUEST = "No request of this session came through the gateway";

interface StoryProps {
  session: string;
  events: RecordedEvent[];
  /** The event of the result that is open. */
  result: string | null;
}

function Story({ session, events, result }: StoryProps): ReactNode {
  const story = useMemo(() => storyOf(events), [events]);
  const { requests, lives, recalls, refusals, firstMs, lastMs } = story;
  const selected = lives.find(({ event }) => String(event) === result) ?? null;
  const select = (life: LifeStory | null) => go(hrefTo("sessions", session, { result: life?.event }), "replace");
  const hasNone = requests.length === 0;
  const breaks = requests.flatMap(({ cacheBreak }) => cacheBreak ?? []);
  const lost = breaks.reduce((sum, { tokens }) => sum + tokens, 0);
  const cost = breaks.reduce((sum, each) => sum + each.dollars, 0);
  const fullest = requests.reduce(
    (most, { tokens, windowTokens }) => Math.max(most, windowTokens ? tokens / windowTokens : 0),
    0,
  );
  const printed = lives.reduce((sum, { bytes }) => sum + bytes, 0);
  const sumOf = (of: (request: RequestStory) => number) => requests.reduce((sum, each) => sum + of(each), 0);
  const sent = sumOf(({ tokens }) => tokens);
  const isCacheTold = requests.some(({ cacheReadTokens }) => cacheReadTokens !== null);
  const cached = isCacheTold ? sumOf(({ cacheReadTokens }) => cacheReadTokens ?? 0) : null;
  return (
    <>
      <p className="quiet">
        {hasNone ? `${NO_REQUEST}. First` : `${counted(requests.length, "request")}, first`} <Time atMs={firstMs} />,
        last <Time atMs={lastMs} />
        {events.length >= MOST_ITEMS && `. Only the first ${exact(MOST_ITEMS)} events are shown`}
      </p>
      <Figures
        figures={[
          {
            name: "Results",
            value: <Count of={lives.length} />,
            note: (
              <>
                <Bytes of={printed} /> printed
              </>
            ),
          },
          {
            name: "Sent in all",
            value: hasNone ? "—" : <Count of={sent} unit="tokens" />,
            note: hasNone
              ? "not known"
              : cached === null
                ? "the cache's share is not told"
                : `${percent(cached / sent)} from the cache`,
          },
          {
            name: "Fullest request",
            value: hasNone ? "—" : percent(fullest),
            note: hasNone ? "not known" : "of the window",
          },
          { name: "Read back", value: <Count of={recalls} />, note: "by the model" },
          {
            name: "Refused for size",
            value: <Count of={refusals} />,
            note: <a href={hrefTo("overflows", "", { session })}>overflow log</a>,
          },
          {
            name: "Cache breaks",
            value: hasNone ? "—" : <Count of={breaks.length} />,
            title: breaks[0]?.prices.source,
            note:
              breaks.length === 0 ? (
                hasNone ? (
                  "not known"
                ) : (
                  "nothing read anew"
                )
              ) : (
                <>
                  <Count of={lost} unit="tokens" /> anew, about {dollars(cost)}
                  {breaks.some(({ isCounted }) => !isCounted) && "; estimated: the provider does not say"}
                </>
              ),
          },
        ]}
      />
      {requests.length > 0 && (
        <ChartOrTable
          title="The context, request by request, in tokens"
          chart={<FillChart story={story} selected={selected} />}
          table={<Table label="Requests" columns={REQUEST_COLUMNS} rows={requests} keyOf={({ event }) => event} />}
        />
      )}
      <section aria-labelledby="lives">
        <h2 id="lives">The life of each result</h2>
        <Lanes session={session} story={story} selected={selected} select={select} />
      </section>
    </>
  );
}

/** What a request is made of, from the bottom up. */
const LAYERS: { name: string; className: string; of: (request: RequestStory) => number }[] = [
  { name: "system and tools", className: "layer-system", of: ({ systemAndToolsTokens }) => systemAndToolsTokens },
  { name: "messages", className: "layer-messages", of: ({ messageTokens }) => messageTokens },
  { name: "results, whole", className: "layer-whole", of: ({ results }) => results.whole },
  { name: "results, cut", className: "layer-cut", of: ({ results }) => results.cut },
  { name: "results, trimmed", className: "layer-trimmed", of: ({ results }) => results.trimmed },
  { name: "results, cleared", className: "layer-cleared", of: ({ results }) => results.cleared },
];

const MOST_BARS = 400;
const [HEIGHT, TOP, BOTTOM] = [280, 18, 24];
/** Under this width lanes have their names above them, a bar takes so much, and few bars need no scrolling. */
const [NARROW, NARROW_LEFT, NARROW_SLOT] = [700, 52, 26];
/** Where a lane begins and ends, so that each request stands above its place in the lanes. The legend is at the left. */
const [WIDE_LEFT, WIDE_RIGHT] = [366, 14];

/** The width of an element as it is shown. */
function useWidth() {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    setWidth(element.clientWidth);
    const watch = new ResizeObserver(() => setWidth(element.clientWidth));
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  return [box, width] as const;
}

/** How many requests, and results with them, are left of what is drawn. */
const skippedOf = ({ requests }: SessionStory) => Math.max(0, requests.length - MOST_BARS);

function FillChart({ story, selected }: { story: SessionStory; selected: LifeStory | null }): ReactNode {
  const skipped = skippedOf(story);
  const requests = story.requests.slice(skipped);
  const most = Math.max(1, ...requests.map(({ tokens, windowTokens }) => Math.max(tokens, windowTokens ?? 0))) * 1.05;
  const y = (tokens: number) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - tokens / most);
  const [box, given] = useWidth();
  const isNarrow = given < NARROW;
  const left = isNarrow ? NARROW_LEFT : WIDE_LEFT;
  const width = isNarrow ? Math.max(given, left + requests.length * NARROW_SLOT) : given;
  const right = isNarrow ? width : width - WIDE_RIGHT;
  const slot = Math.max(1, right - left) / requests.length;
  const bar = Math.min(56, slot * 0.72);
  const x = (at: number) => left + slot * at + (slot - bar) / 2;
  const used = LAYERS.filter(({ of }) => requests.some((request) => of(request) > 0));
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((share) => share * niceUnder(most));
  return (
    <div className={isNarrow ? "" : "fill-wide"}>
      <div ref={box} className="fill-box" tabIndex={0} role="region" aria-label="The chart">
        <svg
          className="fill"
          width={width}
          height={HEIGHT}
          role="img"
          aria-label={`${counted(requests.length, "request")}; the last takes ${exact(requests.at(-1)?.tokens ?? 0)} tokens. The table has every figure.`}
        >
          <defs>
            {["cut", "trimmed"].map((name) => (
              <pattern
                key={name}
                id={`hatch-${name}`}
                className={`hatch-${name}`}
                width="6"
                height="6"
                patternUnits="userSpaceOnUse"
                patternTransform={name === "cut" ? "rotate(45)" : "rotate(-45)"}
              >
                <rect width="6" height="6" className="hatch-back" />
                <rect width="3" height="6" className="hatch-line" />
              </pattern>
            ))}
          </defs>
          {ticks.map((tick) => (
            <g key={tick}>
              <line className="grid" x1={left} x2={right} y1={y(tick)} y2={y(tick)} />
              <text className="axis" x={left - 6} y={y(tick) + 4} textAnchor="end">
                {axisText(tick)}
              </text>
            </g>
          ))}
          {requests.map((request, at) => {
            let top = 0;
            return (
              <g key={request.event}>
                <title>{titleOf(request, skipped + at + 1)}</title>
                {LAYERS.map(({ name, className, of }) => {
                  const tokens = of(request);
                  top += tokens;
                  return tokens === 0 ? null : (
                    <rect
                      key={name}
                      className={className}
                      x={x(at)}
                      width={bar}
                      y={y(top)}
                      height={Math.max(0.5, y(top - tokens) - y(top))}
                    />
                  );
                })}
                {request.inputTokens !== null && (
                  <circle
                    className="counted"
                    cx={x(at) + bar / 2}
                    cy={y(request.inputTokens)}
                    r={Math.min(4, bar / 3)}
                  />
                )}
                {request.cacheBreak !== null && (
                  <path className="break" d={`M${x(at) - slot * 0.14} ${TOP} V${HEIGHT - BOTTOM}`} />
                )}
                {request.cacheBreak !== null && (
                  <text
                    className="break-label"
                    x={x(at) - slot * 0.14 + 4}
                    y={TOP - 6}
                  >{`⚡ ${request.cacheBreak.isCounted ? "" : "≈ "}${short(request.cacheBreak.tokens)}`}</text>
                )}
                {request.refusals > 0 && (
                  <text className="refused" x={x(at) + bar / 2} y={y(request.tokens) - 8} textAnchor="middle">
                    ⟲
                  </text>
                )}
                {slot >= 22 && (
                  <text className="axis" x={x(at) + bar / 2} y={HEIGHT - 8} textAnchor="middle">
                    {skipped + at + 1}
                  </text>
                )}
              </g>
            );
          })}
          <path
            className="window"
            d={requests
              .map(({ windowTokens }, at) =>
                windowTokens === null ? "" : `M${left + slot * at} ${y(windowTokens)} H${left + slot * (at + 1)}`,
              )
              .join(" ")}
          />
          {selected !== null &&
            requests.map((request, at) =>
              stepAt(selected, skipped + at) === null ? null : (
                <rect
                  key={request.event}
                  className="selected-mark"
                  x={x(at)}
                  width={bar}
                  y={HEIGHT - BOTTOM + 1}
                  height="3"
                />
              ),
            )}
        </svg>
      </div>
      <Legend
        items={[
          ...used
            .toReversed()
            .map(({ name, className }) => [sign(<rect className={className} width="18" height="12" />), name] as const),
          [sign(<circle className="counted" cx="9" cy="6" r="4" />), "as the provider counted"],
          [
            sign(<path className="window" d="M0 6 H18" />),
            requests.some(({ isWindowStated }) => isWindowStated) ? "window, as the provider stated it" : "window",
          ],
          ...(requests.some(({ cacheBreak }) => cacheBreak !== null)
            ? [["⚡", "cache broken, tokens read anew (≈ estimated)"] as const]
            : []),
          ...(requests.some(({ refusals }) => refusals > 0)
            ? [["⟲", "refused for size, made smaller and sent again"] as const]
            : []),
        ]}
      />
      {skipped > 0 && (
        <p className="quiet">
          The last {exact(MOST_BARS)} of {exact(story.requests.length)} requests. The table has all.
        </p>
      )}
    </div>
  );
}

const sign = (shape: ReactNode) => (
  <svg width="18" height="12">
    {shape}
  </svg>
);

/** The largest round number that is not over it. */
function niceUnder(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return ([8, 6, 4, 2, 1].find((each) => each * power <= value) ?? 1) * power;
}

function titleOf(request: RequestStory, number: number): string {
  const { estimatedTokens, tokens, windowTokens, inputTokens } = request;
  return [
    `Request ${number}, ${exactTime(request.atMs)}`,
    `${inputTokens === null ? "about " : ""}${exact(tokens)} tokens${windowTokens === null ? "" : ` of ${exact(windowTokens)}`}`,
    ...(inputTokens === null ? [] : [`as the provider counted; ${exact(estimatedTokens)} by our estimate`]),
    ...LAYERS.flatMap(({ name, of }) => (of(request) > 0 ? `${name}: ${exact(of(request))}` : [])),
    ...happenedIn(request),
  ].join("\n");
}

/** What became of a request on its way. */
function happenedIn({ pruned, refusals, cacheBreak, recalls }: RequestStory): string[] {
  return [
    pruned === null ? "" : `made shorter: ${pruned}`,
    refusals === 0 ? "" : `${counted(refusals, "refusal")}, recovered`,
    recalls === 0 ? "" : `read back ${counted(recalls, "time")} before it`,
    cacheBreak === null
      ? ""
      : `cache broken: ${exact(cacheBreak.tokens)} tokens anew${cacheBreak.isCounted ? "" : " (estimated)"}, about ${dollars(cacheBreak.dollars)} (${cacheBreak.why})`,
  ].filter(Boolean);
}

const numbered = (count: number | null) => (count === null ? "—" : <Count of={count} />);

const REQUEST_COLUMNS: Column<RequestStory>[] = [
  { head: "#", kind: "right", cell: (_request, at) => at + 1 },
  { head: "When", cell: ({ atMs }) => <Time atMs={atMs} /> },
  { head: "Model", kind: "long", cell: ({ model }) => <Name text={model ?? "—"} /> },
  { head: "Estimated", kind: "right", cell: ({ estimatedTokens }) => numbered(estimatedTokens) },
  { head: "Counted", kind: "right", cell: ({ inputTokens }) => numbered(inputTokens) },
  {
    head: "Of the window",
    kind: "right",
    cell: ({ tokens, windowTokens }) => (windowTokens === null ? "—" : percent(tokens / windowTokens)),
  },
  {
    head: "Results",
    kind: "right",
    cell: ({ results }) => numbered(Object.values(results).reduce((sum, each) => sum + each, 0)),
  },
  { head: "From the cache", kind: "right", cell: ({ cacheReadTokens }) => numbered(cacheReadTokens) },
  { head: "What happened", kind: "wrap", cell: (request) => happenedIn(request).join("; ") || "—" },
];

const MOST_LANES = 200;
const FORMS = ["whole", "cut", "trimmed", "cleared"] as const;

function Lanes({
  session,
  story,
  selected,
  select,
}: {
  session: string;
  story: SessionStory;
  selected: LifeStory | null;
  select: (life: LifeStory | null) => void;
}): ReactNode {
  const { lives } = story;
  const skipped = skippedOf(story);
  const count = Math.max(1, story.requests.length - skipped);
  const placeOf = (request: number) => Math.max(0, request - skipped) / count;
  const shown =
    lives.length <= MOST_LANES
      ? lives
      : new Set(lives.toSorted((one, other) => other.bytes - one.bytes).slice(0, MOST_LANES));
  const largest = Math.max(1, ...lives.map(({ steps }) => steps[0]?.tokens ?? 0));
  if (lives.length === 0) return <p className="quiet">No result of a tool is recorded in this session.</p>;
  return (
    <>
      <ul className="lanes">
        {[...shown].map((life) => (
          <li key={life.event}>
            <button
              type="button"
              className="lane"
              aria-expanded={life === selected}
              onClick={() => select(life === selected ? null : life)}
            >
              <span className="lane-name">
                <Name text={life.tool} />{" "}
                <span className="quiet">
                  <Made by={life.command} />
                </span>
              </span>
              <span className="lane-size">
                {life.steps.length > 1 && (
                  <>
                    <Count of={life.steps[0]?.tokens ?? 0} /> →{" "}
                  </>
                )}
                <Count of={life.steps.at(-1)?.tokens ?? 0} unit="tokens" />
              </span>
              <span className="lane-track">
                {life.steps.map((step, at) => {
                  const end = placeOf(life.steps[at + 1]?.request ?? (story.requests.length || 1));
                  const height = 5 + 9 * Math.sqrt(Math.min(1, step.tokens / largest));
                  return (
                    // Two steps of one request have the same place.
                    <span
                      key={`${step.request} ${step.form} ${step.tokens}`}
                      className={`lane-part form-${step.form}`}
                      style={{
                        left: `${placeOf(step.request) * 100}%`,
                        width: `${Math.max(0, end - placeOf(step.request)) * 100}%`,
                        height,
                      }}
                    />
                  );
                })}
                {life.recalledAt.map((request) => (
                  <span key={request} className="lane-recall" style={{ left: `${placeOf(request) * 100}%` }}>
                    ↩
                  </span>
                ))}
              </span>
              <span className="unheard">{lifeText(life, story)}</span>
            </button>
            {life === selected && <LifeFacts session={session} story={story} life={life} />}
          </li>
        ))}
      </ul>
      <Legend
        items={[
          ...FORMS.map((form) => [<FormSample key={form} form={form} />, FORM_WORDS[form]] as const),
          ["↩", "read back by the model"],
        ]}
      />
      {lives.length > MOST_LANES && (
        <p className="quiet">
          The {MOST_LANES} largest of {exact(lives.length)} results.
        </p>
      )}
    </>
  );
}

function LifeFacts({ session, story, life }: { session: string; story: SessionStory; life: LifeStory }): ReactNode {
  const { call, event, bytes, steps } = life;
  // What came in whole is saved when it is made shorter. The event of its coming does not know that.
  const isSavedLater = life.artifact === null && steps.length > 1;
  const path = `/api/artifacts?session=${encodeURIComponent(session)}`;
  const later = useAsked<Artifact[]>(isSavedLater ? path : null, askAll);
  const artifact = life.artifact ?? later.data?.find((saved) => saved.call === call)?.id ?? null;
  const view = useAsked<View>(life.artifact && `/api/artifacts/${life.artifact}/view?event=${event}`);
  return (
    <div className="life">
      <p>
        It printed <Bytes of={bytes} />: {lifeText(life, story)}.
      </p>
      {view.data !== null && <p className="quiet">What the model read of it as it came:</p>}
      {view.data !== null && <PlainText name="What the model read" text={view.data.text} />}
      <p>
        {artifact !== null ? (
          <a className="button" href={hrefTo("outputs", artifact, { session, event })}>
            See the output
          </a>
        ) : isSavedLater ? (
          <a href={hrefTo("outputs", "", { session })}>The saved outputs of this session</a>
        ) : (
          "The model saw all of it as it came, so nothing had to be saved."
        )}
      </p>
    </div>
  );
}
