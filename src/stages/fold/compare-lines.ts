// Two lines have one shape if they differ only in numbers (with decimals, times, units), hex ids, and the blanks that
// align those. Zero and other whole numbers are different shapes: a count that leaves zero is news.
import { isDigit, isLetter, SPACE } from "./byte-class.ts";
import { isFailingStatus } from "./failure-words.ts";
import { isJoint, isZero, quantityEnd } from "./quantity.ts";

export const DIFFERENT = 0;
export const SAME_SHAPE = 1;
export const IDENTICAL = 2;

/** DIFFERENT, SAME_SHAPE or IDENTICAL. Reads both only as far as the first real difference. */
export function compareLines(
  first: Uint8Array,
  firstStart: number,
  firstEnd: number,
  second: Uint8Array,
  secondStart: number,
  secondEnd: number,
): number {
  let left = firstStart;
  let right = secondStart;
  let relation = IDENTICAL;
  // Where the stretch begins that is equal in both up to here.
  let equalFrom = left;
  for (;;) {
    while (left < firstEnd && right < secondEnd && first[left] === second[right]) {
      left++;
      right++;
    }
    if (left === firstEnd && right === secondEnd) return relation;
    relation = SAME_SHAPE;
    const wordStart = backToWord(first, equalFrom, left);
    const leftHexEnd = hexEnd(first, wordStart, firstEnd);
    if (leftHexEnd > wordStart) {
      const rightHexEnd = hexEnd(second, right - (left - wordStart), secondEnd);
      if (rightHexEnd > right - (left - wordStart)) {
        equalFrom = left = leftHexEnd;
        right = rightHexEnd;
        continue;
      }
    }
    const back = left - backToNumber(first, equalFrom, left);
    left = afterSpaces(first, left - back, firstEnd);
    right = afterSpaces(second, right - back, secondEnd);
    const leftEnd = quantityEnd(first, left, firstEnd);
    if (leftEnd === left) return DIFFERENT;
    const rightEnd = quantityEnd(second, right, secondEnd);
    if (rightEnd === right) return DIFFERENT;
    if (isZero(first, left, leftEnd, firstEnd) !== isZero(second, right, rightEnd, secondEnd)) return DIFFERENT;
    if (isFailingStatus(first, firstStart, left, firstEnd) !== isFailingStatus(second, secondStart, right, secondEnd)) {
      return DIFFERENT;
    }
    left = leftEnd;
    right = rightEnd;
    if (left < firstEnd && right < secondEnd && first[left] === SPACE && second[right] === SPACE) {
      left = afterSpaces(first, left, firstEnd);
      right = afterSpaces(second, right, secondEnd);
    }
    equalFrom = left;
  }
}

function backToWord(bytes: Uint8Array, floor: number, at: number): number {
  let start = at;
  while (start > floor && (isLetter(bytes[start - 1]) || isDigit(bytes[start - 1]))) start--;
  return start;
}

/** The start of the number, or of the number with its unit, that ends at or goes on over `at`; else `at`. */
function backToNumber(bytes: Uint8Array, floor: number, at: number): number {
  let start = at;
  while (start > floor && isLetter(bytes[start - 1])) start--;
  if (start === floor || !isDigit(bytes[start - 1])) start = at;
  while (start > floor) {
    const byte = bytes[start - 1]!;
    if (!isDigit(byte) && !(isJoint(byte) && start - 2 >= floor && isDigit(bytes[start - 2]))) break;
    start--;
  }
  return start;
}

/** The end of an id in hex digits that starts here, else `start`: six or more with a digit among them, or a part of a UUID. */
function hexEnd(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  let digits = 0;
  if (bytes[at] === 0x30 && at + 1 < end && (bytes[at + 1]! | 0x20) === 0x78) {
    at += 2;
    digits = 6;
  }
  const hexStart = at;
  while (at < end) {
    const byte = bytes[at]!;
    if (isDigit(byte)) digits++;
    else if (!isLetter(byte)) break;
    else if ((byte | 0x20) > 0x66) return start;
    at++;
  }
  const length = at - hexStart;
  if (digits >= 6 || (length >= 6 && digits > 0)) return at;
  return length === 4 && bytes[start - 1] === 0x2d && at < end && bytes[at] === 0x2d ? at : start;
}

function afterSpaces(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && bytes[at] === SPACE) at++;
  return at;
}
