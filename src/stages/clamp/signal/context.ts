import { CONTEXT_AT, doubling } from "./context-features.ts";
import { FAILED_STEP, GOOD_STEP, IS_BLANK, IS_COMMAND, IS_FRAME, IS_HEADER, type UnitStore } from "./unit-store.ts";
import { CONTEXT_WEIGHTS } from "./weights.ts";

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
   * The score of row `row`, of which `last` rows in all are there; `seen` is how often its shape came before. Nothing
   * lively stands around a `quiet` one.
   */
  look(store: UnitStore, row: number, last: number, seen: number, quiet = false): number {
    const { level, flags } = store;
    const flag = flags[row] as number;
    const own = level[row] as number;
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

    if (quiet) {
      store.failedBefore[row] = this.#failed > 255 ? 255 : this.#failed;
      this.#pass(flag, own);
      return QUIET_SCORE;
    }
    let paragraphLevel = this.#paragraphLevel;
    let ahead = 0;
    const to = last < row + REACH + 1 ? last : row + REACH + 1;
    if ((flag & IS_BLANK) === 0) {
      for (let at = row + 1; at < to && ((flags[at] as number) & IS_BLANK) === 0; at++) {
        ahead++;
        if ((level[at] as number) > paragraphLevel) paragraphLevel = level[at] as number;
      }
    }
    const indent = store.indent[row] as number;
    const from = row < REACH ? 0 : row - REACH;
    let parent = 32;
    if (indent > 0) {
      for (let at = row - 1; at >= from; at--) {
        if (indent > (store.indent[at] as number) && ((flags[at] as number) & IS_BLANK) === 0) {
          parent = level[at] as number;
          break;
        }
      }
    }
    const near = strongIn(store, row - 5, row + 5, last);
    const around = strongIn(store, row - 15, row + 15, last);
    const { features } = this;
    features[0] = own;
    if (row >= REACH && row + REACH < last) this.#levelsInside(store, row);
    else this.#levelsAtEdge(level, row, last);
    features[9] = A9 + (paragraphLevel >> 1);
    features[10] = A10 + (this.#paragraph === 0 ? 0 : this.#paragraphFirst >> 1);
    features[11] = A11 + doubling(this.#paragraph, 6);
    features[12] = A12 + doubling(ahead, 6);
    features[13] = A13 + (parent >> 1);
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
    store.failedBefore[row] = this.#failed > 255 ? 255 : this.#failed;

    this.#pass(flag, own);
    let score = 0;
    for (let at = 0; at < this.count; at++) score += CONTEXT_WEIGHTS[features[at] as number] as number;
    return score;
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
