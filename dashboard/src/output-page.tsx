import {
  type FormEvent,
  type ReactNode,
  type RefObject,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { eventsPath, linesPath, outputPaths } from "./ahead.ts";
import { bytesText, counted, exact, percent } from "./amounts.ts";
import {
  ApiFault,
  type Artifact,
  ask,
  askAll,
  hasToken,
  type Line,
  type Receipt,
  type RecordedEvent,
  send,
  useAsked,
  type View,
} from "./api.ts";
import { ComparePanel } from "./compare-panel.tsx";
import { useKeys } from "./keys.ts";
import { Minimap } from "./minimap.tsx";
import { Answer, Bytes, Count, type Figure, Figures, Made, Name, Raw, SessionLink, Time } from "./parts.tsx";
import { go, hrefTo } from "./route.ts";
import { lifeText, storyOf } from "./session-story.ts";
import { firstFailure, type Stretch, stretchAt, stretchesOf } from "./stretches.ts";
import { type Heading, PlainText, type ReadLines, type Seen, TextView, type TextViewHandle } from "./text-view.tsx";

/** One output: what there was, what the model saw of it, and why. */
export function OutputPage({ id, params }: { id: string; params: URLSearchParams }): ReactNode {
  const paths = outputPaths(id);
  const artifact = useAsked<Artifact>(paths.artifact);
  const receipts = useAsked<{ items: { event: number; atMs: number; receipt: Receipt }[] }>(paths.receipts);
  // The same text may have come in in several sessions. The address says in which of them one looks at it.
  const [asEvent, inSession] = [params.get("event"), params.get("session")];
  const items = receipts.data?.items ?? [];
  const found =
    items.find(({ event }) => String(event) === asEvent) ??
    (inSession === null ? items[0] : items.find(({ receipt }) => receipt.session === inSession));
  const isKnown = artifact.data !== null && receipts.data !== null;
  const session = inSession ?? (isKnown ? (found?.receipt.session ?? artifact.data?.session ?? null) : null);
  const events = useAsked<RecordedEvent[]>(session === null ? null : eventsPath(session), askAll);
  const call =
    found?.receipt.call ??
    events.data?.find(({ id: event }) => String(event) === asEvent)?.call ??
    (session === artifact.data?.session ? artifact.data?.call : null) ??
    null;
  const story = useMemo(() => (events.data === null ? null : storyOf(events.data)), [events.data]);
  const life = story?.lives.find((each) => each.call === call);
  // What came in whole was saved later, so that its receipt names no artifact. Its call is the same.
  const whole =
    found === undefined && call !== null
      ? events.data?.findLast((each) => each.call === call && each.receipt !== null)
      : undefined;
  return (
    <>
      {/* The heading is the tool's name, once that is known. */}
      {artifact.data === null && <h1>Output</h1>}
      <Answer asked={artifact}>
        {(saved) => (
          <Answer asked={receipts}>
            {() => (
              <Output
                artifact={{ ...saved, session }}
                recorded={found?.receipt ?? whole?.receipt ?? null}
                event={found?.event ?? null}
                life={!story || !life || (found && life.steps.length === 1) ? "" : lifeText(life, story)}
                params={params}
              />
            )}
          </Answer>
        )}
      </Answer>
    </>
  );
}

interface OutputProps {
  artifact: Artifact;
  recorded: Receipt | null;
  /** Of the receipt that names this artifact. Null if it was not cut, or nobody recorded it. */
  event: number | null;
  /** What became of it in its session; empty where nobody knows. */
  life: string;
  params: URLSearchParams;
}

function Output({ artifact, recorded, event, life, params }: OutputProps): ReactNode {
  const { id, lines, tool } = artifact;
  const isModel = event !== null && params.get("as") === "model";
  // Making the text again keeps the server busy, so that the lines are read first.
  const [isRead, setRead] = useState(isModel);
  const isAsked = event !== null && (isRead || isModel);
  const view = useAsked<View>(isAsked ? `/api/artifacts/${id}/view?event=${event}` : null);
  const [isComparing, setComparing] = useState(false);
  const [selected, setSelected] = useState<number | null>(Number(params.get("line")) || null);
  const [seen, setSeen] = useState<Seen>({ from: 1, to: 1 });
  const [found, setFound] = useState<Found | null>(null);
  const text = useRef<TextViewHandle>(null);
  const again = view.data?.receipt ?? null;
  const stretches = useMemo(
    () => (recorded === null ? [] : stretchesOf(recorded, lines, blockOf(recorded, id), again)),
    [recorded, again, lines, id],
  );
  const headings = useMemo(() => stretches.flatMap(headingOf), [stretches]);
  const read = useCallback<ReadLines>(
    async (from, _to, signal) => {
      const { lines: found } = await ask<{ lines: Line[] }>(linesPath(id, from), signal);
      setRead(true);
      return found;
    },
    [id],
  );
  const address = useCallback(
    (line: number | null, as?: "model") => {
      const [event, session] = ["event", "session"].map((name) => params.get(name) ?? undefined);
      go(hrefTo("outputs", id, { event, session, line: line ?? undefined, as }), "replace");
    },
    [id, params],
  );
  const setModel = (isIt: boolean) => address(selected, isIt ? "model" : undefined);
  const select = useCallback(
    (line: number) => {
      setSelected(line);
      address(line);
    },
    [address],
  );
  const isOpened = useRef(false);
  const [openedMs] = useState(() => performance.now());
  const jump = useCallback(
    (line: number) => {
      isOpened.current = true;
      select(line);
      requestAnimationFrame(() => text.current?.goTo(line));
    },
    [select],
  );
  // A page opens at the line of its address, else at what looks like a failure, if nobody has begun to read by then.
  const failure = firstFailure(stretches);
  const opening = Number(params.get("line")) || (failure ?? 0);
  useEffect(() => {
    if (opening === 0 || isOpened.current) return;
    isOpened.current = true;
    const isFresh = params.has("line") || performance.now() - openedMs < BEFORE_READING_MS;
    if (seen.from === 1 && isFresh) text.current?.goTo(opening);
  }, [opening, seen.from, params, openedMs]);
  const step = (by: 1 | -1) => {
    const at = selected ?? (seen.from === 1 ? 1 : opening || seen.from);
    const next = by === 1 ? stretches.find(({ from }) => from > at) : stretches.findLast(({ from }) => from < at);
    if (next !== undefined) jump(next.from);
  };
  const byLines = (by: number) => jump(Math.max(1, Math.min(lines, (selected ?? seen.from) + by)));
  const finder = useRef<HTMLInputElement>(null);
  const lineField = useRef<HTMLInputElement>(null);
  useKeys([
    { key: "j", does: "next line", run: () => byLines(1) },
    { key: "k", does: "previous line", run: () => byLines(-1) },
    { key: "n", does: "next piece or gap", run: () => step(1) },
    { key: "p", does: "previous piece or gap", run: () => step(-1) },
    {
      key: "m",
      does: "change between the whole text and what the model read",
      run: () => setModel(event !== null && !isModel),
    },
    { key: "c", does: "compare with another policy", run: () => setComparing(!isComparing) },
    { key: "/", does: "find", run: () => finder.current?.focus() },
    { key: "g", does: "go to a line", run: () => lineField.current?.focus() },
  ]);
  return (
    <>
      <Head artifact={artifact} recorded={recorded} life={life} />
      <div className="toolbar">
        {event !== null && (
          <div className="switch" role="group" aria-label="What is shown">
            <button type="button" aria-pressed={!isModel} onClick={() => setModel(false)}>
              Whole text
            </button>
            <button type="button" aria-pressed={isModel} onClick={() => setModel(true)}>
              As the model read it
            </button>
          </div>
        )}
        {stretches.length > 1 && (
          <div className="switch" role="group" aria-label="Pieces and gaps, one by one">
            <button
              type="button"
              onClick={() => step(-1)}
              aria-label="Previous piece or gap"
              title="Previous piece (p)"
            >
              ↑
            </button>
            <button type="button" onClick={() => step(1)} aria-label="Next piece or gap" title="Next piece (n)">
              ↓
            </button>
          </div>
        )}
        <FindForm id={id} field={finder} found={found} setFound={setFound} jump={jump} selected={selected} />
        <form
          onSubmit={(event) => {
            event.preventDefault();
            const line = Number(lineField.current?.value);
            if (line > 0) jump(Math.min(lines, line));
            lineField.current?.blur();
          }}
        >
          <input ref={lineField} inputMode="numeric" size={7} placeholder="line" aria-label="Go to line" />
        </form>
        <button type="button" aria-pressed={isComparing} onClick={() => setComparing(!isComparing)}>
          Compare
        </button>
        <Download id={id} />
      </div>
      {isModel ? (
        <ModelText asked={view} />
      ) : (
        <div className={recorded === null ? "reader unknown" : "reader"}>
          <TextView
            name={`The output of ${tool}, ${counted(lines, "line")}`}
            lines={lines}
            read={read}
            headings={headings}
            classOf={(line) =>
              (found?.set.has(line) ? "found " : "") + (stretchAt(stretches, line)?.isShown === false ? "cut" : "lit")
            }
            selected={selected}
            select={select}
            seen={setSeen}
            handle={text}
          />
          <Minimap
            lines={lines}
            stretches={stretches}
            hits={found?.lines ?? NO_LINES}
            seen={seen}
            goTo={(line) => text.current?.goTo(line)}
          />
          {recorded !== null && (
            <Pieces stretches={stretches} selected={selected} jump={jump} more={recorded.moreCuts} />
          )}
        </div>
      )}
      {isComparing && <ComparePanel id={id} shown={recorded} before={view.data?.text ?? null} />}
    </>
  );
}

const NO_LINES: readonly number[] = [];
/** After this time somebody may read, and the text must not move under their eyes. */
const BEFORE_READING_MS = 1500;

/** Which text of a structured result an artifact is; null where there is one only. */
function blockOf(receipt: Receipt, id: string): number | null {
  const at = receipt.artifacts?.indexOf(id) ?? -1;
  if (at < 0) return null;
  return [...new Set(receipt.cuts.flatMap(({ block }) => block ?? []))].toSorted((a, b) => a - b)[at] ?? null;
}

/** What stands before a stretch of a text. */
export function headingOf({ isShown, from, to, bytes, why }: Stretch): Heading[] {
  if (isShown) return why === "" ? [] : [{ line: from, kind: "kept", text: `Shown: ${why}` }];
  const which = from === to ? `part of line ${exact(from)}` : `lines ${exact(from)} to ${exact(to)}`;
  return [{ line: from, kind: "gap", text: `Not shown: ${which}, ${bytesText(bytes)}${why && `; ${why}`}` }];
}

function Head({ artifact, recorded, life }: Pick<OutputProps, "artifact" | "recorded" | "life">): ReactNode {
  const { tool, command, session, createdAtMs, bytes, lines, saved, redactions, exitCode } = artifact;
  return (
    <header className="page-head">
      <h1>
        <Name text={tool} />
      </h1>
      {command !== null && (
        <code className="command">
          <Made by={command} />
        </code>
      )}
      <p className="quiet">
        {session !== null && (
          <>
            session <SessionLink session={session} /> ·{" "}
          </>
        )}
        <Time atMs={createdAtMs} />
        {exitCode !== null && ` · exit code ${exitCode}`}
        {saved !== "yes" && ` · saved: ${saved}`}
        {redactions.count > 0 && ` · ${counted(redactions.count, "secret")} replaced before saving`}
      </p>
      <Figures
        figures={[
          { name: "Whole output", value: <Bytes of={bytes} />, note: <Count of={lines} unit="lines" /> },
          ...(recorded === null ? NOT_RECORDED : figuresOf(recorded)),
        ]}
      />
      {life !== "" && <p className="note">In its session it was {life}.</p>}
      {recorded === null && life === "" && (
        <p className="note">No receipt of this output is recorded, so it is not known what the model saw of it.</p>
      )}
      {recorded?.faults?.map((fault) => (
        <p key={fault} className="note">
          <Raw text={fault} />
        </p>
      ))}
    </header>
  );
}

const NOT_RECORDED = ["The model read", "Of the source kept", "Decided by"].map(
  (name): Figure => ({ name, value: "—", note: "not recorded" }),
);

function figuresOf({ shown, kept, total, estimated, strategy, kind, cutBy }: Receipt): Figure[] {
  return [
    {
      name: "The model read",
      value: <Bytes of={shown.bytes} />,
      note: (
        <>
          <Count of={shown.tokens} unit="tokens" />
          {estimated.includes("tokens") && ", estimated"}
        </>
      ),
    },
    {
      name: "Of the source kept",
      value: total.bytes === 0 ? "—" : percent(kept.bytes / total.bytes),
      note: <Count of={kept.lines} unit="lines" />,
    },
    {
      name: "Decided by",
      isWord: true,
      value: strategy,
      note: `${kind === undefined ? "" : `a ${kind}; `}${cutBy === null ? "nothing was cut" : `the limit of ${cutBy}`}`,
    },
  ];
}

function ModelText({ asked }: { asked: ReturnType<typeof useAsked<View>> }): ReactNode {
  return (
    <Answer asked={asked}>
      {({ text, isSame, recorded, receipt }) => (
        <>
          <p className="note">
            {recorded.summarized
              ? `The model read a summary by ${recorded.summaryModel}. This is what stood there without it.`
              : isSame
                ? "Exactly what the model read, made again from the saved output. Lines in brackets are markers."
                : `Made again from the saved output. It differs from what the model read: that had ${exact(recorded.shown.chars)} characters, this has ${exact(receipt.shown.chars)}. ${whyOther(recorded)} Its marker may name another way to read on than the model was told.`}
          </p>
          <PlainText name="What the model read" text={text} />
        </>
      )}
    </Answer>
  );
}

/** Why a text cannot be made again as it was, as far as its receipt knows. */
function whyOther({ storedRedactions }: Receipt): string {
  const count = storedRedactions?.count ?? 0;
  return count > 0
    ? `${counted(count, "secret")} ${count === 1 ? "was" : "were"} replaced before it was saved.`
    : "The receipt does not say why: what the model looked for, for one, is not recorded.";
}

const MOST_LISTED = 300;

function Pieces({
  stretches,
  selected,
  jump,
  more,
}: {
  stretches: readonly Stretch[];
  selected: number | null;
  jump: (line: number) => void;
  more: number;
}): ReactNode {
  const current = selected === null ? undefined : stretchAt(stretches, selected);
  return (
    <aside className="pieces" aria-label="Pieces and gaps">
      <h2>Pieces and gaps</h2>
      <ol tabIndex={0}>
        {stretches.slice(0, MOST_LISTED).map((stretch) => (
          <li key={stretch.from}>
            <button
              type="button"
              className={stretch.isShown ? "kept" : "gap"}
              aria-current={stretch === current ? "true" : undefined}
              onClick={() => jump(stretch.from)}
            >
              <span className="piece-lines number">
                {exact(stretch.from)}
                {stretch.to > stretch.from && `–${exact(stretch.to)}`}
              </span>
              <span>
                {stretch.isShown
                  ? `shown${stretch.why && `: ${stretch.why}`}`
                  : `not shown, ${bytesText(stretch.bytes)}`}
              </span>
            </button>
          </li>
        ))}
      </ol>
      {stretches.length > MOST_LISTED && <p className="quiet">and {exact(stretches.length - MOST_LISTED)} more</p>}
      {more > 0 && (
        <p className="quiet">
          {counted(more, "gap")} beyond these were counted, not listed: the last piece holds them.
        </p>
      )}
    </aside>
  );
}

interface Found {
  pattern: string;
  lines: readonly number[];
  set: ReadonlySet<number>;
  total: number;
  note: string;
}

interface FindProps {
  id: string;
  field: RefObject<HTMLInputElement | null>;
  found: Found | null;
  setFound: (found: Found | null) => void;
  jump: (line: number) => void;
  selected: number | null;
}

function FindForm({ id, field, found, setFound, jump, selected }: FindProps): ReactNode {
  const [fault, setFault] = useState("");
  const [isPattern, setPattern] = useState(false);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const pattern = field.current?.value ?? "";
    if (pattern === "") return setFound(null);
    const key = `${isPattern} ${pattern}`;
    if (found?.pattern === key) {
      const next = found.lines.find((line) => line > (selected ?? 0)) ?? found.lines[0];
      if (next !== undefined) jump(next);
      return;
    }
    const query = new URLSearchParams({
      pattern,
      literal: String(!isPattern),
      ignoreCase: "true",
      context: "0",
      max: "1000",
    });
    try {
      const answer = await ask<{ total: number; complete: boolean; matches: { line: number }[] }>(
        `/api/artifacts/${id}/search?${query}`,
      );
      const lines = answer.matches.map(({ line }) => line);
      setFault("");
      const note = answer.complete ? "" : " so far; the search took too long";
      setFound({ pattern: key, lines, set: new Set(lines), total: answer.total, note });
      if (lines[0] !== undefined) jump(lines[0]);
    } catch (error) {
      setFound(null);
      setFault(error instanceof ApiFault ? error.message : String(error));
    }
  };
  return (
    <form role="search" onSubmit={(event) => void submit(event)} className="find">
      <input
        ref={field}
        type="search"
        placeholder="Find"
        aria-label="Find in the output"
        onKeyDown={(event) => event.key === "Escape" && field.current?.blur()}
      />
      <label title="Read it as a regular expression">
        <input type="checkbox" checked={isPattern} onChange={(event) => setPattern(event.target.checked)} /> regex
      </label>
      <output className="quiet" aria-live="polite">
        {fault}
        {found !== null &&
          `${counted(found.total, "line")}${found.note}${found.lines.length < found.total ? `, the first ${found.lines.length} marked` : ""}`}
      </output>
    </form>
  );
}

function Download({ id }: { id: string }): ReactNode {
  const path = `/api/artifacts/${id}/content`;
  const name = `${id}.txt`;
  if (!hasToken())
    return (
      <a className="button" href={path} download={name}>
        Download
      </a>
    );
  const save = async () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(await (await send(path)).blob());
    link.download = name;
    link.click();
    URL.revokeObjectURL(link.href);
  };
  return (
    <button type="button" onClick={() => void save()}>
      Download
    </button>
  );
}
