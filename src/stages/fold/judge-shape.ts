import { hasFailingStatus, hasStatus } from "./failing-status.ts";
import { hasFailureWord } from "./failure-words.ts";
import { hasTick } from "./tick.ts";

/** Not looked up yet. */
export const UNJUDGED = 0;
/** Lines of this shape are data or tell of failures: none is left out. */
export const STAYS = 1;
/** Lines of this shape are progress or status noise. */
const COLLAPSES = 2;
/** As COLLAPSES, but for lines whose HTTP status is a failing one. */
const HAS_STATUS = 3;

const decoder = new TextDecoder();

/** What may happen to lines of one shape. All of them have the same failure words; ticks are taken from any two. */
export function judgeShape(first: Uint8Array, second: Uint8Array): number {
  if (!hasTick(decoder.decode(second)) && !hasTick(decoder.decode(first))) return STAYS;
  if (hasFailureWord(second, 0, second.length)) return STAYS;
  return hasStatus(second, 0, second.length) ? HAS_STATUS : COLLAPSES;
}

/** Whether a line of a judged shape stays. */
export function lineStays(verdict: number, bytes: Uint8Array, start: number, end: number): boolean {
  return verdict === STAYS || (verdict === HAS_STATUS && hasFailingStatus(bytes, start, end));
}
