import { BLANK, BYTE_KIND, DIGIT, isDigit, isLetter, LETTER, SPACE } from "./byte-class.ts";

/** A stretch reduced to what tells progress from prose: its letters, how many numbers, whether it shows a progress mark. */
export class Look {
  letters: Uint32Array = new Uint32Array(256);
  count = 0;
  mark = false;
  numbers = 0;

  /** Looks at the first cells of a row. */
  take(values: Uint32Array, width: number): void {
    if (this.letters.length < width) this.letters = new Uint32Array(width * 2);
    this.mark = false;
    this.numbers = 0;
    let count = 0;
    let times = 0;
    for (let at = 0; at < width; at++) {
      const value = values[at]!;
      const kind = value < 0x80 ? BYTE_KIND[value]! : 0;
      if ((kind & BLANK) !== 0) continue;
      if ((kind & LETTER) !== 0) {
        this.letters[count++] = value | 0x20;
      } else if ((kind & DIGIT) !== 0) {
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
      } else if (value >= 0x80 && isWordCell(value)) {
        this.letters[count++] = value;
      } else if (value === 0x2d && values[at + 1] === 0x3a && values[at + 2] === 0x2d) {
        times++;
      } else if (isBar(value) || (isBarByte(value) && value === values[at + 1] && value === values[at + 2])) {
        this.mark = true;
      }
    }
    this.count = count;
    if (times >= 2) this.mark = true;
  }
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

/** Letters of any other script; not the symbols (U+2000 to U+2BFF, emoji) that spinners and bars are made of. */
function isWordCell(value: number): boolean {
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
