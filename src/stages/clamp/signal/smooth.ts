import { IS_BLANK, type UnitStore } from "./unit-store.ts";

/** Lines to either side that lend a line part of its value. */
const SPREAD = 6;
/** A line's own share in its value. */
const OWN = 0.6;
/** What it then shares with its paragraph: lines without a blank one between, so many at a time. */
const PARAGRAPH = 0.4;
const PARAGRAPH_LINES = 30;

/** Values of rows [from, to): e to the score, part of it from the lines around, so that blocks are chosen, not lines. */
export function smoothed(
  store: UnitStore,
  scores: Float32Array,
  from: number,
  to: number,
  own: Float64Array = new Float64Array(to - from),
  values: Float64Array = new Float64Array(to - from),
): Float64Array {
  const { flags, sequence } = store;
  const count = to - from;
  // Quiet lines, which are most, have one score.
  let score = 0;
  let value = 1;
  for (let at = 0; at < count; at++) {
    if (scores[from + at] !== score) {
      score = scores[from + at] as number;
      value = Math.exp(score);
    }
    own[at] = ((flags[from + at] as number) & IS_BLANK) !== 0 ? 0 : value;
  }
  let sum = 0;
  let lines = 0;
  let low = 0;
  let high = 0;
  for (let at = 0; at < count; at++) {
    const here = sequence[from + at] as number;
    while (high < count && (sequence[from + high] as number) <= here + SPREAD) {
      sum += own[high] as number;
      if (((flags[from + high] as number) & IS_BLANK) === 0) lines++;
      high++;
    }
    while ((sequence[from + low] as number) < here - SPREAD) {
      sum -= own[low] as number;
      if (((flags[from + low] as number) & IS_BLANK) === 0) lines--;
      low++;
    }
    values[at] = OWN * (own[at] as number) + ((1 - OWN) * Math.max(0, sum)) / Math.max(1, lines);
  }
  shareInParagraphs(store, own, values, from);
  return values;
}

function shareInParagraphs(store: UnitStore, own: Float64Array, values: Float64Array, from: number): void {
  const { flags, sequence } = store;
  const isBlank = (at: number) => ((flags[from + at] as number) & IS_BLANK) !== 0;
  const follows = (at: number) => sequence[from + at] === (sequence[from + at - 1] as number) + 1;
  for (let at = 0; at < own.length; at++) {
    const start = at;
    let sum = 0;
    while (at < own.length && at - start < PARAGRAPH_LINES && !isBlank(at) && (at === start || follows(at))) {
      sum += own[at++] as number;
    }
    const shared = (PARAGRAPH * sum) / (at - start);
    for (let row = start; row < at; row++) values[row] = (1 - PARAGRAPH) * (values[row] as number) + shared;
    if (at > start) at--;
  }
}
