import type { Cut, ExplainedBlock, Gap, Piece, Room } from "../../../contract/cut.ts";
import type { Unit } from "../../../contract/limits.ts";
import type { Size, Total } from "../../../contract/size.ts";
import { type Budget, decode, overBudget, shareOf } from "../fit.ts";
import type { HeldLine } from "./ranked-lines.ts";

/** Lines of one rank, and how they may fill the room. */
export interface RankClass {
  /** What its lines are, in a word or two. */
  name: string;
  lines: readonly HeldLine[];
  /** The part of the room that this rank and those before it may take. */
  share: number;
  /** If not all lines fit, this share of the shown ones are the first. */
  headShare: number;
  /** If not all lines fit: those of both ends, some from all over, or the first, which then are not in source order. */
  take: Take;
}

/** Which lines of a rank are shown in part. */
export type Take = "ends" | "spread" | "first";

/** The chosen lines in source order, and the limit that left the others out. */
export interface ChosenLines {
  lines: HeldLine[];
  stoppedBy: Unit | null;
}

/** Fills the room rank by rank. If a rank does not fit, its first and last lines are taken, or some from all over. */
export function chooseLines(
  classes: readonly RankClass[],
  budget: Budget,
  gap: Room["gap"],
  lastLine: number,
  measure: (line: HeldLine) => Size,
): ChosenLines {
  let chosen: HeldLine[] = [];
  let stoppedBy: Unit | null = null;
  for (const { lines, share, headShare, take } of classes) {
    if (lines.length === 0) continue;
    const within = shareOf(budget, share);
    const over = (count: number) => {
      const some =
        take === "spread"
          ? spread(lines, count)
          : take === "ends"
            ? ends(lines, count, headShare)
            : withHeads(lines.slice(0, count));
      const more = inOrder(chosen, some);
      return { more, by: overBudget(costOf(more, gap, lastLine, measure), within) };
    };
    const all = over(lines.length);
    if (all.by === null) {
      chosen = all.more;
      continue;
    }
    stoppedBy ??= all.by;
    let fits = 0;
    let fails = lines.length;
    while (fails - fits > 1) {
      const middle = (fits + fails) >> 1;
      if (over(middle).by === null) fits = middle;
      else fails = middle;
    }
    if (fits > 0) chosen = over(fits).more;
    if (share >= 1) break;
  }
  return { lines: chosen, stoppedBy };
}

/** Lines with the heads above them, in source order. */
function withHeads(lines: readonly HeldLine[]): HeldLine[] {
  const all = new Map<number, HeldLine>();
  for (const line of lines) for (const one of [line, ...(line.above ?? [])]) all.set(one.line, one);
  return [...all.values()].sort((a, b) => a.line - b.line);
}

/** Returns some lines at equal distances. */
function spread(lines: readonly HeldLine[], count: number): readonly HeldLine[] {
  if (count >= lines.length) return lines;
  return Array.from({ length: count }, (_, index) => lines[Math.floor((index * lines.length) / count)] as HeldLine);
}

function ends(lines: readonly HeldLine[], count: number, headShare: number): readonly HeldLine[] {
  if (count >= lines.length) return lines;
  const first = Math.ceil(count * headShare);
  return [...lines.slice(0, first), ...lines.slice(lines.length - (count - first))];
}

function inOrder(a: readonly HeldLine[], b: readonly HeldLine[]): HeldLine[] {
  const all: HeldLine[] = [];
  for (let i = 0, j = 0; i < a.length || j < b.length; ) {
    const left = a[i];
    const right = b[j];
    if (right === undefined || (left !== undefined && left.line < right.line)) {
      all.push(left as HeldLine);
      i++;
    } else {
      all.push(right);
      j++;
      if (left !== undefined && left.line === right.line) i++;
    }
  }
  return all;
}

/** Returns what lines take with a marker for each gap. */
function costOf(lines: readonly HeldLine[], gap: Size, lastLine: number, measure: (line: HeldLine) => Size): Size {
  const cost = { bytes: 0, chars: 0, lines: 0, tokens: 0 };
  let gaps = 0;
  let next = 1;
  for (const line of lines) {
    const size = measure(line);
    cost.bytes += size.bytes;
    cost.chars += size.chars;
    cost.lines += size.lines;
    cost.tokens += size.tokens;
    if (line.line !== next) gaps++;
    next = line.line + 1;
  }
  if (next <= lastLine) gaps++;
  return {
    bytes: cost.bytes + gaps * gap.bytes,
    chars: cost.chars + gaps * gap.chars,
    lines: cost.lines + gaps * gap.lines,
    tokens: cost.tokens + gaps * gap.tokens,
  };
}

