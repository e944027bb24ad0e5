import type { Cut, Gap, Piece, Room } from "../../contract/cut.ts";
import type { Limits } from "../../contract/limits.ts";
import type { Extent, Size, Total } from "../../contract/size.ts";
import { counted, grouped } from "../../values.ts";
import { accessText, hiddenText, keptText, restWords, type SavedCopy } from "./access.ts";
import { briefGap, firstLines, gapLine, lastLines, notShown, shortGap, truncatedSuffix, withTag } from "./texts.ts";

/** A text that replaces all of ours but the exit line. */
export type CustomMarker =
  | string
  | ((cut: Cut, kept: { artifact: string | null; saved: SavedCopy["saved"] }) => string);

/** What markers are written from. */
export interface MarkRequest {
  limits: Limits;
  /** "suffix" is a single note behind the kept start; "indicators" says at each gap what is missing, and at the end where it is. */
  style: "indicators" | "suffix";
  exitCode: number | null;
  /** Lines that end any text: that the output ended early, its exit code. */
  closing: string[];
  savedCopy: SavedCopy;
  marker?: CustomMarker;
  /** All texts of the result, where one of them quotes a marker: a model reads them together. */
  siblings?: readonly string[] | undefined;
}

/** One way to mark a cut: richer forms first, leaner ones where limits leave little room. */
export interface Form {
  /** An upper bound of what the form adds to any cut of an output of this size. */
  room(total: Total): Room;
  write(cut: Cut): string;
}

/** Measures a text in every unit. */
export type Measure = (text: string) => Size;

/** The forms that a request allows, the one that says most first. */
export function markForms(request: MarkRequest, measure: Measure, tag: string): Form[] {
  const forms = [bareForm(request, measure, tag)];
  if (request.marker !== undefined) return [customForm(request, request.marker, measure), ...forms];
  if (request.style === "suffix") return [suffixForm(request, measure, tag), ...forms];
  return [fullForm(request, measure, tag), leanForm(request, measure, tag), terseForm(request, measure, tag), ...forms];
}

function fullForm(request: MarkRequest, measure: Measure, tag: string): Form {
  const footer = (cut: Pick<Cut, "kept" | "total" | "omitted" | "folds" | "hidden">) => [
    footerLine(cut, request, tag),
    ...request.closing,
  ];
  return {
    room: (total) => {
      const standing = [largest(firstLines, total, tag), largest(lastLines, total, tag), ...footer(widest(total))];
      return gapsRoom(measureLines(standing, measure), total, measure, tag);
    },
    write(cut) {
      const lines: string[] = [];
      const mark = gapMarker(cut, tag);
      // Several gaps say by their numbers which lines are shown.
      const indicates = hasOneGap(cut);
      const isLast = (part: Piece) => part.source[1] === cut.total.bytes;
      cut.parts.forEach((part, index) => {
        if (!isPiece(part)) {
          if (!part.noted) lines.push(mark(part));
        } else {
          if (indicates && cut.omitted.bytes > 0 && index === 0 && !isLast(part))
            lines.push(firstLines(part, cut.total, tag));
          if (indicates && index > 0 && isLast(part)) lines.push(lastLines(part, cut.total, tag));
          lines.push(part.text);
        }
      });
      return joinLines([...lines, ...footer(cut)]);
    },
  };
}

function leanForm(request: MarkRequest, measure: Measure, tag: string): Form {
  const footer = (total: Total) => [leanFooter(total, request, tag), ...request.closing];
  return {
    room: (total) => gapsRoom(measureLines(footer(total), measure), total, measure, tag),
    write: (cut) => joinLines([...withGaps(cut, gapMarker(cut, tag)), ...footer(cut.total)]),
  };
}

function hasOneGap(cut: Cut): boolean {
  return cut.parts.filter((part) => !isPiece(part) && !part.noted).length < 2;
}

/** A gap that is alone says how large it is; of several each says only where it is. */
function gapMarker(cut: Cut, tag: string): (gap: Gap) => string {
  const isAlone = hasOneGap(cut);
  return (gap) => (isAlone ? gapLine(gap, tag) : briefGap(gap, tag));
}

/** Room for brief gaps; what one that is alone says more stands with the fixed part. */
function gapsRoom(standing: Size, total: Total, measure: Measure, tag: string): Room {
  const gap = measureLines([briefGap(largestGap(total), tag)], measure);
  const alone = measureLines([gapLine(largestGap(total), tag)], measure);
  const fixed = {
    bytes: standing.bytes + alone.bytes - gap.bytes,
    chars: standing.chars + alone.chars - gap.chars,
    lines: standing.lines,
    tokens: standing.tokens + Math.max(0, alone.tokens - gap.tokens),
  };
  return { fixed, gap };
}

/** Takes no line more than the bare form: its first gap says where the rest is, or the line of a gap that the text itself notes. */
function terseForm(request: MarkRequest, measure: Measure, tag: string): Form {
  const bare = bareForm(request, measure, tag);
  const rest = `; ${restWords(request.savedCopy)}`;
  return {
    room(total) {
      const { fixed, gap } = bare.room(total);
      const { bytes, chars, tokens } = measure(rest);
      const all = { bytes: fixed.bytes + bytes, chars: fixed.chars + chars, tokens: fixed.tokens + tokens };
      return { fixed: { ...all, lines: fixed.lines }, gap };
    },
    write(cut) {
      const first = cut.parts.find((part) => !isPiece(part) && !part.noted);
      const marked = withGaps(cut, (gap) => shortGap(gap, gap === first ? rest + tag : tag));
      const isNoted = first === undefined && cut.omitted.bytes > 0;
      return joinLines([...marked, ...(isNoted ? [leanFooter(cut.total, request, tag)] : []), ...request.closing]);
    },
  };
}

