import type { Room } from "../../../contract/cut.ts";
import type { Unit } from "../../../contract/limits.ts";
import type { Size } from "../../../contract/size.ts";
import { type Budget, overBudget, shareOf } from "../budget.ts";
import type { HeldLine } from "./ranked-lines.ts";

/** Lines of one rank, and how they may fill the room. */
export interface RankClass {
  lines: readonly HeldLine[];
  /** Of the room, what this rank and those before it may take. */
  share: number;
  /** Where not all fit, how many of the shown ones are the first. */
  headShare: number;
  /** They are not the first and the last, but from all over the rank. */
  isSpread: boolean;
}

/** The chosen lines in source order, and the limit that left the others out. */
export interface ChosenLines {
  lines: HeldLine[];
  stoppedBy: Unit | null;
}

/** Fills the room rank by rank; of a rank that does not fit its first and last lines are taken, or some from all over. */
export function chooseLines(
  classes: readonly RankClass[],
  budget: Budget,
  gap: Room["gap"],
  lastLine: number,
  measure: (line: HeldLine) => Size,
): ChosenLines {
  let chosen: HeldLine[] = [];
  let stoppedBy: Unit | null = null;
  for (const { lines, share, headShare, isSpread } of classes) {
    if (lines.length === 0) continue;
    const within = shareOf(budget, share);
    const over = (count: number) => {
      const more = inOrder(chosen, isSpread ? spread(lines, count) : ends(lines, count, headShare));
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

/** Some lines, each as far from the next as the others. */
function spread(lines: readonly HeldLine[], count: number): readonly HeldLine[] {
  if (count >= lines.length) return lines;
  return Array.from({ length: count }, (_, index) => lines[Math.floor((index * lines.length) / count)] as HeldLine);
}

/** The first and the last of some lines, `count` in all. */
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

/** What lines take with a marker for each gap. */
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
