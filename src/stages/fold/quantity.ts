import { isDigit, isLetter } from "./byte-class.ts";

const UNITS = new Set("ns us ms s m h d min sec b k kb kib mb mib gb gib tb tib".split(" "));

/** The end of `12`, `1,234.5`, `12:00:01.5`, `300ms`, `1m30s` that starts here; `start` if none does. */
export function quantityEnd(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && isDigit(bytes[at])) {
    at++;
    while (at < end && (isDigit(bytes[at]) || (isJoint(bytes[at]!) && at + 1 < end && isDigit(bytes[at + 1])))) at++;
    if (at < end && isLetter(bytes[at])) {
      let unitEnd = at + 1;
      while (unitEnd < end && unitEnd - at < 4 && isLetter(bytes[unitEnd])) unitEnd++;
      if (!isUnit(bytes, at, unitEnd)) break;
      at = unitEnd;
    }
  }
  return at;
}

function isUnit(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start > 3) return false;
  let unit = "";
  for (let at = start; at < end; at++) unit += String.fromCharCode(bytes[at]! | 0x20);
  return UNITS.has(unit);
}

/** A plain 0: no decimals, no unit, no percent sign. */
export function isZero(bytes: Uint8Array, start: number, quantity: number, end: number): boolean {
  return quantity === start + 1 && bytes[start] === 0x30 && !(quantity < end && bytes[quantity] === 0x25);
}

/** Joins digits to one number or time. */
export function isJoint(byte: number): boolean {
  return byte === 0x2e || byte === 0x2c || byte === 0x3a;
}
