import type { Cut, Gap, Piece } from "../../../contract/cut.ts";
import type { Unit } from "../../../contract/limits.ts";
import type { Total } from "../../../contract/size.ts";
import { decode } from "../fit.ts";
import type { HeldLine } from "./ranked-lines.ts";

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
