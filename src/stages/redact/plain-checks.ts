import { DIGIT } from "./byte-set.ts";

const MAX_LOOKED_AT = 96;
const PLACEHOLDER = /^(?:\$|\{|%[A-Za-z({]|\[redacted:|\*+$|\.+$|x+$|your?[-_])/i;

/** Random text of 20 characters has a digit; words joined by dashes rarely do. */
export function hasDigit(bytes: Uint8Array, from: number, to: number): boolean {
  const end = Math.min(to, from + MAX_LOOKED_AT);
  for (let at = from; at < end; at++) if (DIGIT[bytes[at] as number] === 1) return true;
  return false;
}

/** Not a variable, not stars, not the mark of an earlier redaction. */
export function notPlaceholder(bytes: Uint8Array, from: number, to: number): boolean {
  const end = Math.min(to, from + MAX_LOOKED_AT);
  let text = "";
  for (let at = from; at < end; at++) text += String.fromCharCode(bytes[at] as number);
  return !PLACEHOLDER.test(text);
}
