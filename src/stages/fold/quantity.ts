import { BYTE_KIND, DIGIT, JOINT, LETTER } from "./byte-class.ts";

const UNIT_NAMES = "ns us ms s m h d min sec b k kb kib mb mib gb gib tb tib".split(" ");

/** Units of up to three letters, by their letters' low five bits. */
const UNITS: Uint8Array = (() => {
  const table = new Uint8Array(1 << 15);
  for (const unit of UNIT_NAMES) {
    let code = 0;
    for (const letter of unit) code = (code << 5) | (letter.charCodeAt(0) & 31);
    table[code] = 1;
  }
  return table;
})();

/** The end of `12`, `1,234.5`, `12:00:01.5`, `300ms`, `1m30s` that starts here; `start` if none does. */
export function quantityEnd(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && (BYTE_KIND[bytes[at]!]! & DIGIT) !== 0) {
    at++;
    while (at < end) {
      const kind = BYTE_KIND[bytes[at]!]!;
      if ((kind & DIGIT) === 0) {
        if ((kind & JOINT) === 0 || at + 1 >= end || (BYTE_KIND[bytes[at + 1]!]! & DIGIT) === 0) break;
        at++;
      }
      at++;
    }
    let unit = 0;
    let unitEnd = at;
    while (unitEnd < end && unitEnd - at < 4 && (BYTE_KIND[bytes[unitEnd]!]! & LETTER) !== 0) {
      unit = (unit << 5) | (bytes[unitEnd++]! & 31);
    }
    if (unitEnd - at > 3 || UNITS[unit] === 0) break;
    at = unitEnd;
  }
  return at;
}

/** A plain 0: no decimals, no unit, no percent sign. */
export function isZero(bytes: Uint8Array, start: number, quantity: number, end: number): boolean {
  return quantity === start + 1 && bytes[start] === 0x30 && !(quantity < end && bytes[quantity] === 0x25);
}

/** Joins digits to one number or time. */
export function isJoint(byte: number): boolean {
  return (BYTE_KIND[byte]! & JOINT) !== 0;
}

/** The last letter of a unit, in either case. */
export function isUnitEnd(byte: number): boolean {
  const letter = String.fromCharCode(byte).toLowerCase();
  return UNIT_NAMES.some((unit) => unit.endsWith(letter));
}
