// Words that may tell why something failed: a line with one of them is never left out. Deliberately wide, matched anywhere
// in a word and in any case ("NullPointerException", "errors.py"): a line too many costs little.
import { isDigit, isLetter, SPACE, TAB } from "./byte-class.ts";
import { isJoint, isZero, quantityEnd } from "./quantity.ts";

const ANYWHERE =
  "abort|assert|broken|can't|cannot|caused by|conflict|core dumped|corrupt|could not|couldn't|crash|critical|deadlock|" +
  "denied|did not|disconnect|error|exception|exceeded|exhausted|expected|fail|fatal|forbidden|illegal|incompatible|" +
  "incorrect|invalid|kill|leak|mismatch|missing|no such|not allowed|not defined|not found|not ok|not permitted|" +
  "not supported|out of memory|overflow|panic|refused|reject|segfault|segmentation|severe|sigabrt|sigbus|sigkill|" +
  "sigsegv|sigterm|stack trace|time out|timed out|timeout|traceback|unable|unauthorized|undefined|unexpected|" +
  "unhandled|unknown|unreachable|unrecognized|unresolved|unsupported|violation|warn|wrong|✗|✘|✖|❌|💥";
const WHOLE = "bad|err|errno|ko|nok|oom";

interface FailureWord {
  bytes: Uint8Array;
  whole: boolean;
}

const WORDS_BY_FIRST_BYTE: (FailureWord[] | undefined)[] = (() => {
  const table: (FailureWord[] | undefined)[] = new Array(256).fill(undefined);
  const add = (words: string, whole: boolean) => {
    for (const word of words.split("|")) {
      const bytes = new TextEncoder().encode(word);
      const first = bytes[0]!;
      for (const byte of isLetter(first) ? [first, first - 0x20] : [first]) {
        const row = table[byte] ?? [];
        row.push({ bytes, whole });
        table[byte] = row;
      }
    }
  };
  add(ANYWHERE, false);
  add(WHOLE, true);
  return table;
})();

/**
 * True if the text holds a failure word that no zero takes back ("0 errors", "failures: 0" do). For two texts of one
 * shape the answer is the same: `compareLines` tells zero from other numbers.
 */
export function hasFailureWord(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const words = WORDS_BY_FIRST_BYTE[bytes[at]!];
    if (words !== undefined) {
      for (const word of words) {
        const wordEnd = at + word.bytes.length;
        if (!matches(bytes, at, end, word)) continue;
        if (word.whole && (isLetter(bytes[at - 1]) || (wordEnd < end && isLetter(bytes[wordEnd])))) continue;
        if (!takenBack(bytes, start, at, wordEnd, end)) return true;
      }
    }
  }
  return false;
}

function matches(bytes: Uint8Array, at: number, end: number, word: FailureWord): boolean {
  if (at + word.bytes.length > end) return false;
  for (let index = 1; index < word.bytes.length; index++) {
    const byte = bytes[at + index]!;
    if ((isLetter(byte) ? byte | 0x20 : byte) !== word.bytes[index]) return false;
  }
  return true;
}

/** "0 errors", "errors: 0", "errors=0". */
function takenBack(bytes: Uint8Array, start: number, wordStart: number, wordEnd: number, end: number): boolean {
  let after = wordEnd;
  while (after < end && isLetter(bytes[after])) after++;
  const gap = after;
  while (after < end && isSeparator(bytes[after]!)) after++;
  if (after > gap && after < end && isZero(bytes, after, quantityEnd(bytes, after, end), end)) return true;
  let before = wordStart - 1;
  while (before >= start && bytes[before] === SPACE) before--;
  if (before === wordStart - 1 || before < start || bytes[before] !== 0x30) return false;
  if (before === start) return true;
  const joined = bytes[before - 1]!;
  return !isNumberByte(joined) && !(isJoint(joined) && before - 2 >= start && isDigit(bytes[before - 2]));
}

function isSeparator(byte: number): boolean {
  return byte === SPACE || byte === TAB || byte === 0x3a || byte === 0x3d;
}

/** Digits, letters and what joins them to a longer number: next to one of these, 0 is not a plain zero. */
function isNumberByte(byte: number): boolean {
  return isDigit(byte) || isLetter(byte) || byte === 0x2e || byte === 0x25 || byte >= 0x80;
}
