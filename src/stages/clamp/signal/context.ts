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

const A1 = CONTEXT_AT[1] as number;
const A2 = CONTEXT_AT[2] as number;
const A3 = CONTEXT_AT[3] as number;
const A4 = CONTEXT_AT[4] as number;
const A5 = CONTEXT_AT[5] as number;
const A6 = CONTEXT_AT[6] as number;
const A7 = CONTEXT_AT[7] as number;
const A8 = CONTEXT_AT[8] as number;
const A9 = CONTEXT_AT[9] as number;
const A10 = CONTEXT_AT[10] as number;
const A11 = CONTEXT_AT[11] as number;
const A12 = CONTEXT_AT[12] as number;
const A13 = CONTEXT_AT[13] as number;
const A14 = CONTEXT_AT[14] as number;
const A15 = CONTEXT_AT[15] as number;
const A16 = CONTEXT_AT[16] as number;
const A17 = CONTEXT_AT[17] as number;
const A18 = CONTEXT_AT[18] as number;
const A19 = CONTEXT_AT[19] as number;
const A20 = CONTEXT_AT[20] as number;
const A21 = CONTEXT_AT[21] as number;
const A22 = CONTEXT_AT[22] as number;

/** Lines looked at before and after each. */
export const REACH = 20;
/** A level from which a line is strong. */
export const STRONG = 22;
/** A level from which a line is news to those around it. */
export const LIVELY = 10;
/** The score of a line with no such line around: too low to matter beside others. */
const QUIET_SCORE = -7.2;

/** Looks at lines in their surroundings, one after another. */
export class Context {
  /** The features of the line looked at last. */
  readonly features = new Uint16Array(32);
  count = 0;
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
    const { features } = this;
    features[0] = own;
    if (row >= REACH && row + REACH < last) this.#levelsInside(store, row);
    else this.#levelsAtEdge(level, row, last);
    this.#lookAhead(store, row, last);
    features[10] = A10 + (this.#paragraph === 0 ? 0 : this.#paragraphFirst >> 1);
    features[11] = A11 + doubling(this.#paragraph, 6);
    features[13] = A13 + (parentLevel(store, row) >> 1);
    features[14] = A14 + doubling(this.#sinceHeader, 9);
    features[15] = A15 + (this.#frames === 0 ? 0 : this.#sinceFrames === 0 ? 1 + doubling(this.#frames - 1, 4) : 6);
    features[16] = A16 + (near > 7 ? 7 : near);
    features[17] = A17 + (around < 5 ? around : around < 8 ? 5 : around < 14 ? 6 : 7);
    features[18] = A18 + doubling(this.#sinceCommand, 8);
    features[19] = A19 + doubling(this.#strongSince, 6);
    features[20] = A20 + (this.#failed > 3 ? 3 : this.#failed);
    features[21] = A21 + doubling(this.#good, 4);
    features[22] = A22 + doubling(seen, 7);
    this.count = 23;
    this.#pass(flag, own);
    let score = 0;
    for (let at = 0; at < this.count; at++) score += CONTEXT_WEIGHTS[features[at] as number] as number;
    return score;
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

  /** The highest level of the row's paragraph, and how many lines of it are still to come. */
  #lookAhead({ level, flags }: UnitStore, row: number, last: number): void {
    let highestLevel = this.#paragraphLevel;
    let ahead = 0;
    const to = last < row + REACH + 1 ? last : row + REACH + 1;
    if (((flags[row] as number) & IS_BLANK) === 0) {
      for (let at = row + 1; at < to && ((flags[at] as number) & IS_BLANK) === 0; at++) {
        ahead++;
        if ((level[at] as number) > highestLevel) highestLevel = level[at] as number;
      }
    }
    this.features[9] = A9 + (highestLevel >> 1);
    this.features[12] = A12 + doubling(ahead, 6);
  }

  /** The levels around a row that has enough rows on both sides. */
  #levelsInside({ level, recentLevel }: UnitStore, row: number): void {
    const { features } = this;
    const of = (at: number) => level[at] as number;
    const upTo = (at: number) => recentLevel[at] as number;
    features[1] = A1 + (of(row - 1) >> 1);
    features[2] = A2 + (of(row + 1) >> 1);
    features[3] = A3 + (higher(of(row - 3), of(row - 2)) >> 1);
    features[4] = A4 + (higher(of(row + 2), of(row + 3)) >> 1);
    features[5] = A5 + (higher(of(row - 8), upTo(row - 4)) >> 1);
    features[6] = A6 + (higher(upTo(row + 7), of(row + 8)) >> 1);
    features[7] = A7 + (higher(higher(upTo(row - 17), upTo(row - 13)), upTo(row - 9)) >> 1);
    features[8] = A8 + (higher(higher(upTo(row + 12), upTo(row + 16)), upTo(row + 20)) >> 1);
  }

  #levelsAtEdge(level: Uint8Array, row: number, last: number): void {
    const { features } = this;
    features[1] = A1 + (highest(level, row - 1, row, last) >> 1);
    features[2] = A2 + (highest(level, row + 1, row + 2, last) >> 1);
    features[3] = A3 + (highest(level, row - 3, row - 1, last) >> 1);
    features[4] = A4 + (highest(level, row + 2, row + 4, last) >> 1);
    features[5] = A5 + (highest(level, row - 8, row - 3, last) >> 1);
    features[6] = A6 + (highest(level, row + 4, row + 9, last) >> 1);
    features[7] = A7 + (highest(level, row - 20, row - 8, last) >> 1);
    features[8] = A8 + (highest(level, row + 9, row + 21, last) >> 1);
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

function higher(a: number, b: number): number {
  return a > b ? a : b;
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
}

/** Looks at lines once the output ended; rows are to be asked for in order. */
export class LateContext {
  readonly features = new Uint16Array(16);
  count = 0;
  readonly #whole: Whole;
  #nextFailed = 0;
  #nextGood = 0;

  constructor(whole: Whole) {
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
    let group = LATE_GROUP;
    const put = (step: number) => {
      this.features[this.count++] = (CONTEXT_AT[group++] as number) + step;
    };
    const charsLeft = chars - (store.charsBefore[row] as number);
    put(Math.min(12, Math.max(0, 32 - Math.clz32(Math.min(charsLeft, 1 << 30) >> 7))));
    put(doubling(units - 1 - sequence, 10));
    put(Math.min(9, Math.floor((10 * sequence) / units)));
    put(nextFailed === -1 ? 11 : doubling(nextFailed - sequence, 10));
    put(
      nextFailed === -1 && nextGood === -1
        ? 0
        : nextFailed === -1 || (nextGood !== -1 && nextGood < nextFailed)
          ? 1
          : 2,
    );
    put(doubling(shapes.of(store.shapeSlot[row] as number) - 1, 7));
    put(doubling(starts.of(store.startSlot[row] as number) - 1, 7));
    put(Math.min(8, (32 - Math.clz32(ranks[own] as number)) >> 1));
    put(Math.min(4, (32 - Math.clz32(strong)) >> 1) * 8 + (own >> 2));
    put(Math.min(2, store.failedBefore[row] as number) * 8 + (own >> 2));
    let score = 0;
    for (let at = 0; at < this.count; at++) score += CONTEXT_WEIGHTS[this.features[at] as number] as number;
    return score;
  }
}
