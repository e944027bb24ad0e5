import { MAX_SHAPE_LINE_BYTES } from "./bounds.ts";
import { BYTE_CLASS, LINE_FEED, PLAIN } from "./byte-class.ts";
import { compareLines, DIFFERENT } from "./compare-lines.ts";
import { MIN_NOTE_BYTES } from "./gap.ts";

/**
 * The line from `start` to `end` repeats the one before. If it and the repeats after it are too short for any note and the
 * next line is plain, whole and unlike them, nothing comes of them: returns where that next line begins, else 0.
 */
export function afterShortRepeats(bytes: Uint8Array, start: number, end: number): number {
  const size = end - start;
  let at = end;
  while (at - start <= MIN_NOTE_BYTES && isRepeat(bytes, start, at, size)) at += size;
  if (at - start > MIN_NOTE_BYTES) return 0;
  let stop = at;
  const limit = Math.min(bytes.length, at + MAX_SHAPE_LINE_BYTES);
  while (stop < limit && BYTE_CLASS[bytes[stop]!] === PLAIN) stop++;
  if (stop === limit || bytes[stop] !== LINE_FEED) return 0;
  return compareLines(bytes, start, end - 1, bytes, at, stop) === DIFFERENT ? at : 0;
}

function isRepeat(bytes: Uint8Array, start: number, at: number, size: number): boolean {
  if (at + size > bytes.length) return false;
  for (let index = 0; index < size; index++) if (bytes[at + index] !== bytes[start + index]) return false;
  return true;
}
