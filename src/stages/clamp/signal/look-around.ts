import type { Focus } from "../../../contract/strategy.ts";
import { doubling } from "./context-features.ts";
import { levelOf } from "./line-bytes.ts";
import { SEEN_AT, START_SEEN_AT } from "./line-features.ts";
import type { LineScan } from "./scan-line.ts";
import type { ShapeCounts } from "./shape-counts.ts";
import { HAS_ALL_WORDS, IS_FOCUSED, IS_WARNING, WARNING_GAIN } from "./unit-store.ts";

/** Lines around one that caught the quick look's eye that are judged too. */
export interface Around {
  before: number;
  after: number;
}

/** A level from which a line that holds a failure word is taken for one that tells of a failure. */
const TELLING = 10;
const TELLING_AROUND: Around = { before: 20, after: 24 };
/** Warnings that are still rare are kept, in case that nothing failed. */
const RARE_STARTS = 16;
const WARNING_AROUND: Around = { before: 2, after: 2 };

/** What a line that somebody is after gains, and what is judged around it. */
const FOCUS_GAIN = 6;
export const AROUND_FOCUS: Around = { before: 2, after: 2 };

/** What a line gains for what it is, beside its score. */
export function gainOf(flags: number): number {
  const focus = ((flags & IS_FOCUSED) !== 0 ? FOCUS_GAIN : 0) + ((flags & HAS_ALL_WORDS) !== 0 ? FOCUS_GAIN : 0);
  return focus + ((flags & IS_WARNING) !== 0 ? WARNING_GAIN : 0);
}

/** Whether somebody is after the line bytes[start, end), and how much. */
export function focusFlags(focus: Focus | undefined, bytes: Uint8Array, start: number, end: number): number {
  if (focus === undefined) return 0;
  const line = bytes.subarray(start, bytes[end - 1] === 10 ? end - 1 : end);
  if (!focus.matches(line)) return 0;
  return focus.matchesAll?.(line) ? IS_FOCUSED | HAS_ALL_WORDS : IS_FOCUSED;
}

/** A warning that came less often is kept for an output in which nothing failed. */
export const RARE = 3;

/** What to judge around the line just scanned, which holds a failure word; null if it is one of many dull ones. */
export function lookAround(scan: LineScan, shapes: ShapeCounts, starts: ShapeCounts): Around | null {
  if (scan.blank) return null;
  const shape = shapes.slot(scan.shape);
  const start = starts.slot(scan.startShape);
  const seen = shapes.of(shape);
  const startSeen = starts.of(start);
  scan.putNew(SEEN_AT + doubling(seen, 6));
  scan.putNew(START_SEEN_AT + doubling(startSeen, 7));
  if (scan.exit !== 0 || levelOf(scan.score) >= TELLING) return TELLING_AROUND;
  if (scan.isWarning && seen < RARE && startSeen < RARE_STARTS) return WARNING_AROUND;
  shapes.add(shape);
  starts.add(start);
  return null;
}
