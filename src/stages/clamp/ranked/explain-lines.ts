import type { Cut, ExplainedBlock } from "../../../contract/cut.ts";
import { decode } from "../fit.ts";
import type { RankClass } from "./choose-lines.ts";
import type { HeldLine } from "./ranked-lines.ts";

const MAX_LINE_CHARS = 120;

/** Says for each stretch of a cut what its best line is to the strategy; the lower the rank, the higher the score. */
export function explainLines(
  cut: Cut,
  ranked: readonly RankClass[],
  nameOf: (rank: number) => string,
): ExplainedBlock[] {
  const starts = cut.parts.map((part) => ("text" in part ? part.lines[0] : part.fromLine));
  const best = new Map<number, { line: HeldLine; rank: number }>();
  ranked.forEach(({ lines }, rank) => {
    for (const line of lines) {
      const place = placeOf(starts, line.line);
      if (!best.has(place)) best.set(place, { line, rank });
    }
  });
  return cut.parts.map((part, place) => {
    const shown = "text" in part;
    const [fromLine, toLine] = shown ? part.lines : [part.fromLine, part.toLine];
    const found = best.get(place);
    if (found === undefined) return { fromLine, toLine, shown, kind: "let go early", score: 0, features: [], line: "" };
    const text = decode(found.line.bytes).trim().slice(0, MAX_LINE_CHARS).toWellFormed();
    const features = [`rank ${found.rank + 1} of ${ranked.length}`];
    return { fromLine, toLine, shown, kind: nameOf(found.rank), score: -found.rank, features, line: text };
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
