import { type ReactNode, useEffect, useId, useRef, useState } from "react";
import { ago, bytesText, exact, exactTime, short } from "./amounts.ts";
import { type ApiFault, type Asked, ask, type Page, type Stat, useAsked } from "./api.ts";
import { hrefTo } from "./route.ts";

// Small parts that every page uses.

/** A count, short, with its exact value for those who point at it. */
export function Count({ of, unit: plural }: { of: number; unit?: string }): ReactNode {
  const unit = of === 1 ? plural?.replace(/^(\w+)s\b/, "$1") : plural;
  return (
    <data className="number" value={of} title={`${exact(of)}${unit ? ` ${unit}` : ""}`}>
      {short(of)}
      {unit && <span className="unit"> {unit}</span>}
    </data>
  );
}

/** An amount of bytes. */
export function Bytes({ of }: { of: number }): ReactNode {
  const [amount, unit] = bytesText(of).split(" ");
  return (
    <data className="number" value={of} title={`${exact(of)} bytes`}>
      {amount}
      <span className="unit"> {unit}</span>
    </data>
  );
}

/** How long ago something was; the exact time in the reader's zone for those who point at it. */
export function Time({ atMs }: { atMs: number }): ReactNode {
  return (
    <time dateTime={new Date(atMs).toISOString()} title={exactTime(atMs)}>
      {ago(atMs)}
    </time>
  );
}

/** A share of something as a bar with its label. The label says what the bar shows. */
export function Bar({ share, label }: { share: number; label: string }): ReactNode {
  return (
    <span className="bar">
      <span className="bar-track" aria-hidden="true">
        <span className="bar-fill" style={{ width: `${Math.max(0, Math.min(1, share)) * 100}%` }} />
      </span>
      <span className="number">{label}</span>
    </span>
  );
}

/** Shows an answer once it is there. Before that nothing for a moment, then that it is read; a fault says what to do. */
export function Answer<T>({ asked, children }: { asked: Asked<T>; children: (data: T) => ReactNode }): ReactNode {
  const { data, fault, again } = asked;
  if (data === null) return fault === null ? <Reading /> : <Fault fault={fault} again={again} />;
  return (
    <>
      {fault !== null && <Fault fault={fault} again={again} isOld />}
      {children(data)}
    </>
  );
}

/** Says that something is on its way, once it takes long. */
export function Reading({ what = "Reading" }: { what?: string }): ReactNode {
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 200);
    return () => clearTimeout(timer);
  }, []);
  return (
    <p className="quiet" role="status">
      {isLate ? `${what}…` : ""}
    </p>
  );
}

/** What went wrong and what still works. */
export function Fault({ fault, again, isOld }: { fault: ApiFault; again: () => void; isOld?: boolean }): ReactNode {
  return (
    <div className="fault" role="alert">
      <p>
        <strong>{fault.message}</strong>
      </p>
      <p>
        {isOld ? "What you see is from before. " : ""}
        {FAULT_ADVICE[fault.code] ?? "Nothing is lost: what was saved stays saved."}
      </p>
      <button type="button" onClick={again}>
        Try again
      </button>
    </div>
  );
}

const REMOVED = "It may have been removed by age or by hand. Those that are there: ";
const FAULT_ADVICE: Record<string, ReactNode> = {
  "unknown-artifact": [
    REMOVED,
    <a key="all" href={hrefTo("outputs")}>
      all outputs
    </a>,
  ],
  "unknown-session": [
    REMOVED,
    <a key="all" href={hrefTo("sessions")}>
      all sessions
    </a>,
  ],
  unauthorized: "Enter a token above.",
  unreachable: [
    "Start it again with ",
    <code key="start">spillway serve</code>,
    ". Nothing is lost: what was saved stays saved. The playground works meanwhile.",
  ],
};

