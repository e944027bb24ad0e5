import type { ReactNode } from "react";
import { counted, exact } from "./amounts.ts";
import { type Page, type RecordedEvent, useAsked, useLive } from "./api.ts";
import { Answer, Copy, DEMO, Empty, Legend, Name, Raw, SessionLink, Time } from "./parts.tsx";
import { hrefTo } from "./route.ts";

const KINDS = "overflow-detected,overflow-reduced,overflow-recovered,overflow-failed";

/** Each refusal for size: what the provider said, and what was done. */
export function OverflowsPage({ params }: { params: URLSearchParams }): ReactNode {
  const session = params.get("session");
  const of = session === null ? "" : `&session=${encodeURIComponent(session)}`;
  const asked = useAsked<Page<RecordedEvent>>(`/api/events?kind=${KINDS}&max=1000${of}`);
  useLive(asked.again, session ?? undefined);
  return (
    <>
      <h1>Overflows</h1>
      <p className="lead">
        Requests that a provider refused because they were too large: its own words, what they were taken for, and the
        steps that made the request fit.
      </p>
      {session !== null && (
        <p>
          Those of session <SessionLink session={session} /> only. <a href={hrefTo("overflows")}>All of them</a>
        </p>
      )}
      <Answer asked={asked}>
        {({ items, next }) => {
          const incidents = incidentsIn(items.toReversed()).toReversed();
          const isScaled = items.some(({ kind }) => kind === "overflow-reduced");
          if (incidents.length === 0) {
            return (
              <Empty title="No request was refused for its size">
                <p>
                  When a provider refuses one, it is made smaller and sent again, and stands here. To see one that was
                  played for you:
                </p>
                <Copy text={DEMO} />
              </Empty>
            );
          }
          return (
            <>
              {incidents.map((incident) => (
                <Incident key={incident[0]?.id} events={incident} />
              ))}
              {isScaled && (
                <Legend
                  items={[
                    [<span key="left" className="rung-bar sample" />, "what a step left of the request's tokens"],
                    [<span key="limit" className="rung-limit sample" />, "what the provider allows"],
                  ]}
                />
              )}
              {next !== null && <p className="quiet">Only the last {exact(items.length)} events are shown.</p>}
            </>
          );
        }}
      </Answer>
    </>
  );
}

/** Events that belong to one request, the oldest first. */
function incidentsIn(events: readonly RecordedEvent[]): RecordedEvent[][] {
  const all: RecordedEvent[][] = [];
  const open = new Map<string | null, RecordedEvent[]>();
  for (const event of events) {
    const current = open.get(event.session) ?? [];
    if (current.length === 0) {
      all.push(current);
      open.set(event.session, current);
    }
    current.push(event);
    const isEnd =
      event.kind === "overflow-recovered" || event.kind === "overflow-failed" || event.more?.["isKept"] === true;
    if (isEnd) open.delete(event.session);
  }
  return all;
}

const VERDICTS: Record<string, string> = {
  "context-overflow": "the context is over the model's window",
  "payload-too-large": "the request has too many bytes",
};

function Incident({ events }: { events: RecordedEvent[] }): ReactNode {
  const first = events[0];
  const last = events.at(-1);
  if (first === undefined || last === undefined) return null;
  const said = first.more ?? {};
  const text = (name: string) => (typeof said[name] === "string" ? said[name] : null);
  const outcome =
    last.kind === "overflow-recovered"
      ? "recovered"
      : last.kind === "overflow-failed"
        ? "given up"
        : last.more?.["isKept"] === true
          ? "answer kept"
          : "not ended";
  const kind = text("kind") ?? "unknown";
  const [observed, limit] = [said["observedTokens"], said["limitTokens"]].map((count) => Number(count) || null);
  const estimated = Number(said["estimatedTokens"]) || null;
  const scale = observed && limit && estimated ? { observed, limit, estimated } : null;
  return (
    <article className="incident">
      <header>
        <h2>
          <span className={`outcome ${last.kind}`}>
            {outcome === "recovered" ? "✓" : outcome === "given up" ? "✕" : "…"} {outcome}
          </span>{" "}
          <Time atMs={first.atMs} />
        </h2>
        <p className="quiet">
          {first.session !== null && (
            <>
              session <SessionLink session={first.session} /> ·{" "}
            </>
          )}
          <Name text={text("provider") ?? "unknown provider"} />, <Name text={text("model") ?? "unknown model"} />
        </p>
      </header>
      <blockquote>
        <mark>
          <Raw text={text("evidence") ?? "The provider gave no reason in words."} />
        </mark>
      </blockquote>
      <p>
        Taken for: {VERDICTS[kind] ?? kind}
        {text("rule") !== null && (
          <>
            , by the rule{" "}
            <code>
              <Raw text={text("rule") ?? ""} />
            </code>
          </>
        )}
        {observed && limit ? `. ${exact(observed)} tokens, ${exact(limit)} allowed` : ""}.
      </p>
      <ol className="rungs">
        {events.map((event) => (
          <Rung key={event.id} event={event} scale={scale} />
        ))}
      </ol>
      {scale !== null && (
        <p className="quiet">
          Our own estimate was {exact(scale.estimated)} tokens. Every figure here is scaled to the provider's count.
        </p>
      )}
    </article>
  );
}

/** What the provider counted of a request that we estimated too. Our later estimates are shown by its measure. */
interface Scale {
  observed: number;
  limit: number;
  estimated: number;
}

function tokensOf(estimate: number | null, scale: Scale | null): string {
  const factor = scale === null ? 1 : scale.observed / scale.estimated;
  return exact(Math.round((estimate ?? 0) * factor));
}

function Rung({ event: { kind, more }, scale }: { event: RecordedEvent; scale: Scale | null }): ReactNode {
  const said = more ?? {};
  const count = (name: string) => (typeof said[name] === "number" ? said[name] : null);
  if (kind === "overflow-detected") {
    return (
      <li>
        Send {count("attempt") ?? 1} was refused
        {count("estimatedTokens") !== null && `: about ${tokensOf(count("estimatedTokens"), scale)} tokens`}.
      </li>
    );
  }
  if (kind === "overflow-reduced") {
    const [left, freed] = [count("leftTokens") ?? 0, count("freedTokens") ?? 0];
    return (
      <li>
        <strong>
          <Raw text={String(said["rung"] ?? "")} />
        </strong>
        : about {tokensOf(left + freed, scale)} → {tokensOf(left, scale)} tokens
        {said["fits"] === true ? ", which fits" : ""}
        {typeof said["fault"] === "string" && (
          <>
            ; <Raw text={said["fault"]} />
          </>
        )}
        <span className="rung-bar" aria-hidden="true">
          <span style={{ width: `${(left / Math.max(1, left + freed)) * 100}%` }} />
          {scale !== null && (
            <span className="rung-limit" style={{ left: `${(scale.limit / scale.observed) * 100}%` }} />
          )}
        </span>
      </li>
    );
  }
  if (kind === "overflow-recovered")
    return (
      <li>
        Answered after {counted(count("sends") ?? 1, "send")}, with about {tokensOf(count("estimatedTokens"), scale)}{" "}
        tokens.
      </li>
    );
  return (
    <li>
      Given up: <Raw text={String(said["why"] ?? "no reason is recorded")} />
    </li>
  );
}
