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
import { isDigit, isLetter, SPACE } from "./byte-class.ts";
import { type Cells, isBlank } from "./cells.ts";
import { hasFailureWord } from "./failure-words.ts";
import { Look } from "./look.ts";

/** For a part of a row: its look as a whole is kept with it. */
const partLook = new Look();
let rendered = new Uint8Array(1024);

/** True if `top`, written after a carriage return, replaces what it covers of `base`. */
export function overwrites(base: Cells, top: Cells): boolean {
  if (top.length === 0 || top.erased || base.erased) return true;
  const width = base.width();
  if (width === 0) return true;
  const topWidth = top.width();
  const covered = top.length >= width;
  // A short stretch over a long one must not cost the long one's length each time.
  const seen = Math.max(64, 2 * top.length);
  if (topWidth === 0) return covered && !hasFailure(base, seen);
  if (isRedraw(base, top, width)) return true;
  if (width === topWidth && onlyDigitsDiffer(base, top, width)) return true;
  const fresh = top.look(topWidth);
  let old = partLook;
  if (width <= seen) old = base.look(width);
  else old.take(base.values, seen);
  if (sameLetters(old, fresh)) {
    if (old.count > 0 || old.mark || fresh.mark) return true;
    if (old.numbers > 0 || fresh.numbers > 0) return old.numbers <= 1 && fresh.numbers <= 1;
    return width <= 3 && topWidth <= 3;
  }
  const padded = covered && topWidth < width && top.values[topWidth] === SPACE;
  if (!padded) {
    if (!old.mark) return false;
    if (old.count === 0 ? !covered : 2 * sharedLetters(old, fresh) < Math.min(old.count, fresh.count)) return false;
  }
  return !hasFailure(base, seen) || hasFailure(top, seen);
}

function isRedraw(base: Cells, top: Cells, width: number): boolean {
  const end = Math.min(width, top.length);
  for (let at = 0; at < end; at++) {
    const value = top.values[at]!;
    const old = base.values[at]!;
    if (value !== old && !isBlank(old) && (value === SPACE || !isBlank(value))) return false;
  }
  return true;
}

/** Rule 4 in its plainest form, told faster: a text with words that differs in digits only. */
function onlyDigitsDiffer(base: Cells, top: Cells, width: number): boolean {
  let words = isLetter(base.values[0]);
  for (let at = 0; at < width; at++) {
    const value = top.values[at]!;
    const old = base.values[at]!;
    if (value !== old && !(isDigit(value) && isDigit(old))) return false;
    if (value === SPACE && isLetter(top.values[at + 1])) words = true;
  }
  return words;
}

function sameLetters(old: Look, fresh: Look): boolean {
  if (old.count !== fresh.count) return false;
  for (let at = 0; at < old.count; at++) if (old.letters[at] !== fresh.letters[at]) return false;
  return true;
}

function sharedLetters(old: Look, fresh: Look): number {
  const shorter = Math.min(old.count, fresh.count);
  let start = 0;
  while (start < shorter && old.letters[start] === fresh.letters[start]) start++;
  let end = 0;
  while (start + end < shorter && old.letters[old.count - 1 - end] === fresh.letters[fresh.count - 1 - end]) end++;
  return start + end;
}

function hasFailure(cells: Cells, seen: number): boolean {
  const size = 4 * Math.min(cells.length, seen);
  if (rendered.length < size) rendered = new Uint8Array(2 * size);
  return hasFailureWord(rendered, 0, cells.render(rendered, 0, cells.length, seen));
}
