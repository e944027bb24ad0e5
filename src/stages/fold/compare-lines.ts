// Two lines have one shape if they differ only in numbers (with decimals, times, units), hex ids, and the blanks that
// align those. Zero and other whole numbers are different shapes: a count that leaves zero is news.
import { BLANK, BYTE_KIND, DIGIT, HEX, JOINT, LETTER, SPACE } from "./byte-class.ts";
import { isZero, quantityEnd } from "./quantity.ts";

/** Bytes that may stand for one another: digits other than 0. */
const SHAPE: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) => (byte > 0x30 && byte <= 0x39 ? 0x31 : byte));

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
  let changed = 0;
  // Where the stretch begins that is equal in both up to here but for digits in the same places.
  let equalFrom = left;
  for (;;) {
    const stop = left + Math.min(firstEnd - left, secondEnd - right);
    while (left < stop) {
      const byte = first[left]!;
      const other = second[right]!;
      if (SHAPE[byte] !== SHAPE[other]) break;
      changed |= byte ^ other;
      left++;
      right++;
    }
    if (left === firstEnd && right === secondEnd) return changed === 0 ? IDENTICAL : SAME_SHAPE;
    changed = 1;
    const before = left > equalFrom ? BYTE_KIND[first[left - 1]!]! : 0;
    const leftKind = left < firstEnd ? BYTE_KIND[first[left]!]! : 0;
    const rightKind = right < secondEnd ? BYTE_KIND[second[right]!]! : 0;
    if ((leftKind & rightKind & before & DIGIT) !== 0) {
      // A zero inside a longer number is a digit like others.
      left++;
      right++;
      continue;
    }
    if ((before & (DIGIT | LETTER)) === 0) {
      // What differs starts here: most lines that are really different are told apart by this.
      if ((leftKind & (HEX | BLANK)) === 0 || (rightKind & (HEX | BLANK)) === 0) return DIFFERENT;
    }
    const wordStart = backToWord(first, equalFrom, left);
    const leftHexEnd = hexEnd(first, wordStart, firstStart, firstEnd);
    if (leftHexEnd > wordStart) {
      const rightStart = right - (left - wordStart);
      const rightHexEnd = hexEnd(second, rightStart, secondStart, secondEnd);
      if (rightHexEnd > rightStart) {
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
  while (start > floor && (BYTE_KIND[bytes[start - 1]!]! & (DIGIT | LETTER)) !== 0) start--;
  return start;
}

/** The start of the number, or of the number with its unit, that ends at or goes on over `at`; else `at`. */
function backToNumber(bytes: Uint8Array, floor: number, at: number): number {
  let start = at;
  while (start > floor && (BYTE_KIND[bytes[start - 1]!]! & LETTER) !== 0) start--;
  if (start === floor || (BYTE_KIND[bytes[start - 1]!]! & DIGIT) === 0) start = at;
  while (start > floor) {
    const kind = BYTE_KIND[bytes[start - 1]!]!;
    if ((kind & DIGIT) === 0) {
      if ((kind & JOINT) === 0 || start - 2 < floor || (BYTE_KIND[bytes[start - 2]!]! & DIGIT) === 0) break;
    }
    start--;
  }
  return start;
}

/** The end of an id in hex digits that starts here, else `start`: six or more with a digit among them, or a part of a UUID. */
function hexEnd(bytes: Uint8Array, start: number, floor: number, end: number): number {
  let at = start;
  let digits = 0;
  if (at + 1 < end && bytes[at] === 0x30 && (bytes[at + 1]! | 0x20) === 0x78) {
    at += 2;
    digits = 6;
  }
  const hexStart = at;
  while (at < end) {
    const kind = BYTE_KIND[bytes[at]!]!;
    if ((kind & HEX) === 0) {
      if ((kind & LETTER) !== 0) return start;
      break;
    }
    digits += kind & DIGIT;
    at++;
  }
  const length = at - hexStart;
  if (digits >= 6 || (length >= 6 && digits > 0)) return at;
  return length === 4 && start > floor && bytes[start - 1] === 0x2d && at < end && bytes[at] === 0x2d ? at : start;
}

function afterSpaces(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && bytes[at] === SPACE) at++;
  return at;
}