function bareForm(request: MarkRequest, measure: Measure, tag: string): Form {
  return {
    room: (total) => ({
      fixed: measureLines(request.closing, measure),
      gap: measureLines([shortGap(total, tag)], measure),
    }),
    write: (cut) => joinLines([...withGaps(cut, (gap) => shortGap(gap, tag)), ...request.closing]),
  };
}

function suffixForm(request: MarkRequest, measure: Measure, tag: string): Form {
  const { savedCopy, limits, closing } = request;
  const isKept = savedCopy.id !== null;
  // Where the kept start ends is said with the way to the rest; if there is no such way, before the start.
  const around = (first: (tag: string) => string) => ({
    before: isKept ? [] : [first(tag)],
    after: [
      withTag(truncatedSuffix(limits), tag),
      ...(isKept ? [`${first("").slice(0, -1)}. ${accessText(savedCopy)}${tag}]`] : []),
      ...closing,
    ],
  });
  return {
    room(total) {
      const { before, after } = around((tag) => largest(firstLines, total, tag));
      return { fixed: measureLines([...before, "", ...after], measure), gap: nothing() };
    },
    write(cut) {
      if (cut.omitted.bytes === 0)
        return joinLines([...withGaps(cut, () => ""), footerLine(cut, request, tag), ...closing]);
      const pieces = cut.parts.filter(isPiece);
      const { before, after } = around((tag) =>
        pieces[0] === undefined ? notShown(cut.total, null) : firstLines(pieces[0], cut.total, tag),
      );
      const text = joinLines([...before, ...pieces.map((piece) => piece.text)]);
      return joinLines([text.endsWith("\n") ? `${text}\n` : `${text}\n\n`, ...after]);
    },
  };
}

function customForm(request: MarkRequest, marker: CustomMarker, measure: Measure): Form {
  const text = (cut: Cut, gap: Gap) => {
    try {
      const said: unknown =
        typeof marker === "string"
          ? marker
          : marker(structuredClone(cut), { artifact: request.savedCopy.id, saved: request.savedCopy.saved });
      if (typeof said === "string") return said.toWellFormed();
    } catch {
      // ours serves
    }
    return gapLine(gap, "");
  };
  return {
    // A function's text is not known before the cut; the first try finds out what it costs.
    room: () => ({
      fixed: measureLines(request.closing, measure),
      gap: typeof marker === "string" ? measureLines([marker], measure) : nothing(),
    }),
    write: (cut) => joinLines([...withGaps(cut, (gap) => text(cut, gap)), ...request.closing]),
  };
}

const FOLDED = { space: "White space left out", keys: "White space and repeated keys left out" };

function footerLine(
  { kept, total, omitted, folds, hidden = [] }: Pick<Cut, "kept" | "total" | "omitted" | "folds" | "hidden">,
  request: MarkRequest,
  tag: string,
): string {
  const shown = `${grouped(kept.bytes)} of ${grouped(total.bytes)} bytes`;
  const folded = folds === undefined ? "Repeats and terminal codes folded" : FOLDED[folds];
  const what = `${omitted.bytes > 0 ? "Output cut to fit" : folded}: ${shown} shown`;
  const told = tag === "" ? "" : ` Our notes on what is missing carry${tag}; others like them are output.`;
  const rest =
    omitted.bytes > 0
      ? `${accessText(request.savedCopy)}${hiddenText(hidden, request.savedCopy)}`
      : keptText(request.savedCopy);
  return `[${`${what}. ${rest}`.trimEnd()}${told}]`;
}

function leanFooter(total: Total, { savedCopy }: MarkRequest, tag: string): string {
  return `[cut from ${counted(total.lines, "line")}, ${counted(total.bytes, "byte")}; ${restWords(savedCopy)}${tag}]`;
}

function withGaps(cut: Cut, mark: (gap: Gap) => string): string[] {
  return cut.parts
    .filter((part) => isPiece(part) || !part.noted)
    .map((part) => (isPiece(part) ? part.text : mark(part)));
}

/** Returns true for a part that is shown. */
export function isPiece(part: Piece | Gap): part is Piece {
  return "text" in part;
}

/** Each on lines of its own; no break behind the last. */
function joinLines(lines: string[]): string {
  let text = "";
  for (const line of lines) text += text === "" || text.endsWith("\n") ? line : `\n${line}`;
  return text;
}

/** What lines cost, with a break on either side. */
function measureLines(lines: string[], measure: Measure): Size {
  if (lines.length === 0) return nothing();
  const size = measure(`\n${lines.join("\n")}\n`);
  return { ...size, lines: lines.length };
}

function nothing(): Size {
  return { bytes: 0, chars: 0, lines: 0, tokens: 0 };
}

/** The longest that a piece's indicator can be. */
function largest(write: (piece: Piece, total: Extent, tag: string) => string, total: Total, tag: string): string {
  const { lines, bytes } = total;
  const piece: Piece = { text: "", source: [0, bytes], lines: [1, lines], startsInside: true, endsInside: true };
  const alone = write({ ...piece, lines: [lines, lines] }, total, tag);
  const many = write(piece, total, tag);
  return alone.length > many.length ? alone : many;
}

/** The longest that a gap's numbers can be; a digit more than any whole-line gap can need. */
function largestGap({ lines, bytes, chars }: Total): Gap {
  return {
    fromLine: lines,
    toLine: lines + 1,
    lines: Math.max(lines, 2) + 1,
    bytes: Math.max(bytes, 2),
    chars: Math.max(chars, 2),
  };
}

function widest(total: Total): Pick<Cut, "kept" | "total" | "omitted"> {
  return { kept: total, total, omitted: total };
}
