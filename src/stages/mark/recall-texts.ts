import type { Extent } from "../../contract/size.ts";
import { counted, grouped } from "../../values.ts";

// Every text that a reader of an artifact is told beside the artifact's own. ASCII only.

/** A stretch of an artifact: lines from 1, both included, or bytes from 0, the last not included. */
export type Stretch = { lines: [from: number, to: number] } | { bytes: [from: number, to: number] };

/** An id that has not the form of one. */
export function malformedId(value: unknown): string {
  return `An artifact's id is 12 characters of a-z and 2-7, such as mzxw6ytboi2a; got ${quote(value)}. Take it from the marker as it stands there.`;
}

/** The same words whether it never was, has expired or belongs to another scope: a reader learns nothing of others'. */
export function unknownArtifact(id: string): string {
  return `There is no artifact ${id} to read here: it was never kept, has expired, or is not this reader's. Compare the id with the marker; if it is right, run the tool again to get its output.`;
}

/** What a page shows of its artifact, and how to go on. */
export function pageNote(
  shown: { lines: [number, number]; bytes: [number, number]; startsInside: boolean; endsInside: boolean },
  total: Extent,
  next: Stretch | null,
  asksPastEnd: boolean,
): string {
  const { lines, bytes, startsInside, endsInside } = shown;
  const inside = startsInside || endsInside ? `, in part: bytes ${bytes[0]}-${bytes[1]} of ${total.bytes}` : "";
  const what = `${range("line", lines)} of ${total.lines}${inside}`;
  const end = asksPastEnd ? "; the artifact ends here" : "";
  return `[${what}${next === null ? end : `; next: ${stretch(next)}`}]`;
}

/** The artifact ends before what was asked for. */
export function outsideNote(asked: Stretch, total: Extent): string {
  return `[artifact has ${counted(total.lines, "line")}, ${counted(total.bytes, "byte")}; asked for ${stretch(asked)}]`;
}

/** The artifact is no text. */
export function binaryArtifactNote(kind: string, total: Extent): string {
  return `[binary artifact not shown: ${kind}, ${counted(total.bytes, "byte")}]`;
}

/** An artifact with nothing in it. */
export const EMPTY_ARTIFACT = "[the artifact is empty]";

/** No line from which to read around. */
export const NOTHING_AROUND = "[no line matches, so there is nothing to read around]";

/** What a search found and how to go on. */
export function foundNote(found: {
  total: number;
  shown: number;
  /** Matches are shown from this line on. */
  fromLine: number;
  next: number | null;
  reachedLine: number | null;
  isShortened: boolean;
  isDamaged: boolean;
}): string {
  const { total, shown, fromLine, next, reachedLine, isShortened, isDamaged } = found;
  const start = fromLine > 1 ? ` from line ${fromLine} on` : "";
  return `[${[
    total === 0 ? "no line matches" : `${grouped(total)} matching ${total === 1 ? "line" : "lines"}`,
    total === 0 || (shown === total && start === "") ? "" : `${shown} shown${start}`,
    reachedLine === null ? "" : `the search was stopped for time after line ${reachedLine}: there may be more`,
    isDamaged ? "part of the artifact is damaged: what matches there may be missing" : "",
    isShortened ? "long lines are shortened where [...] stands" : "",
    next === null ? "" : `next: from line ${next}`,
  ]
    .filter((part) => part !== "")
    .join("; ")}]`;
}

/** Stands where part of a long line is left out. */
export const LEFT_OUT = "[...]";

function stretch(value: Stretch): string {
  if ("lines" in value) return range("line", value.lines);
  const [from, to] = value.bytes;
  return to >= Number.MAX_SAFE_INTEGER ? `bytes from ${from} on` : `bytes ${from}-${to}`;
}

function range(word: string, [from, to]: [number, number]): string {
  // Asked for without an end.
  if (to >= Number.MAX_SAFE_INTEGER) return `${word}s from ${from} on`;
  return from === to ? `${word} ${from}` : `${word}s ${from}-${to}`;
}

/** Something a reader gave, short and in ASCII. */
function quote(value: unknown): string {
  const text = typeof value === "string" ? value : String(value);
  const ascii = text.slice(0, 40).replace(/[^ -~]|["\\]/g, "?");
  return `"${ascii}${text.length > 40 ? "..." : ""}"`;
}
