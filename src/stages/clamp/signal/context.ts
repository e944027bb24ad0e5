import type { WordCounts } from "../focus/word-counts.ts";
import type { ShapeCounts } from "./unit-store.ts";
import { FAILED_STEP, GOOD_STEP, IS_BLANK, IS_COMMAND, IS_FRAME, IS_HEADER, type UnitStore } from "./unit-store.ts";
import { CONTEXT_WEIGHTS } from "./weights.ts";

// What is known of a line from the lines around it, and at the end from the whole output. Each is one of a few steps.
const groups: [name: string, size: number][] = [
  ["own level", 32],
  ["level before", 16],
  ["level after", 16],
  ["levels 2-3 before", 16],
  ["levels 2-3 after", 16],
  ["levels 4-8 before", 16],
  ["levels 4-8 after", 16],
  ["levels 9-20 before", 16],
  ["levels 9-20 after", 16],
  ["paragraph level", 16],
  ["paragraph's first level", 16],
  ["place in paragraph", 7],
  ["paragraph ahead", 7],
  ["parent level", 17],
  ["since header", 10],
  ["place among frames", 7],
  ["strong near", 8],
  ["strong around", 8],
  ["since command", 9],
  ["strong since command", 7],
  ["failed steps before", 4],
  ["good steps before", 5],
  ["shape seen", 8],
  // Known only at the end.
  ["chars to the end", 13],
  ["lines to the end", 11],
  ["position", 10],
  ["lines to a failed step", 12],
  ["next step", 3],
  ["shape in all", 8],
  ["start in all", 8],
  ["rank", 9],
  ["strong in all, level", 40],
  ["failed steps, level", 24],
];
const starts: number[] = [];
let total = 0;
for (const [, size] of groups) {
  starts.push(total);
  total += size;
}

/** Where each group of steps begins, in the order above. */
const CONTEXT_AT: readonly number[] = starts;
/** How many there are in all. @public for the script that learns the weights */
export const CONTEXT_FEATURES = total;
/** Groups whose steps have an order: neighbours should not differ much. @public for the script that learns the weights */
export const ORDERED: readonly [from: number, to: number][] = groups
  .map(([name, size], index): [string, number, number] => [name, starts[index] as number, size])
  .filter(([name]) => !name.includes(", level") && name !== "next step")
  .map(([, start, size]) => [start, start + size]);
/** Groups before this one are known without the rest of the output. */
const LATE_GROUP = groups.findIndex(([name]) => name === "chars to the end");

/** A step in words, for people who ask why. @public for the script that learns the weights */
export function contextName(feature: number): string {
  const group = starts.findLastIndex((start) => start <= feature);
  const [name, size] = groups[group] as [string, number];
  return `${name} ${feature - (starts[group] as number)}/${size}`;
}

/** The step of a count: 0, 1, 2, up to 4, 8, 16 ... */
export function doubling(count: number, most: number): number {
  if (count < 3) return count < 0 ? 0 : count;
  const step = 34 - Math.clz32(count - 1) - 1;
  return step < most ? step : most;
}

/** Lines looked at before and after each. */
export const REACH = 20;
/** From this level on a line is strong. */
export const STRONG = 22;
/** From this level on a line raises the lines around it. */
export const LIVELY = 10;
/** The score of a line with no such line around: too low to matter beside others. */
const QUIET_SCORE = -7.2;

/** What is known of one line, a step of each group in their order, and what that is worth. */
class Steps {
  /** The steps of the line looked at last. */
  readonly features = new Uint16Array(32);
  count = 0;
  readonly #firstGroup: number;

  constructor(firstGroup: number) {
    this.#firstGroup = firstGroup;
  }