/** What to do where there is nothing to show yet. */
export function Empty({ title, children }: { title: string; children: ReactNode }): ReactNode {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** A line to copy. */
export function Copy({ text }: { text: string }): ReactNode {
  const [isDone, setDone] = useState(false);
  return (
    <div className="copy">
      <code>{text}</code>
      <button
        type="button"
        onClick={() =>
          void navigator.clipboard?.writeText(text).then(
            () => setDone(true),
            () => {},
          )
        }
      >
        {isDone ? "Copied" : "Copy"}
      </button>
    </div>
  );
}

/** A column of a table: what stands over it, and what each row has in it. */
export interface Column<Row> {
  head: string;
  cell: (row: Row, at: number) => ReactNode;
  /** Numbers stand to the right. A long text is cut off, or wraps. A heading names its row. */
  kind?: "right" | "long" | "wrap" | "wide" | "heading" | "right heading";
}

interface TableProps<Row> {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string | number;
  classOf?: (row: Row) => string;
  className?: string;
  children?: ReactNode;
}

/** A table that scrolls by itself where it is wider than the page; what stands under its rows is inside it. */
export function Table<Row>(props: TableProps<Row>): ReactNode {
  const { label, columns, rows, keyOf, classOf, className, children } = props;
  const styles = columns.map(({ kind = "" }) => (kind.startsWith("right") ? "right number" : kind));
  return (
    <Scrolling label={label} isLow={className?.includes("scroll") ?? false}>
      <table className={className}>
        <thead>
          <tr>
            {columns.map(({ head }, at) => (
              <th key={head} scope="col" className={styles[at]?.startsWith("right") ? "right" : undefined}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={keyOf(row)} className={classOf?.(row)}>
              {columns.map(({ head, cell, kind }, column) => {
                const isHeading = kind?.endsWith("heading");
                const Cell = isHeading ? "th" : "td";
                return (
                  <Cell key={head} className={styles[column]} scope={isHeading ? "row" : undefined}>
                    {cell(row, at)}
                  </Cell>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
      {children}
    </Scrolling>
  );
}

/** A box that scrolls to the right where it must, with a sign at its edge for as long as there is more. */
function Scrolling({ label, isLow, children }: { label: string; isLow: boolean; children: ReactNode }): ReactNode {
  const box = useRef<HTMLDivElement>(null);
  const [isMore, setMore] = useState(false);
  const look = () => {
    const { scrollWidth, scrollLeft, clientWidth } = box.current ?? { scrollWidth: 0, scrollLeft: 0, clientWidth: 0 };
    setMore(scrollWidth - scrollLeft - clientWidth > 1);
  };
  useEffect(() => {
    const watch = new ResizeObserver(look);
    for (const element of [box.current, box.current?.firstElementChild]) if (element) watch.observe(element);
    return () => watch.disconnect();
  }, []);
  return (
    <div className={isMore ? "table-frame more" : "table-frame"}>
      <div
        ref={box}
        className={isLow ? "table-box scroll" : "table-box"}
        tabIndex={0}
        role="region"
        aria-label={label}
        onScroll={look}
      >
        {children}
      </div>
    </div>
  );
}

interface ListProps<Row> extends Omit<TableProps<Row>, "rows" | "children"> {
  path: string;
  first: Page<Row>;
}

/** A table of a list that the API gives page by page. What is new comes in above what was read before. */
export function List<Row>({ path, first, keyOf, ...table }: ListProps<Row>): ReactNode {
  const [read, setRead] = useState(first);
  const inFirst = new Set(first.items.map(keyOf));
  const rows = [...first.items, ...read.items.filter((row) => !inFirst.has(keyOf(row)))];
  const { next } = read;
  const readMore = async () => {
    const page = await ask<Page<Row>>(`${path}&cursor=${encodeURIComponent(next ?? "")}`).catch(() => null);
    if (page !== null) setRead({ items: [...rows, ...page.items], next: page.next });
  };
  return (
    <Table {...table} keyOf={keyOf} rows={rows}>
      {next !== null && (
        <button type="button" onClick={() => void readMore()}>
          Show more
        </button>
      )}
    </Table>
  );
}

/** A chart under its title, with a button that shows its figures as a table instead. */
export function ChartOrTable(props: { title: string; chart: ReactNode; table: ReactNode }): ReactNode {
  const { title, chart, table } = props;
  const [isTable, setTable] = useState(false);
  return (
    <section aria-label={title}>
      <div className="section-head">
        <h2>{title}</h2>
        <button type="button" aria-pressed={isTable} onClick={() => setTable(!isTable)}>
          As a table
        </button>
      </div>
      {isTable ? table : chart}
    </section>
  );
}

/** What the signs of a chart mean. */
export function Legend({ items }: { items: readonly (readonly [sign: ReactNode, meaning: string])[] }): ReactNode {
  return (
    <ul className="legend">
      {items.map(([sign, meaning]) => (
        <li key={meaning}>
          <span aria-hidden="true">{sign}</span>
          {meaning}
        </li>
      ))}
    </ul>
  );
}

/** The form of a result, as lanes and bars draw it. */
export function FormSample({ form }: { form: string }): ReactNode {
  return <span className={`lane-part form-${form} sample`} />;
}

/** A figure with its name, what stands under it, and how it went. */
export interface Figure {
  name: string;
  value: ReactNode;
  note: ReactNode;
  /** The value is a word, not a number. */
  isWord?: boolean;
  /** For those who point at the note. */
  title?: string | undefined;
  line?: ReactNode;
}

/** Figures side by side. */
export function Figures({ figures }: { figures: readonly Figure[] }): ReactNode {
  return (
    <dl className="figures">
      {figures.map(({ name, value, note, isWord, title, line }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd className={isWord ? "word" : "number"}>{value}</dd>
          <dd className="quiet" title={title}>
            {note}
          </dd>
          {line !== undefined && <dd>{line}</dd>}
        </div>
      ))}
    </dl>
  );
}

/** Where a page has nothing to show: what else there is or, if nothing was recorded yet, what to do. */
export function NothingHere({ title, children }: { title: string; children: (sums: Stat) => ReactNode }): ReactNode {
  const asked = useAsked<{ rows: Stat[] }>("/api/stats?by=all");
  return (
    <Answer asked={asked}>
      {({ rows: [sums] }) =>
        sums === undefined || sums.calls + sums.requests === 0 ? (
          <NothingYet />
        ) : (
          <Empty title={title}>
            <p>{children(sums)}</p>
          </Empty>
        )
      }
    </Answer>
  );
}

/** A session that is played, on a port that is not this server's. */
export const DEMO = "spillway demo --serve --port 8788";

function NothingYet(): ReactNode {
  return (
    <Empty title="Nothing is recorded yet">
      <p>Point an agent here, and everything its tools print passes through. For Claude Code:</p>
      <Copy text={`ANTHROPIC_BASE_URL=${location.origin} claude`} />
      <p>Or look at a session that was played for you:</p>
      <Copy text={DEMO} />
    </Empty>
  );
}

/** A window over the page. Escape closes it, and the focus goes back to where it was. */
export function Dialog({
  title,
  close,
  children,
}: {
  title: string;
  close: () => void;
  children: ReactNode;
}): ReactNode {
  const shown = useRef<HTMLDialogElement>(null);
  const name = useId();
  useEffect(() => shown.current?.showModal(), []);
  return (
    <dialog ref={shown} onClose={close} aria-labelledby={name}>
      <header>
        <h2 id={name}>{title}</h2>
        <button type="button" onClick={close} aria-label="Close">
          ✕
        </button>
      </header>
      {children}
    </dialog>
  );
}

/** Characters that do something to the text around them, or that nobody sees. */
const UNSEEN = /(?!\t)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

/**
 * Text of somebody else, as text. What would be unseen, or would turn what stands around it, has its code shown in its
 * place; copying gives the character itself.
 */
export function Raw({ text }: { text: string }): ReactNode {
  if (!UNSEEN.test(text)) return text;
  const parts = text.split(new RegExp(`(${UNSEEN.source})`, "u"));
  return parts.map((part, at) =>
    at % 2 === 0 ? (
      part
    ) : (
      <span key={at} className="unseen" data-code={codeOf(part)}>
        {part}
      </span>
    ),
  );
}

/** A name that somebody else gave: it does not turn what stands around it, and is seen if it is blank. */
export function Name({ text }: { text: string }): ReactNode {
  return (
    <bdi>
      <Raw text={text.trim() === "" ? `"${text}"` : text} />
    </bdi>
  );
}

/** What made an output: a command, or a tool's arguments. Of one argument alone the value says enough. */
export function Made({ by }: { by: string | null }): ReactNode {
  return by === null ? "—" : <Name text={onlyArgument(by) ?? by} />;
}

function onlyArgument(made: string): string | null {
  if (!made.startsWith("{")) return null;
  try {
    const [value, ...others] = Object.values<unknown>(JSON.parse(made));
    return typeof value === "string" && others.length === 0 ? value : null;
  } catch {
    return null;
  }
}

/** The name of a session, which leads to it. */
export function SessionLink({ session }: { session: string | null }): ReactNode {
  if (session === null) return "—";
  return (
    <a href={hrefTo("sessions", session)}>
      <Name text={session} />
    </a>
  );
}

function codeOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code === 0x1b) return "ESC";
  return code < 0x20 ? String.fromCharCode(0x2400 + code) : `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}
