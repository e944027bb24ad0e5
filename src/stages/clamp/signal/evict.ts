import { oddFinder } from "./odd-rows.ts";
import { MOST_TELLING, signFinder } from "./pin-signs.ts";
import { heldChars } from "./reading.ts";
import type { ShapeCounts } from "./shape-counts.ts";
import { smoothed } from "./smooth.ts";
import type { UnitStore } from "./unit-store.ts";

/** Share of the room at the output's start that is never let go, and rooms at its end. */
const HEAD_SHARE = 0.2;
/** The newest lines are needed as surroundings of the next. */
const NEWEST_LINES = 64;
/** What a line costs beside its characters. */
const LINE_COST = 32;
const STEPS = 512;
/** The value per cost at which each step begins: six steps to a doubling. */
const STEP_STARTS = Float64Array.from({ length: STEPS }, (_, step) => 2 ** ((step - 0.5) / 6 - 60));

/** What is held, in characters, from which on lines are let go. */
export function heldCost({ chars, length }: UnitStore): number {
  return chars + LINE_COST * length;
}

/**
 * Lets go of the lines that are worth least for their length, until about as much as `heldChars` says is held. Gives what
 * may be held the next time: of very short lines both ends alone can be more, and to look again at each line is too often.
 */
export function evict(store: UnitStore, roomChars: number, judged: number, shapes: ShapeCounts): number {
  const { length, shownChars, charsBefore } = store;
  if (scratch.keeps.length < length) scratch = newScratch(length + (length >> 1));
  const keeps = scratch.keeps.fill(0, 0, length);
  let left = heldChars(roomChars);
  let head = 0;
  while (head < length && (charsBefore[head] as number) < roomChars * HEAD_SHARE) left -= costOf(store, head++);
  let tail = length;
  let tailChars = 0;
  while (tail > head && (tailChars < roomChars || length - tail < NEWEST_LINES || tail > judged)) {
    tailChars += shownChars[--tail] as number;
    left -= costOf(store, tail);
  }
  keeps.fill(1, 0, head);
  keeps.fill(1, tail, length);
  const count = tail - head;
  const { own, values } = { own: scratch.own.subarray(0, count), values: scratch.values.subarray(0, count) };
  smoothed(store, store.score, head, tail, own, values);
  const steps = scratch.steps.fill(0);
  const { step } = scratch;
  // From the step of the row before it is not far: faster than a logarithm.
  let at = 0;
  for (let row = head; row < tail; row++) {
    const cost = costOf(store, row);
    const density = (values[row - head] as number) / cost;
    while (at > 0 && density < (STEP_STARTS[at] as number)) at--;
    while (at < STEPS - 1 && density >= (STEP_STARTS[at + 1] as number)) at++;
    step[row - head] = at;
    steps[at] = (steps[at] as number) + cost;
  }
  let lowest = STEPS;
  while (lowest > 0 && left - (steps[lowest - 1] as number) > 0) left -= steps[--lowest] as number;
  // The first lines that tell of a failure, or stand out, stay: at the end they may be the only ones.
  const isSign = signFinder(store);
  const isOdd = oddFinder(store, shapes);
  let signs = 0;
  for (let row = head; row < tail; row++) {
    if ((step[row - head] as number) >= lowest) keeps[row] = 1;
    else if (signs < MOST_TELLING && (isSign(row) || isOdd(row))) {
      keeps[row] = 1;
      signs++;
    }
  }
  store.retain(keeps, scratch.rows);
  return Math.max(2 * heldChars(roomChars), 1.5 * heldCost(store));
}

/** Used by one call after another: new arrays each time would cost more than the rest of it. */
function newScratch(length: number) {
  return {
    keeps: new Uint8Array(length),
    own: new Float64Array(length),
    values: new Float64Array(length),
    step: new Uint16Array(length),
    steps: new Float64Array(STEPS),
    rows: new Int32Array(length),
  };
}
let scratch = newScratch(0);

function costOf({ shownChars }: UnitStore, row: number): number {
  return (shownChars[row] as number) + LINE_COST;
}
