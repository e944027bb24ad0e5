// After a lone carriage return: does the next stretch write over the last one (progress), or is it the next line of a text
// whose lines end in CR? A terminal always writes over; we do so only where little is lost or the program meant it:
// 1. nothing visible is written over, or only by the same characters (a redraw, a longer form of the same text);
// 2. an erase code stands in either stretch;
// 3. blanks alone cover the whole of the old text, or the new text is padded with blanks over the old one's end;
// 4. both have the same letters: they differ in numbers, units, punctuation, bars and spinners only. Without any letters
//    one of them shows a progress mark, or both are a single counter or a spinner of up to three characters;
// 5. the old text shows a progress mark (a percentage, n/m, n of m, a bar, two clock times) and is covered if it has no
//    letters, else shares at least half of the shorter one's letters, at the start and the end, with the new text.
// Rules 3 to 5 leave an old text with a failure word alone unless the new one has one too or has the same letters.
import { CARRIAGE_RETURN, isDigit, isLetter, SPACE } from "./byte-kind.ts";
import { hasFailureWord } from "./noise.ts";
import { isBlank, Row } from "./row.ts";

/** True if `top`, written after a carriage return, replaces what it covers of `base`. */
export function overwrites(base: Row, top: Row): boolean {
  if (top.length === 0 || top.erased || base.erased) return true;
  const width = base.width();
  const topWidth = top.width();
  if (width === 0 || (topWidth > 0 && isRedraw(base, top, width))) return true;
  if (width === topWidth && onlyDigitsDiffer(base, top, width)) return true;
  const covered = top.length >= width;
  // A short stretch over a long one must not cost the long one's length each time.
  const old = textOf(base, Math.max(64, 2 * top.length));
  if (topWidth === 0) return covered && !hasFailureWord(old);
  const fresh = textOf(top, topWidth);
  const letters = lettersOf(old);
  const freshLetters = lettersOf(fresh);
  const marked = MARK.test(old) || timesIn(old) > 1;
  if (letters === freshLetters) {
    if (letters !== "" || marked || MARK.test(fresh) || timesIn(fresh) > 1) return true;
    const numbers = Math.max(numbersIn(old), numbersIn(fresh));
    return numbers > 0 ? numbers === 1 : width <= 3 && topWidth <= 3;
  }
  const padded = covered && topWidth < width && top.cells[topWidth] === SPACE;
  if (!padded) {
    if (!marked) return false;
    const shorter = Math.min(letters.length, freshLetters.length);
    if (letters === "" ? !covered : 2 * sharedEnds(letters, freshLetters) < shorter) return false;
  }
  return !hasFailureWord(old) || hasFailureWord(fresh);
}

function isRedraw(base: Row, top: Row, width: number): boolean {
  const end = Math.min(width, top.length);
  for (let at = 0; at < end; at++) {
    const value = top.cells[at]!;
    const old = base.cells[at]!;
    if (value !== old && !isBlank(old) && (value === SPACE || !isBlank(value))) return false;
  }
  return true;
}

/** Decides the simplest case of rule 4 faster: both texts have words and differ in digits only. */
function onlyDigitsDiffer(base: Row, top: Row, width: number): boolean {
  let words = isLetter(base.cells[0]);
  for (let at = 0; at < width; at++) {
    const value = top.cells[at]!;
    const old = base.cells[at]!;
    if (value !== old && !(isDigit(value) && isDigit(old))) return false;
    if (value === SPACE && isLetter(top.cells[at + 1])) words = true;
  }
  return words;
}

const decoder = new TextDecoder();
let rendered = new Uint8Array(1024);

/** Returns the first columns of a row. */
function textOf(row: Row, columns: number): string {
  const size = 4 * Math.min(columns, row.length);
  if (size > rendered.length) rendered = new Uint8Array(2 * size);
  return decoder.decode(rendered.subarray(0, row.render(rendered, 0, row.length, columns)));
}

/** Matches everything but letters: also numbers with a unit behind them, and the symbols of spinners and bars. */
const NO_LETTERS =
  /\d+(?:[a-z]{1,3}(?![a-z]))?|[^a-z\d\u0080-\uffff]+|[\u2000-\u2bff]+|[\ud83c-\ud83f][\udc00-\udfff]/gi;

function lettersOf(text: string): string {
  return text.replace(NO_LETTERS, "").toLowerCase();
}

/** Matches a percentage, n/m, n of m, or a bar. */
const MARK = /\d ?%|\d\/\d|\d of \d|[\u2500-\u25ff\u2800-\u28ff]|###|===|>>>/;

/** Counts clock times; `--:--:--` counts as two. */
function timesIn(text: string): number {
  return text.match(/(?<!:.)\d(?=:\d)|-(?=:-)/g)?.length ?? 0;
}

function numbersIn(text: string): number {
  return text.match(/\d+/g)?.length ?? 0;
}

/** Counts the letters that two texts have in common at their start and their end. */
function sharedEnds(first: string, second: string): number {
  const shorter = Math.min(first.length, second.length);
  let start = 0;
  while (start < shorter && first[start] === second[start]) start++;
  let end = 0;
  while (start + end < shorter && first.at(-1 - end) === second.at(-1 - end)) end++;
  return start + end;
}

/**
 * Resolves stretches joined by CR until no neighbours overwrite one another, so that folding the result again changes
 * nothing: a stretch kept at first may turn out to be overwritten by what its successor became. It changes `bytes` in
 * place and returns the new end.
 */
export function settleReturns(bytes: Uint8Array, end: number): number {
  if (!bytes.subarray(0, end).includes(CARRIAGE_RETURN)) return end;
  const top = new Row();
  const base = new Row();
  const merged = new Uint8Array(end);
  // Where each settled stretch begins in `bytes`; its CR stands just before the next one.
  const starts: number[] = [];
  let written = 0;
  // Bounds the time that crafted input can take; ordinary input needs a small part of it.
  let work = 64 * end;
  for (let at = 0; at <= end; ) {
    let next = bytes.indexOf(CARRIAGE_RETURN, at);
    if (next < 0 || next > end) next = end;
    let size = next - at;
    merged.set(bytes.subarray(at, next));
    at = next + 1;
    while (starts.length > 0 && size > 0 && work > 0) {
      const baseStart = starts.at(-1)!;
      work -= written - baseStart + size;
      fill(base, bytes, baseStart, written);
      fill(top, merged, 0, size);
      if (!overwrites(base, top)) break;
      base.overlay(top);
      size = base.render(merged, 0, 0);
      starts.pop();
      written = Math.max(0, baseStart - 1);
    }
    if (size === 0) continue;
    if (starts.length > 0) bytes[written++] = CARRIAGE_RETURN;
    starts.push(written);
    bytes.set(merged.subarray(0, size), written);
    written += size;
  }
  return written;
}

function fill(row: Row, bytes: Uint8Array, start: number, end: number): void {
  row.reset();
  row.write(bytes, start, end);
  row.flush();
}
