import { isDigit, isLetter, SPACE, TAB } from "./byte-class.ts";

const STATUS = [0x73, 0x74, 0x61, 0x74, 0x75, 0x73];

/** True if a number stands where HTTP statuses do: after `" `, `status` or `HTTP/1.1`. Texts of one shape agree on this. */
export function hasStatus(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start + 1; at < end; at++) {
    if (isDigit(bytes[at]) && isSeparator(bytes[at - 1]!) && isStatusPlace(bytes, start, at)) return true;
  }
  return false;
}

/** True if such a number is from 400 to 599. */
export function hasFailingStatus(bytes: Uint8Array, start: number, end: number): boolean {
  return failingStatus(bytes, start, end) !== 0;
}

/** The first such number from 400 to 599, or 0. */
export function failingStatus(bytes: Uint8Array, start: number, end: number): number {
  for (let at = start + 1; at + 3 <= end; at++) {
    const first = bytes[at]!;
    if (first !== 0x34 && first !== 0x35) continue;
    if (!isSeparator(bytes[at - 1]!) || !isDigit(bytes[at + 1]) || !isDigit(bytes[at + 2])) continue;
    if (at + 3 < end && (isDigit(bytes[at + 3]) || isLetter(bytes[at + 3]) || bytes[at + 3] === 0x2e)) continue;
    if (isStatusPlace(bytes, start, at))
      return (first - 0x30) * 100 + (bytes[at + 1]! - 0x30) * 10 + bytes[at + 2]! - 0x30;
  }
  return 0;
}

function isStatusPlace(bytes: Uint8Array, start: number, at: number): boolean {
  let before = at - 1;
  // A line of blanks and numbers must not be walked through for each of them.
  while (before >= start && at - before <= 8 && isSeparator(bytes[before]!)) before--;
  if (before < start) return false;
  if (bytes[before] === 0x22) return true;
  if (isDigit(bytes[before])) return before - 3 >= start && bytes[before - 1] === 0x2e && bytes[before - 3] === 0x2f;
  if (before - 5 < start) return false;
  for (let index = 0; index < 6; index++) if ((bytes[before - 5 + index]! | 0x20) !== STATUS[index]) return false;
  return true;
}

function isSeparator(byte: number): boolean {
  return byte === SPACE || byte === 0x3d || byte === 0x3a || byte === TAB;
}
