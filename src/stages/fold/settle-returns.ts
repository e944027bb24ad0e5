import { CARRIAGE_RETURN } from "./byte-class.ts";
import { CellWriter } from "./cell-writer.ts";
import { Cells } from "./cells.ts";
import { overwrites } from "./overwrites.ts";

/**
 * Resolves stretches joined by CR until no neighbours overwrite one another, so that folding the result again changes
 * nothing: a stretch kept at first may turn out to be overwritten by what its successor became. In place; the new end.
 */
export function settleReturns(bytes: Uint8Array, end: number): number {
  if (!bytes.subarray(0, end).includes(CARRIAGE_RETURN)) return end;
  const writer = new CellWriter();
  const top = new Cells();
  const base = new Cells();
  const merged = new Uint8Array(end);
  // Where each settled stretch begins in `bytes`; its CR stands just before the next one.
  const starts: number[] = [];
  let written = 0;
  // Bounds the time that crafted input can take; ordinary input needs a small part of it.
  let work = 64 * end;
  for (let at = 0; at <= end; ) {
    let next = bytes.indexOf(CARRIAGE_RETURN, at);
    if (next < 0 || next > end) next = end;
    let stretchEnd = next - at;
    merged.set(bytes.subarray(at, next));
    at = next + 1;
    while (starts.length > 0 && stretchEnd > 0 && work > 0) {
      const baseStart = starts[starts.length - 1]!;
      work -= written - baseStart + stretchEnd;
      base.reset();
      top.reset();
      writer.putAll(base, bytes, baseStart, written);
      writer.putAll(top, merged, 0, stretchEnd);
      if (!overwrites(base, top)) break;
      base.overlay(top);
      stretchEnd = base.render(merged, 0, 0);
      starts.pop();
      written = Math.max(0, baseStart - 1);
    }
    if (stretchEnd === 0) continue;
    if (starts.length > 0) bytes[written++] = CARRIAGE_RETURN;
    starts.push(written);
    bytes.set(merged.subarray(0, stretchEnd), written);
    written += stretchEnd;
  }
  return written;
}
