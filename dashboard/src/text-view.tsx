import {
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useCallback,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { bytesText } from "./amounts.ts";
import type { Line } from "./api.ts";
import { BLOCK, LINE_BYTES } from "./line-bytes.ts";
import { Raw } from "./parts.tsx";

/** Gives lines from one number to another, both included. */
export type ReadLines = (from: number, to: number, signal: AbortSignal) => Promise<Line[]>;

/** A row of ours that stands before a line, or several of them where it does not fit into one. */
export interface Heading {
  line: number;
  /** Its class: `gap` or `kept`, with `more` where it is not the first of its rows. */
  kind: string;
  text: string;
}

/** What a heading has around its words: paddings and the sign of a gap. */
const AROUND_PX = 60;

/** Headings with their words in rows of this width. */
function wrapped(headings: readonly Heading[], width: number): Heading[] {
  const pen = document.createElement("canvas").getContext("2d");
  if (pen === null) return [...headings];
  pen.font = "600 12px system-ui, sans-serif";
  return headings.flatMap((heading) => {
    const rows: string[] = [];
    for (const word of heading.text.split(" ")) {
      const longer = `${rows.at(-1)} ${word}`;
      if (rows.length > 0 && pen.measureText(longer).width <= width - AROUND_PX) rows[rows.length - 1] = longer;
      else rows.push(word);
    }
    return rows.map((text, at) => ({ ...heading, text, kind: at === 0 ? heading.kind : `${heading.kind} more` }));
  });
}

/** Which lines are on the screen. */
export interface Seen {
  from: number;
  to: number;
}

/** What others may ask of a text view. */
export interface TextViewHandle {
  goTo(line: number): void;
}

interface TextViewProps {
  name: string;
  lines: number;
  read: ReadLines;
  /** Before lines, in their order. */
  headings?: readonly Heading[];
  classOf?: (line: number) => string;
  selected: number | null;
  select: (line: number) => void;
  seen?: (seen: Seen) => void;
  handle?: RefObject<TextViewHandle | null>;
}

const ROW_PX = 20;
/** Browsers draw no element that is much higher. Above it the scroll bar goes in larger steps than the rows. */
const MOST_PX = 12_000_000;
const MOST_BLOCKS = 80;
const SETTLE_MS = 25;
const AGAIN_MS = 2000;

const NO_HEADINGS: readonly Heading[] = [];

/** A text of any number of lines, of which only those on the screen are there. */
export function TextView(props: TextViewProps): ReactNode {
  const { lines, read, headings: given = NO_HEADINGS, classOf, selected, select, seen, handle, name } = props;
  const box = useRef<HTMLDivElement>(null);
  const [height, setHeight] = useState(600);
  const [width, setWidth] = useState(Infinity);
  const headings = useMemo(() => wrapped(given, width), [given, width]);
  const [top, setTop] = useState(0);
  const known = useLines(read, lines);
  const rows = lines + headings.length;
  const fullPx = Math.min(rows * ROW_PX, MOST_PX);
  const perRow = rows * ROW_PX > MOST_PX ? Math.max(1, fullPx - height) / Math.max(1, rows - height / ROW_PX) : ROW_PX;
  const first = Math.max(0, Math.floor(top / perRow));
  const count = Math.ceil(height / ROW_PX) + 1;

  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    setWidth(element.clientWidth);
    const watch = new ResizeObserver(() => {
      setHeight(element.clientHeight);
      setWidth(element.clientWidth);
    });
    watch.observe(element);
    return () => watch.disconnect();
  }, []);

  // What is read stays where it is when headings come or go, and when a row takes another share of the scroll bar.
  const before = useRef({ headings, perRow });
  useLayoutEffect(() => {
    const [old, element] = [before.current, box.current];
    before.current = { headings, perRow };
    if (element === null || element.scrollTop === 0) return;
    const row = element.scrollTop / old.perRow;
    const at = rowAt(Math.floor(row), old.headings);
    const line = "line" in at ? at.line : at.heading.line;
    element.scrollTop = (row + rowOf(line, headings) - rowOf(line, old.headings)) * perRow;
  }, [headings, perRow]);

  const shown: ({ heading: Heading } | { line: number })[] = [];
  for (let row = first; row < Math.min(first + count, rows); row++) shown.push(rowAt(row, headings));
  const shownLines = shown.flatMap((row) => ("line" in row ? row.line : []));
  const unread = shownLines.find((line) => !known.lines.has(line));
  const [from, to] = [shownLines[0] ?? 1, shownLines.at(-1) ?? 1];
  useEffect(() => {
    seen?.({ from, to });
    // Who drags the scroll bar passes thousands of lines that nobody reads.
    const timer = setTimeout(() => known.want(from, to), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [from, to, known.want, known.round, seen]);

  const goTo = useCallback(
    (line: number) => {
      const there = Math.max(1, Math.min(line, lines));
      const row = rowOf(there, headings);
      // Who goes there wants to read it: nothing to wait for.
      known.want(Math.max(1, there - count), Math.min(lines, there + count));
      if (box.current !== null) box.current.scrollTop = Math.max(0, (row - Math.floor(height / ROW_PX / 3)) * perRow);
    },
    [lines, headings, height, perRow, count, known.want],
  );
  useImperativeHandle(handle, () => ({ goTo }), [goTo]);
  const turnPage = (event: KeyboardEvent<HTMLDivElement>) => {
    const by = ["PageDown", "PageUp"].indexOf(event.key);
    // The browser's page is one of the scroll bar, which is more than the rows on the screen.
    if (by === -1 || perRow === ROW_PX) return;
    event.preventDefault();
    event.currentTarget.scrollTop += (1 - 2 * by) * (height / ROW_PX - 2) * perRow;
  };

  return (
    // It scrolls, so that the keyboard must reach it.
    <div
      ref={box}
      className="text"
      tabIndex={0}
      role="region"
      aria-label={name}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
      onKeyDown={turnPage}
    >
      <div className="text-size" style={{ height: fullPx }}>
        {shown.map((row, at) => {
          const y = perRow === ROW_PX ? (first + at) * ROW_PX : top + (at - (top / perRow - first)) * ROW_PX;
          const style = { transform: `translateY(${y}px)` };
          if ("heading" in row) {
            return (
              <div key={`h${first + at}`} className="text-heading" style={style}>
                <span className={row.heading.kind}>{row.heading.text}</span>
              </div>
            );
          }
          const { line } = row;
          return (
            <div
              key={line}
              className={`text-row ${classOf?.(line) ?? ""}${line === selected ? " selected" : ""}`}
              style={style}
              onClick={() => select(line)}
              data-line={line}
            >
              <span className="text-number" aria-hidden="true">
                {line}
              </span>
              {known.fault !== null && line === unread ? (
                <span className="text-line" role="alert">
                  These lines cannot be read: {known.fault.message} They are asked for again.
                </span>
              ) : (
                <LineText line={known.lines.get(line)} />
              )}
            </div>
          );
        })}
      </div>
    </div>
  );
}

function LineText({ line }: { line: Line | undefined }): ReactNode {
  if (line === undefined) return <span className="text-line" />;
  return (
    <span className="text-line">
      <Raw text={line.text} />
      {line.omittedBytes > 0 && (
        <span className="text-more">
          {" "}
          … {bytesText(line.omittedBytes)} more in this line; the download has all of it
        </span>
      )}
    </span>
  );
}

/** The line or the heading of a row. */
function rowAt(row: number, headings: readonly Heading[]): { heading: Heading } | { line: number } {
  // Heading number `at` stands in the row `heading.line - 1 + at`.
  let [low, high] = [0, headings.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((headings[middle]?.line ?? 0) - 1 + middle < row) low = middle + 1;
    else high = middle;
  }
  const heading = headings[low];
  return heading !== undefined && heading.line - 1 + low === row ? { heading } : { line: row - low + 1 };
}

/** The row of a line. */
function rowOf(line: number, headings: readonly Heading[]): number {
  let [low, high] = [0, headings.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((headings[middle]?.line ?? 0) <= line) low = middle + 1;
    else high = middle;
  }
  return line - 1 + low;
}

/** Lines by number, as far as they were read. Those far from the screen are forgotten. */
function useLines(read: ReadLines, total: number) {
  const blocks = useRef(new Map<number, Line[] | "reading">());
  const [lines, setLines] = useState<ReadonlyMap<number, Line>>(new Map());
  const [fault, setFault] = useState<Error | null>(null);
  const [round, setRound] = useState(0);
  const leaving = useRef(new AbortController());
  useEffect(() => {
    blocks.current = new Map();
    setLines(new Map());
    const ending = new AbortController();
    leaving.current = ending;
    return () => ending.abort();
  }, [read]);
  const want = useCallback(
    (from: number, to: number) => {
      const kept = blocks.current;
      const { signal } = leaving.current;
      const wanted: number[] = [];
      for (let block = Math.floor((from - 1) / BLOCK); block <= Math.floor((to - 1) / BLOCK); block++)
        wanted.push(block);
      for (const block of wanted) {
        if (kept.has(block) || block * BLOCK >= total) continue;
        kept.set(block, "reading");
        read(block * BLOCK + 1, Math.min(total, (block + 1) * BLOCK), signal).then(
          (found) => {
            if (signal.aborted) return;
            setFault(null);
            kept.set(block, found);
            const oldest = [...kept.keys()].find((other) => !wanted.includes(other));
            if (kept.size > MOST_BLOCKS && oldest !== undefined) kept.delete(oldest);
            setLines(
              new Map(
                [...kept.values()].flatMap((each) =>
                  each === "reading" ? [] : each.map((line) => [line.line, line] as const),
                ),
              ),
            );
          },
          (error: Error) => {
            if (signal.aborted) return;
            setFault(error);
            setTimeout(() => {
              kept.delete(block);
              if (!signal.aborted) setRound((before) => before + 1);
            }, AGAIN_MS);
          },
        );
      }
    },
    [read, total],
  );
  return { lines, want, fault, round };
}

/** A text of no more lines is there as a whole, so that what a model read needs no scrolling to the right. */
const MOST_WRAPPED = 2000;

function lineRange(all: readonly string[], from: number, to: number): Line[] {
  return all.slice(from - 1, to).map((each, at) => ({
    line: from + at,
    text: each.slice(0, LINE_BYTES),
    omittedBytes: Math.max(0, each.length - LINE_BYTES),
  }));
}

/** A text that is at hand. Our own lines in it stand out. It opens at the line that reads like `startAt`. */
export function PlainText({ name, text, startAt }: { name: string; text: string; startAt?: string }): ReactNode {
  const all = useMemo(() => text.replace(/\n$/, "").split("\n"), [text]);
  const read = useCallback<ReadLines>(async (from, to) => lineRange(all, from, to), [all]);
  const [selected, select] = useState<number | null>(null);
  const classOf = (line: number) =>
    /^\[.*(omitted|cut to fit|not shown).*\]$/.test(all[line - 1] ?? "") ? "marker" : "lit";
  const [box, view] = [useRef<HTMLDivElement>(null), useRef<TextViewHandle>(null)];
  useEffect(() => {
    const at = startAt === undefined ? -1 : all.indexOf(startAt);
    if (at < 0) return;
    view.current?.goTo(at + 1);
    const [element, row] = [box.current, box.current?.children[at]];
    if (!element || !row) return;
    const down = row.getBoundingClientRect().top - element.getBoundingClientRect().top;
    element.scrollTop += down - element.clientHeight / 3;
    // Only as the line is told: who reads on stays there.
  }, [startAt]);
  if (all.length <= MOST_WRAPPED) {
    return (
      <div ref={box} className="text wrapped" tabIndex={0} role="region" aria-label={name}>
        {lineRange(all, 1, all.length).map((each) => (
          <div key={each.line} className={`text-row ${classOf(each.line)}`}>
            <span className="text-number" aria-hidden="true">
              {each.line}
            </span>
            <LineText line={each} />
          </div>
        ))}
      </div>
    );
  }
  return (
    <div className="reader plain">
      <TextView
        name={name}
        lines={all.length}
        read={read}
        classOf={classOf}
        selected={selected}
        select={select}
        handle={view}
      />
    </div>
  );
}
