import type { Focus } from "../../../contract/strategy.ts";

/** How an output is read. */
export interface Reading {
  /** About how many characters can be shown. */
  roomChars: number;
  /** Every line of the first so many bytes is judged; of the rest what a quick look finds, within bounds, and the end. */
  fullBytes: number;
  focus?: Focus | undefined;
}

/** Lines are held up to this many times the room; more where the room is small. */
const HELD_ROOMS = 5;
const SMALL_HELD_ROOMS = 24;
const SMALL_HELD_CHARS = 250_000;

/** How many characters of lines are held on to while the output comes. */
export function heldChars(roomChars: number): number {
  return Math.max(HELD_ROOMS * roomChars, Math.min(SMALL_HELD_ROOMS * roomChars, SMALL_HELD_CHARS));
}
