import type { Cut, Gap, Piece } from "../../../contract/cut.ts";
import type { Unit } from "../../../contract/limits.ts";
import type { Total } from "../../../contract/size.ts";
import { decode } from "../fit.ts";
import { ENDS_INSIDE, NOTE_FOLDED, NOTE_OMITTED, REWRITTEN, STARTS_INSIDE, type UnitStore } from "./unit-store.ts";

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
  const hasBreak = ((flags[last] as number) & ENDS_INSIDE) === 0 && (breaks[last] as number) > 0;
  const lastLine = Math.min(cut.total.lines, (line[last] as number) + (breaks[last] as number) - (hasBreak ? 1 : 0));
  const piece: Piece = {
    text: decode(store.bytes.subarray(byteAt[from], (byteAt[last] as number) + (byteLength[last] as number))),
    source: [start.bytes, store.to[last] as number],
    lines: [start.line, lastLine],
    startsInside: start.inside,
    endsInside,
  };
  cut.parts.push(piece);
  let keptLines = lastLine - start.line + 1;
  // A line that is shown in two pieces is one line.
  if (start.inside && before.inside && before.line === start.line) keptLines--;
  for (let row = from; row < to; row++) {
    const bytes = (store.to[row] as number) - (store.from[row] as number);
    const isLastLine = store.to[row] === cut.total.bytes && cut.total.lines > cut.total.breaks;
    const lines = (breaks[row] as number) + (isLastLine ? 1 : 0);
    const shown = byteLength[row] as number;
    if ((kind[row] as number) <= REWRITTEN) {
      cut.kept.bytes += shown;
      cut.folded.bytes += bytes - shown;
      if (shown === 0) {
        cut.folded.lines += lines;
        keptLines -= lines;
      }
      continue;
    }
    keptLines -= lines;
    if (kind[row] === NOTE_FOLDED) {
      cut.folded.bytes += bytes;
      cut.folded.lines += lines;
    } else if (kind[row] === NOTE_OMITTED) {
      const chars = store.sourceChars[row] as number;
      const fromLine = line[row] as number;
      omit(cut, { fromLine, toLine: fromLine + lines - 1, lines, bytes, chars, noted: true });
    }
  }
  cut.kept.lines += keptLines;
  return {
    bytes: store.to[last] as number,
    chars: (store.sourceCharsBefore[last] as number) + (store.sourceChars[last] as number),
    line: lastLine,
    inside: endsInside,
  };
}
