// Two lines have one shape if they differ only in numbers (with decimals, times, units), hex ids, and the blanks that
// align those. Zero and other whole numbers are different shapes: a count that leaves zero is news.
// That of a measure or the number of a worker is not.
import { BLANK, BYTE_KIND, DIGIT, HEX, JOINT, LETTER, NUMBERED_NAME, SPACE, UNIT_WORD, ZERO } from "./line.ts";

/** The text of a line, without its line feed. */
export interface Text {
  bytes: Uint8Array;
  start: number;
  end: number;
}

export const DIFFERENT = 0;
export const SAME_SHAPE = 1;
export const IDENTICAL = 2;

/** DIFFERENT, SAME_SHAPE or IDENTICAL. Most lines that are really different cost no more than their equal starts. */
export function compareLines(first: Text, second: Text): number {
  const { bytes: left, end: leftEnd } = first;
  const { bytes: right, end: rightEnd } = second;
  let at = first.start;
  const shift = second.start - at;
  const stop = Math.min(leftEnd, rightEnd - shift);
  if (at === stop) return leftEnd + shift === rightEnd ? IDENTICAL : DIFFERENT;
  let isEqual = true;
  let isNewZero = false;
  for (; at < stop; at++) {
    const byte = left[at]!;
    const other = right[at + shift]!;
    if (byte === other) continue;
    if ((BYTE_KIND[byte]! & BYTE_KIND[other]! & DIGIT) === 0) break;
    isEqual = false;
    // A zero that is a whole number, where the other line has another digit.
    isNewZero ||= byte === ZERO ? isAlone(first, at) : other === ZERO && isAlone(second, at + shift);
  }
  if (at < leftEnd || at + shift < rightEnd) {
    // The equal starts need not be gone through again, as far as they hold whole numbers and words.
    const from = tokenStart(first, at);
    if (!haveOneShape(first, from, second, from + shift)) return DIFFERENT;
  } else if (isEqual) {
    return IDENTICAL;
  }
  return isNewZero && !haveOneShape(first, first.start, second, second.start) ? DIFFERENT : SAME_SHAPE;
}

/** Returns true if no digit stands beside the one at `at`. */
function isAlone(text: Text, at: number): boolean {
  return ((kindAt(text, at - 1) | kindAt(text, at + 1)) & DIGIT) === 0;
}

const UNIT_NAMES = "ns us ms s m h d min sec b k kb kib mb mib gb gib tb tib".split(" ");

/** Units of up to three letters, by their letters' low five bits. */
const UNITS: Uint8Array = new Uint8Array(1 << 15);
for (const unit of UNIT_NAMES)
  UNITS[[...unit].reduce((code, letter) => (code << 5) | (letter.charCodeAt(0) & 31), 0)] = 1;

function kindAt({ bytes, start, end }: Text, at: number): number {
  return at >= start && at < end ? BYTE_KIND[bytes[at]!]! : 0;
}

/** The start of the word, or of the words joined to one number, that ends at or goes on over `at`. */
function tokenStart({ bytes, start }: Text, at: number): number {
  let from = at;
  while (from > start && (BYTE_KIND[bytes[from - 1]!]! & (DIGIT | LETTER | JOINT)) !== 0) from--;
  return from;
}

