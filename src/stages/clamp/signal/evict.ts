import { smoothed } from "./smooth.ts";
import type { UnitStore } from "./unit-store.ts";

/** Share of the room at the output's start that is never let go, and rooms at its end. */
const HEAD_SHARE = 0.2;
/** The newest lines are needed as surroundings of the next. */
const NEWEST_LINES = 64;
/** What a line costs beside its characters. */
const LINE_COST = 32;
const STEPS = 512;

/** Lets go of the lines that are worth least for their length, until about `mostChars` are held. */
export function evict(store: UnitStore, roomChars: number, mostChars: number, judged: number): void {
  const { length, shownChars, charsBefore } = store;
  const keeps = new Uint8Array(length);
  let left = mostChars;
  let head = 0;
  while (head < length && (charsBefore[head] as number) < roomChars * HEAD_SHARE) left -= cost(store, head++);
  let tail = length;
  let tailChars = 0;
  while (tail > head && (tailChars < roomChars || length - tail < NEWEST_LINES || tail > judged)) {
    tailChars += shownChars[--tail] as number;
    left -= cost(store, tail);
  }
  keeps.fill(1, 0, head);
  keeps.fill(1, tail);
  const values = smoothed(store, store.score, head, tail);
  const steps = new Float64Array(STEPS);
  const step = new Uint16Array(tail - head);
  for (let row = head; row < tail; row++) {
    const density = Math.log2((values[row - head] as number) / cost(store, row) + 1e-30);
    const at = Math.max(0, Math.min(STEPS - 1, Math.round((density + 60) * 6)));
    step[row - head] = at;
    steps[at] = (steps[at] as number) + cost(store, row);
  }
  let lowest = STEPS;
  while (lowest > 0 && left - (steps[lowest - 1] as number) > 0) left -= steps[--lowest] as number;
  for (let row = head; row < tail; row++) if ((step[row - head] as number) >= lowest) keeps[row] = 1;
  store.retain(keeps);
}

function cost({ shownChars }: UnitStore, row: number): number {
  return (shownChars[row] as number) + LINE_COST;
}
