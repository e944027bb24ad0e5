import type { Cut, ExplainedBlock, Gap, Piece } from "../../../contract/cut.ts";
import type { Unit } from "../../../contract/limits.ts";
import type { Total } from "../../../contract/size.ts";
import { decode } from "../fit.ts";
import type { Judged } from "./judge.ts";
import { featureName } from "./line-features.ts";
import { LineScan } from "./scan-line.ts";
import {
  ENDS_INSIDE,
  FAILED_STEP,
  GOOD_STEP,
  IS_COMMAND,
  IS_FOCUSED,
  IS_FRAME,
  IS_HEADER,
  NOTE_FOLDED,
  NOTE_OMITTED,
  REWRITTEN,
  STARTS_INSIDE,
  type UnitStore,
} from "./unit-store.ts";
import { LINE_WEIGHTS } from "./weights.ts";

/** Where the last shown piece ended. */
interface Edge {
  bytes: number;
  chars: number;
  line: number;
  inside: boolean;
}

/** Kept rows as a cut: each stretch of them a piece, what lies between a gap, every source byte accounted for. */
export function writeCut(store: UnitStore, kept: Uint8Array, total: Total, cutBy: Unit | null): Cut {
  const cut: Cut = {
    parts: [],
    total,
    kept: { bytes: 0, lines: 0 },
    folded: { bytes: 0, lines: 0 },
    omitted: { bytes: 0, lines: 0 },
    cutBy,
  };
  let edge: Edge = { bytes: 0, chars: 0, line: 0, inside: false };
  for (let row = 0; row < store.length; ) {
    if (kept[row] === 0) {
      row++;
      continue;
    }
    let end = row + 1;
    while (end < store.length && kept[end] === 1 && store.sequence[end] === (store.sequence[end - 1] as number) + 1)
      end++;
    omitUpTo(cut, edge, startOf(store, row));
    edge = show(cut, store, row, end, edge);
    row = end;
  }
  omitUpTo(cut, edge, { bytes: total.bytes, chars: total.chars, line: total.lines + 1, inside: false });
  if (cut.omitted.bytes === 0) cut.cutBy = null;
  return cut;
}

function startOf(store: UnitStore, row: number): Edge {
  return {
    bytes: store.from[row] as number,
    chars: store.sourceCharsBefore[row] as number,
    line: store.line[row] as number,
    inside: ((store.flags[row] as number) & STARTS_INSIDE) !== 0,
  };
}

function omitUpTo(cut: Cut, from: Edge, to: Edge): void {
  const bytes = to.bytes - from.bytes;
  if (bytes <= 0) return;
  const fromLine = from.inside ? from.line : from.line + 1;
  const toLine = to.inside ? to.line : to.line - 1;
  const parts = (from.inside ? 1 : 0) + (to.inside ? 1 : 0);
  const lines = Math.max(0, toLine - fromLine + 1 - parts);
  omit(cut, { fromLine, toLine, lines, bytes, chars: Math.max(0, to.chars - from.chars) });
}

function omit(cut: Cut, gap: Gap): void {
  cut.parts.push(gap);
  cut.omitted.bytes += gap.bytes;
  cut.omitted.lines += gap.lines;
}

/** Shows rows [from, to), which follow each other without a hole. */
function show(cut: Cut, store: UnitStore, from: number, to: number, before: Edge): Edge {
  const { byteAt, byteLength, kind, flags, line, breaks } = store;
  const last = to - 1;
  const start = startOf(store, from);
  const endsInside = ((flags[last] as number) & ENDS_INSIDE) !== 0 && store.to[last] !== cut.total.bytes;
  const isOpen = ((flags[last] as number) & ENDS_INSIDE) !== 0 || endsOpen(store, last, cut.total);
  const hasBreak = !isOpen && (breaks[last] as number) > 0;
  const lastLine = Math.min(cut.total.lines, (line[last] as number) + (breaks[last] as number) - (hasBreak ? 1 : 0));
  const piece: Piece = {
    text: decode(store.bytes.subarray(byteAt[from], (byteAt[last] as number) + (byteLength[last] as number))),
    source: [start.bytes, store.to[last] as number],
    lines: [start.line, lastLine],
    startsInside: start.inside,
    endsInside,
  };
  cut.parts.push(piece);
  let foldedLines = 0;
  for (let row = from; row < to; row++) {
    const bytes = (store.to[row] as number) - (store.from[row] as number);
    const lines = (breaks[row] as number) + (endsOpen(store, row, cut.total) ? 1 : 0);
    const shown = byteLength[row] as number;
    if ((kind[row] as number) <= REWRITTEN) {
      cut.kept.bytes += shown;
      cut.folded.bytes += bytes - shown;
      if (shown === 0) {
        cut.folded.lines += lines;
        foldedLines += lines;
      }
      continue;
    }
    foldedLines += lines;
    if (kind[row] === NOTE_FOLDED) {
      cut.folded.bytes += bytes;
      cut.folded.lines += lines;
    } else if (kind[row] === NOTE_OMITTED) {
      const chars = store.sourceChars[row] as number;
      const fromLine = line[row] as number;
      omit(cut, { fromLine, toLine: fromLine + lines - 1, lines, bytes, chars, noted: true });
    }
  }
  if (foldedLines > 0) piece.foldedLines = foldedLines;
  // A line that is shown in two pieces is one line.
  const isSeen = start.inside && before.inside && before.line === start.line;
  cut.kept.lines += lastLine - start.line + 1 - foldedLines - (isSeen ? 1 : 0);
  return {
    bytes: store.to[last] as number,
    chars: (store.sourceCharsBefore[last] as number) + (store.sourceChars[last] as number),
    line: lastLine,
    inside: endsInside,
  };
}

