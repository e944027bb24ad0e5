/** What a byte is to the scanner of lines. */
export const PLAIN = 0;
const BREAK = 1;
const CONTROL = 2;

/**
 * Tab, form feed and vertical tab are text. So are NUL, DEL and the separators 0x1c to 0x1f: a terminal shows nothing
 * for them, but lists use them between items, which would run together. Bytes from 0x80 up are UTF-8, never C1 codes.
 */
export const BYTE_CLASS: Uint8Array = (() => {
  const table = new Uint8Array(256);
  for (let byte = 1; byte < 0x1c; byte++) table[byte] = CONTROL;
  table[0x09] = PLAIN;
  table[0x0b] = PLAIN;
  table[0x0c] = PLAIN;
  table[0x0a] = BREAK;
  return table;
})();

export const BACKSPACE = 0x08;
export const TAB = 0x09;
export const LINE_FEED = 0x0a;
export const CARRIAGE_RETURN = 0x0d;
export const ESCAPE = 0x1b;
export const SPACE = 0x20;
export const ZERO = 0x30;

export function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}

export function isLetter(byte: number | undefined): boolean {
  return byte !== undefined && (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a;
}

/** What a byte can be in a word or a number, as bits. */
export const DIGIT = 1;
export const LETTER = 2;
export const HEX = 4;
/** Joins digits to one number or time: `.`, `,` or `:`. */
export const JOINT = 8;
export const BLANK = 16;

export const BYTE_KIND: Uint8Array = (() => {
  const table = new Uint8Array(256);
  for (let byte = 0x30; byte <= 0x39; byte++) table[byte] = DIGIT | HEX;
  for (let byte = 0x61; byte <= 0x7a; byte++) {
    table[byte] = byte <= 0x66 ? LETTER | HEX : LETTER;
    table[byte - 0x20] = table[byte]!;
  }
  for (const byte of [0x2e, 0x2c, 0x3a]) table[byte] = JOINT;
  table[0x20] = BLANK;
  return table;
})();