  /** Adds the step of the next group. */
  put(step: number): void {
    this.features[this.count] = (CONTEXT_AT[this.#firstGroup + this.count++] as number) + step;
  }

  score(): number {
    let score = 0;
    for (let at = 0; at < this.count; at++) score += CONTEXT_WEIGHTS[this.features[at] as number] as number;
    return score;
  }
}

/** Looks at lines in their surroundings, one after another. */
export class Context extends Steps {
  #sinceHeader = 1 << 20;
  #sinceCommand = 1 << 20;
  #strongSince = 0;
  #frames = 0;
  #sinceFrames = 1 << 20;
  #failed = 0;
  #good = 0;
  #paragraph = 0;
  #paragraphFirst = 0;
  #paragraphLevel = 0;

  constructor() {
    super(0);
  }

  /**
   * The score of row `row` of a store with `last` rows. `seen` is how often its shape came before. If `quiet`, no lively
   * line is near it. Rows are to be asked for in order.
   */
  look(store: UnitStore, row: number, last: number, seen: number, quiet = false): number {
    const { level, flags } = store;
    const flag = flags[row] as number;
    const own = level[row] as number;
    this.#arrive(flag, own);
    store.failedBefore[row] = this.#failed > 255 ? 255 : this.#failed;
    if (quiet) {
      this.#pass(flag, own);
      return QUIET_SCORE;
    }
    const near = strongIn(store, row - 5, row + 5, last);
    const around = strongIn(store, row - 15, row + 15, last);
    const ahead = paragraphAhead(store, row, last);
    this.count = 0;
    this.put(own);
    this.put(highest(level, row - 1, row, last) >> 1);
    this.put(highest(level, row + 1, row + 2, last) >> 1);
    this.put(highest(level, row - 3, row - 1, last) >> 1);
    this.put(highest(level, row + 2, row + 4, last) >> 1);
    this.put(highest(level, row - 8, row - 3, last) >> 1);
    this.put(highest(level, row + 4, row + 9, last) >> 1);
    this.put(highest(level, row - 20, row - 8, last) >> 1);
    this.put(highest(level, row + 9, row + 21, last) >> 1);
    this.put(Math.max(this.#paragraphLevel, highest(level, row + 1, row + 1 + ahead, last)) >> 1);
    this.put(this.#paragraph === 0 ? 0 : this.#paragraphFirst >> 1);
    this.put(doubling(this.#paragraph, 6));
    this.put(doubling(ahead, 6));
    this.put(parentLevel(store, row) >> 1);
    this.put(doubling(this.#sinceHeader, 9));
    this.put(this.#frames === 0 ? 0 : this.#sinceFrames === 0 ? 1 + doubling(this.#frames - 1, 4) : 6);
    this.put(near > 7 ? 7 : near);
    this.put(around < 5 ? around : around < 8 ? 5 : around < 14 ? 6 : 7);
    this.put(doubling(this.#sinceCommand, 8));
    this.put(doubling(this.#strongSince, 6));
    this.put(this.#failed > 3 ? 3 : this.#failed);
    this.put(doubling(this.#good, 4));
    this.put(doubling(seen, 7));
    this.#pass(flag, own);
    return this.score();
  }

  /** Takes in what the line itself changes: its paragraph, the command it begins, the header or the frames it is in. */
  #arrive(flag: number, own: number): void {
    if ((flag & IS_BLANK) !== 0) {
      this.#paragraph = 0;
      this.#paragraphLevel = 0;
    } else {
      if (this.#paragraph++ === 0) this.#paragraphFirst = own;
      if (own > this.#paragraphLevel) this.#paragraphLevel = own;
    }
    if ((flag & IS_COMMAND) !== 0) {
      this.#sinceCommand = 0;
      this.#strongSince = 0;
    }
    if ((flag & IS_HEADER) !== 0) this.#sinceHeader = 0;
    if ((flag & IS_FRAME) !== 0) {
      this.#frames++;
      this.#sinceFrames = 0;
    } else if (this.#sinceFrames > 2) this.#frames = 0;
  }

  /** What is known to the lines after this one. */
  #pass(flag: number, own: number): void {
    if (own >= STRONG) this.#strongSince++;
    if ((flag & FAILED_STEP) !== 0) {
      this.#failed++;
      this.#strongSince = 0;
    } else if ((flag & GOOD_STEP) !== 0) {
      this.#good++;
      this.#strongSince = 0;
    }
    this.#sinceHeader++;
    this.#sinceCommand++;
    this.#sinceFrames++;
  }
}

/** The level of the nearest line above that is indented less; 32 if there is none within reach. */
function parentLevel({ indent, flags, level }: UnitStore, row: number): number {
  const own = indent[row] as number;
  if (own === 0) return 32;
  const from = row < REACH ? 0 : row - REACH;
  for (let at = row - 1; at >= from; at--) {
    if (own > (indent[at] as number) && ((flags[at] as number) & IS_BLANK) === 0) return level[at] as number;
  }
  return 32;
}

/** How many lines of a row's paragraph are still to come, as far as it is looked. */
function paragraphAhead({ flags }: UnitStore, row: number, last: number): number {
  if (((flags[row] as number) & IS_BLANK) !== 0) return 0;
  const to = last < row + REACH + 1 ? last : row + REACH + 1;
  let at = row + 1;
  while (at < to && ((flags[at] as number) & IS_BLANK) === 0) at++;
  return at - row - 1;
}

/** The highest level of rows [from, to), as far as they are there. */
function highest(level: Uint8Array, from: number, to: number, last: number): number {
  let most = 0;
  const end = to < last ? to : last;
  for (let at = from < 0 ? 0 : from; at < end; at++) if ((level[at] as number) > most) most = level[at] as number;
  return most;
}

/** Strong lines among rows [from, to), the last row not counted. */
function strongIn({ strongBefore }: UnitStore, from: number, to: number, last: number): number {
  return (strongBefore[to < last ? to : last - 1] as number) - (strongBefore[from < 0 ? 0 : from] as number);
}

/** What is known of an output once it ended. */
export interface Whole {
  units: number;
  chars: number;
  /** Sequence numbers of lines that end a step that failed, and of those that end one that went well. */
  failed: Int32Array;
  good: Int32Array;
  /** Lines of each level or a higher one. */
  ranks: Int32Array;
  strong: number;
  shapes: ShapeCounts;
  starts: ShapeCounts;
  sorts: ShapeCounts;
  /** How rare the words of a focus are, if there is one. */
  words: WordCounts | null;
  /** Lines of sorts that the last good run does not have; 0 too if none is known. */
  added: number;
  /** How many failures the last summary counts. */
  counted: number;
}

/** Looks at lines once the output ended; rows are to be asked for in order. */
export class LateContext extends Steps {
  readonly #whole: Whole;
  #nextFailed = 0;
  #nextGood = 0;

  constructor(whole: Whole) {
    super(LATE_GROUP);
    this.#whole = whole;
  }

  look(store: UnitStore, row: number): number {
    const { units, chars, failed, good, ranks, strong, shapes, starts } = this.#whole;
    const sequence = store.sequence[row] as number;
    while (this.#nextFailed < failed.length && (failed[this.#nextFailed] as number) < sequence) this.#nextFailed++;
    while (this.#nextGood < good.length && (good[this.#nextGood] as number) < sequence) this.#nextGood++;
    const nextFailed = this.#nextFailed < failed.length ? (failed[this.#nextFailed] as number) : -1;
    const nextGood = this.#nextGood < good.length ? (good[this.#nextGood] as number) : -1;
    const own = store.level[row] as number;
    this.count = 0;
    const charsLeft = chars - (store.charsBefore[row] as number);
    this.put(Math.min(12, Math.max(0, 32 - Math.clz32(Math.min(charsLeft, 1 << 30) >> 7))));
    this.put(doubling(units - 1 - sequence, 10));
    this.put(Math.min(9, Math.floor((10 * sequence) / units)));
    this.put(nextFailed === -1 ? 11 : doubling(nextFailed - sequence, 10));
    this.put(
      nextFailed === -1 && nextGood === -1
        ? 0
        : nextFailed === -1 || (nextGood !== -1 && nextGood < nextFailed)
          ? 1
          : 2,
    );
    this.put(doubling(shapes.of(store.shapeSlot[row] as number) - 1, 7));
    this.put(doubling(starts.of(store.startSlot[row] as number) - 1, 7));
    this.put(Math.min(8, (32 - Math.clz32(ranks[own] as number)) >> 1));
    this.put(Math.min(4, (32 - Math.clz32(strong)) >> 1) * 8 + (own >> 2));
    this.put(Math.min(2, store.failedBefore[row] as number) * 8 + (own >> 2));
    return this.score();
  }
}
