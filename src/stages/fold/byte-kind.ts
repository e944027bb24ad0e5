export const BACKSPACE = 0x08;
export const TAB = 0x09;
export const LINE_FEED = 0x0a;
export const CARRIAGE_RETURN = 0x0d;
export const ESCAPE = 0x1b;
export const SPACE = 0x20;
export const ZERO = 0x30;

// What a byte can be, as bits of BYTE_KIND.
/** A code to a terminal, line feeds included. */
export const CONTROL = 1;
export const DIGIT = 2;
export const LETTER = 4;
export const HEX = 8;
/** Joins digits to one number or time: `.`, `,` or `:`. */
export const JOINT = 16;
export const BLANK = 32;

/**
 * Tab, form feed and vertical tab are text. So are NUL, DEL and the separators 0x1c to 0x1f: a terminal shows nothing
 * for them, but lists use them between items, which would run together. Bytes from 0x80 up are UTF-8, never C1 codes.
 */
export const BYTE_KIND: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) => {
  const char = String.fromCharCode(byte);
  if (/\d/.test(char)) return DIGIT | HEX;
  if (/[a-f]/i.test(char)) return LETTER | HEX;
  if (/[g-z]/i.test(char)) return LETTER;
  if (/[.,:]/.test(char)) return JOINT;
  if (byte === SPACE) return BLANK;
  return byte > 0 && byte < 0x1c && !/[\t\v\f]/.test(char) ? CONTROL : 0;
});

export function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}

export function isLetter(byte: number | undefined): boolean {
  return byte !== undefined && (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a;
}

/** Returns the place of the first control code from `start` on, or the length if there is none. */
export function nextControl(bytes: Uint8Array, start: number): number {
  const end = bytes.length;
  for (let at = start; ; at++) {
    // Reads four bytes at a time. The sign tells whether one of them is below a space.
    while (
      at + 4 <= end &&
      ((bytes[at]! - 32) | (bytes[at + 1]! - 32) | (bytes[at + 2]! - 32) | (bytes[at + 3]! - 32)) >= 0
    )
      at += 4;
    if (at >= end) return end;
    if ((BYTE_KIND[bytes[at]!]! & CONTROL) !== 0) return at;
  }
}