/** Lines in order, without those whose record is not there as a whole; what a call is after stays. */
export function wholeRecords(lines: readonly HeldLine[]): HeldLine[] {
  const whole: HeldLine[] = [];
  for (let index = 0; index < lines.length; ) {
    const first = lines[index] as HeldLine;
    const record = [first];
    for (let last = first; last.goesOn; last = record.at(-1) as HeldLine) {
      const next = lines[index + record.length];
      if (next?.line !== last.line + 1) break;
      record.push(next);
    }
    index += record.length;
    const isWhole = !first.continues && !record.at(-1)?.goesOn;
    whole.push(...(isWhole ? record : record.filter(({ words = 0 }) => words !== 0)));
  }
  return whole;
}

/** Lines in order, with single ones between them that take no more than a marker in their place would. */
export function fillHoles(
  lines: readonly HeldLine[],
  held: (line: number) => HeldLine | undefined,
  gap: Size,
  measure: (line: HeldLine) => Size,
): HeldLine[] {
  const filled: HeldLine[] = [];
  let next = 1;
  for (const line of lines) {
    const between = line.line === next + 1 ? held(next) : undefined;
    if (between !== undefined && overBudget(measure(between), gap) === null) filled.push(between);
    filled.push(line);
    next = line.line + 1;
  }
  return filled;
}

/** A cut that shows these lines, given in source order. */
export function cutLines(lines: readonly HeldLine[], total: Total, stoppedBy: Unit | null): Cut {
  const parts: (Piece | Gap)[] = [];
  const kept = { bytes: 0, lines: 0 };
  let next = { line: 1, at: 0, chars: 0 };
  for (let index = 0; index < lines.length; ) {
    const first = lines[index] as HeldLine;
    const run = [first];
    while (lines[index + run.length]?.line === first.line + run.length) run.push(lines[index + run.length] as HeldLine);
    index += run.length;
    addGap(parts, next, { line: first.line, at: first.from, chars: first.charsBefore });
    const last = run.at(-1) as HeldLine;
    parts.push({
      text: run.map(({ bytes }) => decode(bytes)).join(""),
      source: [first.from, last.to],
      lines: [first.line, last.line],
      startsInside: false,
      endsInside: false,
    });
    kept.bytes += last.to - first.from;
    kept.lines += run.length;
    next = { line: last.line + 1, at: last.to, chars: last.charsBefore + last.chars };
  }
  addGap(parts, next, { line: total.lines + 1, at: total.bytes, chars: total.chars });
  const omitted = { bytes: total.bytes - kept.bytes, lines: total.lines - kept.lines };
  return { parts, total, kept, folded: { bytes: 0, lines: 0 }, omitted, cutBy: omitted.bytes === 0 ? null : stoppedBy };
}

interface Position {
  line: number;
  at: number;
  chars: number;
}

function addGap(parts: (Piece | Gap)[], from: Position, to: Position): void {
  if (to.at === from.at) return;
  const lines = to.line - from.line;
  const chars = Math.max(0, to.chars - from.chars);
  parts.push({ fromLine: from.line, toLine: to.line - 1, lines, bytes: to.at - from.at, chars });
}

const MAX_LINE_CHARS = 120;

/** Says for each stretch of a cut what its best line is to the strategy; the lower the rank, the higher the score. */
export function explainLines(cut: Cut, ranked: readonly RankClass[]): ExplainedBlock[] {
  const starts = cut.parts.map((part) => ("text" in part ? part.lines[0] : part.fromLine));
  const best = new Map<number, { line: HeldLine; rank: number; name: string }>();
  ranked.forEach(({ lines, name }, rank) => {
    for (const line of lines) {
      const place = placeOf(starts, line.line);
      if (!best.has(place)) best.set(place, { line, rank, name });
    }
  });
  return cut.parts.map((part, place) => {
    const shown = "text" in part;
    const [fromLine, toLine] = shown ? part.lines : [part.fromLine, part.toLine];
    const found = best.get(place);
    if (found === undefined) return { fromLine, toLine, shown, kind: "let go early", score: 0, features: [], line: "" };
    const line = decode(found.line.bytes).trim().slice(0, MAX_LINE_CHARS).toWellFormed();
    const features = [`rank ${found.rank + 1} of ${ranked.length}`];
    const lineNumber = found.line.line;
    return { fromLine, toLine, shown, kind: found.name, score: -found.rank, features, line, lineNumber };
  });
}

/** The last stretch that begins at or before a line. */
function placeOf(starts: readonly number[], line: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] as number) <= line) low = middle;
    else high = middle - 1;
  }
  return low;
}