/** True for the row that the source ends in, if it ends without a break: its last line is one more than its breaks. */
function endsOpen({ to }: UnitStore, row: number, total: Total): boolean {
  return to[row] === total.bytes && total.lines > total.breaks;
}

const MAX_FEATURES = 6;
/** A level from which a line by itself tells of a failure. */
const FAILURE_LEVEL = 14;
const MAX_LINE_CHARS = 120;

/** Says for each stretch of a cut why it is shown or not: by the line in it that is worth most. `asked` is by whom lines are wanted. */
export function explainCut(cut: Cut, judged: Judged, asked: "focus" | "keep"): ExplainedBlock[] {
  let row = 0;
  return stretchesOf(cut).map(({ fromLine, toLine, shown, noted }) => {
    const { store, scores } = judged;
    let best = -1;
    let isTrace = true;
    while (row < store.length && (store.line[row] as number) < fromLine) row++;
    for (; row < store.length && (store.line[row] as number) <= toLine; row++) {
      if ((store.kind[row] as number) > REWRITTEN) continue;
      if (best === -1 || (scores[row] as number) > (scores[best] as number)) best = row;
      isTrace &&= ((store.flags[row] as number) & IS_FRAME) !== 0;
    }
    if (noted) return { fromLine, toLine, shown, kind: "repeats", score: 0, features: [], line: "" };
    if (best === -1) return { fromLine, toLine, shown, kind: "let go early", score: 0, features: [], line: "" };
    const at = store.byteAt[best] as number;
    const bytes = store.bytes.subarray(at, at + (store.byteLength[best] as number));
    return {
      fromLine,
      toLine,
      shown,
      kind: isTrace ? "stack trace" : kindOf(judged, best, fromLine === 1, toLine === cut.total.lines, asked),
      score: Math.round((scores[best] as number) * 100) / 100,
      features: featuresOf(bytes),
      line: decode(bytes).trim().slice(0, MAX_LINE_CHARS).toWellFormed(),
      lineNumber: store.line[best] as number,
    };
  });
}

/** The lines that are shown and those that are not, in order. A note inside a piece stands for lines that are not. */
function stretchesOf(cut: Cut): { fromLine: number; toLine: number; shown: boolean; noted: boolean }[] {
  const stretches: ReturnType<typeof stretchesOf> = [];
  let pieceEnd = 0;
  for (const part of cut.parts) {
    if ("text" in part) {
      const [fromLine, toLine] = part.lines;
      stretches.push({ fromLine, toLine, shown: true, noted: false });
      pieceEnd = toLine;
      continue;
    }
    const { fromLine, toLine, noted = false } = part;
    const last = stretches.at(-1);
    if (noted && last?.shown) {
      last.toLine = fromLine - 1;
      if (last.toLine < last.fromLine) stretches.pop();
    }
    stretches.push({ fromLine, toLine, shown: false, noted });
    if (noted && toLine < pieceEnd)
      stretches.push({ fromLine: toLine + 1, toLine: pieceEnd, shown: true, noted: false });
  }
  return stretches;
}

function kindOf({ store }: Judged, row: number, isStart: boolean, isEnd: boolean, asked: string): string {
  const flags = store.flags[row] as number;
  if ((flags & IS_FOCUSED) !== 0) return asked;
  if ((flags & FAILED_STEP) !== 0) return "failed step";
  if ((flags & IS_HEADER) !== 0 || (store.level[row] as number) >= FAILURE_LEVEL) return "failure";
  if ((flags & GOOD_STEP) !== 0) return "step that went well";
  if ((flags & IS_COMMAND) !== 0) return "command";
  if (isStart) return "start";
  return isEnd ? "end" : "surroundings";
}

/** What spoke most for or against a line, by itself. */
function featuresOf(bytes: Uint8Array): string[] {
  const scan = new LineScan();
  scan.record();
  scan.scan(bytes, 0, bytes.at(-1) === 10 ? bytes.length - 1 : bytes.length);
  const weight = (feature: number) => LINE_WEIGHTS[feature] as number;
  return [...scan.features.subarray(0, scan.count)]
    .filter((feature) => Math.abs(weight(feature)) >= 0.1)
    .sort((a, b) => Math.abs(weight(b)) - Math.abs(weight(a)) || a - b)
    .slice(0, MAX_FEATURES)
    .map((feature) => `${featureName(feature)} ${weight(feature) > 0 ? "+" : ""}${weight(feature).toFixed(2)}`);
}
