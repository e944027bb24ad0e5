import { newScan, scanBytes, scannedChars } from "../../measure/scan.ts";
import { LEVELS } from "./weights.ts";

/** The level that a score reaches. */
export function levelOf(score: number): number {
  let low = 0;
  let high = 31;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (score >= (LEVELS[middle] as number)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** UTF-16 units of a stretch. */
export function charsIn(bytes: Uint8Array, start: number, end: number): number {
  const scan = newScan();
  scanBytes(scan, bytes.subarray(start, end));
  return scannedChars(scan);
}