/** Goes through both lines side by side from two places on. A number or a hex id is one step. */
function haveOneShape(first: Text, from: number, second: Text, otherFrom: number): boolean {
  const { bytes: left, end: leftEnd } = first;
  const { bytes: right, end: rightEnd } = second;
  let at = from;
  let other = otherFrom;
  for (let floor = at; ; floor = at) {
    while (at < leftEnd && other < rightEnd && left[at] === right[other] && (BYTE_KIND[left[at]!]! & DIGIT) === 0) {
      at++;
      other++;
    }
    if (at === leftEnd && other === rightEnd) return true;
    // What stands since the last number is equal in both, so both words begin equally far back.
    let word = at;
    while (word > floor && (BYTE_KIND[left[word - 1]!]! & (DIGIT | LETTER)) !== 0) word--;
    const otherWord = other - (at - word);
    const hex = hexEnd(first, word);
    const otherHex = hex > word ? hexEnd(second, otherWord) : otherWord;
    if (otherHex > otherWord) {
      at = hex;
      other = otherHex;
      continue;
    }
    const number = word === at ? afterSpaces(first, at) : at;
    const otherNumber = word === at ? afterSpaces(second, other) : other;
    const end = quantityEnd(first, number);
    const otherEnd = quantityEnd(second, otherNumber);
    if (end === number || otherEnd === otherNumber) return false;
    const zero = isZero(first, number, end);
    if (zero !== isZero(second, otherNumber, otherEnd))
      if (zero ? isCount(first, number) : isCount(second, otherNumber)) return false;
    const aligned = (kindAt(first, end) & kindAt(second, otherEnd) & BLANK) !== 0;
    at = aligned ? afterSpaces(first, end) : end;
    other = aligned ? afterSpaces(second, otherEnd) : otherEnd;
  }
}

/** The end of `12`, `1,234.5`, `12:00:01.5`, `300ms`, `1m30s` that starts here; `start` if none does. */
function quantityEnd(text: Text, start: number): number {
  const { bytes } = text;
  let at = start;
  while ((kindAt(text, at) & DIGIT) !== 0) {
    at++;
    for (;;) {
      if ((kindAt(text, at) & DIGIT) !== 0) at++;
      else if ((kindAt(text, at) & JOINT) !== 0 && (kindAt(text, at + 1) & DIGIT) !== 0) at += 2;
      else break;
    }
    let unit = 0;
    let unitEnd = at;
    while (unitEnd - at < 4 && (kindAt(text, unitEnd) & LETTER) !== 0) unit = (unit << 5) | (bytes[unitEnd++]! & 31);
    if (unitEnd - at > 3 || UNITS[unit] === 0) break;
    at = unitEnd;
  }
  return at;
}

/** Returns true for a plain 0 without decimals or unit. */
function isZero({ bytes }: Text, start: number, quantity: number): boolean {
  return quantity === start + 1 && bytes[start] === ZERO;
}

/** What stands right before a number that is no count: `latency_ms=`, `"durationMs": `, `worker-`. */
const NAME_BEFORE = new RegExp(
  String.raw`(?<![a-z])(?:(?:(?:duration|elapsed|latency|took|time)_?(?:ms|secs?|seconds)?|ms|secs|seconds|bytes|size)(?:=|": ?)|${NUMBERED_NAME})$`,
  "i",
);
const UNIT_AFTER = new RegExp(`^ ?(?:%|${UNIT_WORD})`, "i");

/** Returns false if a plain 0 says how long, how large, how far or which one: by the unit after it or the name before it. */
function isCount({ bytes, start, end }: Text, zero: number): boolean {
  return !(
    UNIT_AFTER.test(decoder.decode(bytes.subarray(zero + 1, Math.min(end, zero + 12)))) ||
    NAME_BEFORE.test(decoder.decode(bytes.subarray(Math.max(start, zero - 20), zero)))
  );
}

const decoder = new TextDecoder();

/** The end of an id in hex digits that is the word here, else `start`: six or more with a digit among them, or a part of a UUID. */
function hexEnd(text: Text, start: number): number {
  const { bytes } = text;
  const before = start > text.start ? bytes[start - 1]! : 0;
  if ((BYTE_KIND[before]! & (DIGIT | LETTER)) !== 0) return start;
  const isMarked = bytes[start] === ZERO && start + 1 < text.end && (bytes[start + 1]! | 0x20) === 0x78;
  const from = isMarked ? start + 2 : start;
  let at = from;
  let digits = 0;
  for (; (kindAt(text, at) & HEX) !== 0; at++) digits |= kindAt(text, at) & DIGIT;
  if ((kindAt(text, at) & LETTER) !== 0) return start;
  const length = at - from;
  if (isMarked || (length >= 6 && digits !== 0)) return at;
  return length === 4 && before === 0x2d && at < text.end && bytes[at] === 0x2d ? at : start;
}

function afterSpaces({ bytes, end }: Text, start: number): number {
  let at = start;
  while (at < end && bytes[at] === SPACE) at++;
  return at;
}
