import { IS_BLANK, type UnitStore } from "./unit-store.ts";

/** What a copy of a better line loses of its score, and so lends less to the lines around it. */
const REPEAT_COST = 0.7;
/** What it is then worth less, times how many copies came before it. */
const COPY_COST = 2;
/** The line before a copy is worth so many times what the copy was worth. */
const HEAD_GAIN = 1.5;

/**
 * A line that comes again tells nothing new: all but the best of its copies score less. Gives for each row how many of
 * them came before it; 0 for the best.
 */
export function repeatsDown(store: UnitStore, scores: Float32Array): Uint16Array {
  const copies = new Uint16Array(store.length);
  const best = new Map<number, number>();
  const counts = new Map<number, number>();
  for (let row = 0; row < store.length; row++) {
    const text = store.textHash[row] as number;
    if (text === 0) continue;
    const other = best.get(text);
    if (other === undefined) {
      best.set(text, row);
      continue;
    }
    const count = (counts.get(text) ?? 0) + 1;
    counts.set(text, count);
    const isBetter = (scores[row] as number) > (scores[other] as number);
    if (isBetter) best.set(text, row);
    const copy = isBetter ? other : row;
    scores[copy] = (scores[copy] as number) - REPEAT_COST;
    copies[copy] = Math.min(65_535, count);
  }
  return copies;
}

/** Where many failures have one body, what tells them apart comes before the body's copies: the line before each. */
export function copiesDown(store: UnitStore, copies: Uint16Array, values: Float64Array): void {
  const { flags, sequence } = store;
  for (let row = 0; row < store.length; row++) {
    const copy = copies[row] as number;
    if (copy > 0) values[row] = (values[row] as number) / (1 + COPY_COST * copy);
    else if (
      (copies[row + 1] ?? 0) > 0 &&
      ((flags[row] as number) & IS_BLANK) === 0 &&
      sequence[row + 1] === (sequence[row] as number) + 1
    )
      values[row] = Math.max(values[row] as number, HEAD_GAIN * (values[row + 1] as number));
  }
}
