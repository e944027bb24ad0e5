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

/** A stretch reduced to what tells progress from prose. */
class Look {
  letters: Uint32Array = new Uint32Array(256);
  count = 0;
  mark = false;
  numbers = 0;

  take(cells: Cells, width: number): this {
    const { values } = cells;
    if (this.letters.length < width) this.letters = new Uint32Array(width * 2);
    this.count = 0;
    this.mark = false;
    this.numbers = 0;
    let times = 0;
    for (let at = 0; at < width; at++) {
      const value = values[at]!;
      if (isDigit(value)) {
        while (at + 1 < width && isDigit(values[at + 1])) at++;
        this.numbers++;
        const next = values[at + 1];
        if (at + 1 < width && (next === 0x25 || (next === SPACE && values[at + 2] === 0x25))) this.mark = true;
        if (at + 2 < width && next === 0x2f && isDigit(values[at + 2])) this.mark = true;
        if (at + 2 < width && next === 0x3a && isDigit(values[at + 2]) && values[at - 2] !== 0x3a) times++;
        if (isOf(values, at + 1, width)) this.mark = true;
        // Letters stuck to a number are its unit.
        let unit = at + 1;
        while (unit < width && unit - at < 5 && isLetter(values[unit])) unit++;
        if (unit - at <= 4) at = unit - 1;
      } else if (isWordCell(value)) {
        this.letters[this.count++] = isLetter(value) ? value | 0x20 : value;
      } else if (value === 0x2d && values[at + 1] === 0x3a && values[at + 2] === 0x2d) {
        times++;
      } else if (isBar(value) || (isBarByte(value) && value === values[at + 1] && value === values[at + 2])) {
        this.mark = true;
      }
    }
    if (times >= 2) this.mark = true;
    return this;
  }
}

const oldLook = new Look();
const newLook = new Look();

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
  const old = oldLook.take(base, Math.min(width, seen));
  const fresh = newLook.take(top, topWidth);
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
  const bytes = new Uint8Array(Math.min(cells.length, seen) * 4);
  return hasFailureWord(bytes, 0, cells.render(bytes, 0, cells.length, seen));
}

/** " of 10" after a number. */
function isOf(values: Uint32Array, at: number, width: number): boolean {
  return (
    at + 4 < width &&
    values[at] === SPACE &&
    values[at + 1] === 0x6f &&
    values[at + 2] === 0x66 &&
    isDigit(values[at + 4])
  );
}

/** Letters of any script; not the symbols (U+2000 to U+2BFF, emoji) that spinners and bars are made of. */
function isWordCell(value: number): boolean {
  if (value < 0x80) return isLetter(value);
  if (value >= 0xe28080 && value <= 0xe2afbf) return false;
  return value < 0xf09f8080 || (value > 0xf09fbfbf && value < 0xf8000000);
}

/** Box drawing, blocks, geometric shapes and braille. */
function isBar(value: number): boolean {
  return (value >= 0xe29480 && value <= 0xe297bf) || (value >= 0xe2a080 && value <= 0xe2a3bf);
}

function isBarByte(value: number): boolean {
  return value === 0x23 || value === 0x3d || value === 0x3e;
}
