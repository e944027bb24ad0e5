// Two lines have one shape if they differ only in numbers (with decimals, times, units), hex ids, and the blanks that
// align those. Zero and other whole numbers are different shapes: a count that leaves zero is news.
import { BLANK, BYTE_KIND, DIGIT, HEX, JOINT, LETTER, SPACE, ZERO } from "./byte-class.ts";
import { isUnitEnd, isZero, quantityEnd } from "./quantity.ts";

/** Digits may stand for one another: the codes of a zero and another digit differ by 1, those of all else by more. */
const SHAPE: Uint16Array = Uint16Array.from({ length: 256 }, (_, byte) => {
  if ((BYTE_KIND[byte]! & DIGIT) === 0) return byte << 1;
  return byte === ZERO ? 0x200 : 0x201;
});

/** As a text's last byte these may stand for one another: numbers, their units and hex ids end in them. */
export const END_SHAPE: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) =>
  (BYTE_KIND[byte]! & HEX) !== 0 || isUnitEnd(byte) ? ZERO : byte,
);

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
  if (firstStart === firstEnd || secondStart === secondEnd) {
    return firstEnd - firstStart === secondEnd - secondStart ? IDENTICAL : DIFFERENT;
  }
  if (END_SHAPE[first[firstEnd - 1]!] !== END_SHAPE[second[secondEnd - 1]!]) return DIFFERENT;
  const shape = SHAPE;
  const kinds = BYTE_KIND;
  let left = firstStart;
  let right = secondStart;
  // The stretch from here on is equal in both but for digits in the same places.
  let equalFrom = left;
  let changed = 0;
  /** 1 if a number of one digit is zero in one of the lines only. */
  let zeros = 0;
  for (;;) {
    const stop = left + Math.min(firstEnd - left, secondEnd - right);
    // Without branches on digits, whose outcome could not be foreseen.
    let afterDigit = 0;
    let lonelyZero = 0;
    for (; left < stop; left++, right++) {
      const byte = first[left]!;
      const other = second[right]!;
      const code = shape[byte]!;
      const difference = code ^ shape[other]!;
      if (difference > 1) break;
      changed |= byte ^ other;
      const digit = code >> 9;
      zeros |= lonelyZero & ~digit;
      lonelyZero = difference & ~afterDigit;
      afterDigit = digit;
    }
    const shift = right - left;
    if (left === firstEnd && right === secondEnd) {
      if (changed === 0) return IDENTICAL;
      if ((zeros | lonelyZero) === 0) return SAME_SHAPE;
      return zerosAgree(first, equalFrom, left, firstEnd, second, shift, secondEnd) ? SAME_SHAPE : DIFFERENT;
    }
    const before = left > equalFrom ? kinds[first[left - 1]!]! : 0;
    const leftKind = left < firstEnd ? kinds[first[left]!]! : 0;
    const rightKind = right < secondEnd ? kinds[second[right]!]! : 0;
    if ((before & (DIGIT | LETTER)) === 0) {
      // What differs starts here: most lines that are really different are told apart by this.
      if ((leftKind & (HEX | BLANK)) === 0 || (rightKind & (HEX | BLANK)) === 0) return DIFFERENT;
    }
    let partStart = left;
    let leftEnd = left;
    let rightEnd = right;
    if ((before & DIGIT) !== 0) {
      partStart = backToDigits(first, equalFrom, left);
      leftEnd = afterDigits(first, left, firstEnd);
      rightEnd = afterDigits(second, right, secondEnd);
    }
    const leftAfter = leftEnd < firstEnd ? kinds[first[leftEnd]!]! : 0;
    const rightAfter = rightEnd < secondEnd ? kinds[second[rightEnd]!]! : 0;
    let aligned = (leftAfter & rightAfter & BLANK) !== 0;
    const mayBeZero = left - partStart === 1 && (first[partStart] === ZERO || second[partStart + shift] === ZERO);
    // Whole numbers, one of them longer, are what most lines of one shape differ in: no need to look any closer.
    if (leftEnd + rightEnd === left + right || mayBeZero || ((leftAfter | rightAfter) & (LETTER | JOINT)) !== 0) {
      partStart = backToWord(first, equalFrom, left);
      leftEnd = hexEnd(first, partStart, firstStart, firstEnd);
      rightEnd = leftEnd > partStart ? hexEnd(second, partStart + shift, secondStart, secondEnd) : 0;
      aligned = false;
    }
    if (rightEnd <= partStart + shift) {
      partStart = backToNumber(first, equalFrom, left);
      const leftStart = afterSpaces(first, partStart, firstEnd);
      const rightStart = afterSpaces(second, partStart + shift, secondEnd);
      leftEnd = quantityEnd(first, leftStart, firstEnd);
      if (leftEnd === leftStart) return DIFFERENT;
      rightEnd = quantityEnd(second, rightStart, secondEnd);
      if (rightEnd === rightStart) return DIFFERENT;
      if (isZero(first, leftStart, leftEnd, firstEnd) !== isZero(second, rightStart, rightEnd, secondEnd)) {
        return DIFFERENT;
      }
      aligned = leftEnd < firstEnd && rightEnd < secondEnd && first[leftEnd] === SPACE && second[rightEnd] === SPACE;
    }
    if (zeros !== 0 && !zerosAgree(first, equalFrom, partStart, firstEnd, second, shift, secondEnd)) return DIFFERENT;
    left = aligned ? afterSpaces(first, leftEnd, firstEnd) : leftEnd;
    right = aligned ? afterSpaces(second, rightEnd, secondEnd) : rightEnd;
    equalFrom = left;
    changed = 1;
    zeros = 0;
  }
}

/** False if a zero that is a whole number stands where the other line has another number, in a stretch equal but for digits. */
function zerosAgree(
  first: Uint8Array,
  from: number,
  to: number,
  firstEnd: number,
  second: Uint8Array,
  shift: number,
  secondEnd: number,
): boolean {
  for (let at = from; at < to; at++) {
    const byte = first[at]!;
    const other = second[at + shift]!;
    if (byte === other || (byte !== ZERO && other !== ZERO)) continue;
    // A zero inside a longer number is a digit like others.
    if (at + 1 < to && (BYTE_KIND[first[at + 1]!]! & DIGIT) !== 0) continue;
    if (backToNumber(first, from, at) < at) continue;
    const zero = byte === ZERO;
    const whole = zero
      ? isZero(first, at, quantityEnd(first, at, firstEnd), firstEnd)
      : isZero(second, at + shift, quantityEnd(second, at + shift, secondEnd), secondEnd);
    if (!whole) continue;
    const word = backToWord(first, from, at);
    const bothHex =
      hexEnd(first, word, from, firstEnd) > word &&
      hexEnd(second, word + shift, from + shift, secondEnd) > word + shift;
    if (!bothHex) return false;
  }
  return true;
}

function backToDigits(bytes: Uint8Array, floor: number, at: number): number {
  let start = at;
  while (start > floor && (BYTE_KIND[bytes[start - 1]!]! & DIGIT) !== 0) start--;
  return start;
}

function afterDigits(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && (BYTE_KIND[bytes[at]!]! & DIGIT) !== 0) at++;
  return at;
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
  if (at + 1 < end && bytes[at] === ZERO && (bytes[at + 1]! | 0x20) === 0x78) {
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
