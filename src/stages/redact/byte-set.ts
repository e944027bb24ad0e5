/** A set of bytes: 1 at each byte that belongs to it. */
export type ByteSet = Uint8Array;

const CR = 13;
const LF = 10;

/** The set of the bytes named, as single characters and ranges: `byteSet("a-z0-9_", "-")`; further ones are taken as they are. */
export function byteSet(ranges: string, ...singles: string[]): ByteSet {
  const set = new Uint8Array(256);
  for (let at = 0; at < ranges.length; at++) {
    const from = ranges.charCodeAt(at);
    const isRange = ranges[at + 1] === "-" && at + 2 < ranges.length;
    const to = isRange ? ranges.charCodeAt(at + 2) : from;
    set.fill(1, from, to + 1);
    if (isRange) at += 2;
  }
  for (const single of singles) for (const char of single) set[char.charCodeAt(0)] = 1;
  return set;
}

/** Every other byte except line breaks: no set reaches over a line. */
export function outside(set: ByteSet): ByteSet {
  const rest = set.map((has) => 1 - has);
  rest[CR] = 0;
  rest[LF] = 0;
  return rest;
}

/** The bytes of any of the sets. */
export function union(...sets: ByteSet[]): ByteSet {
  return sets.reduce((all, set) => all.map((has, byte) => has | (set[byte] as number)), new Uint8Array(256));
}

/** The bytes of an ASCII text. */
export function bytesOf(text: string): number[] {
  return [...new TextEncoder().encode(text)];
}

/** Returns true if these bytes stand at a place. */
export function startsWith(bytes: Uint8Array, at: number, wanted: readonly number[]): boolean {
  return wanted.every((byte, index) => bytes[at + index] === byte);
}

/** Returns true if no byte belongs to both. */
export function disjoint(one: ByteSet, other: ByteSet): boolean {
  return one.every((has, byte) => has === 0 || other[byte] === 0);
}

/** The set with the other case of each of its letters. */
export function anyCase(set: ByteSet): ByteSet {
  const both = set.slice();
  for (let upper = 65; upper <= 90; upper++) {
    const has = (set[upper] as number) | (set[upper + 32] as number);
    both[upper] = has;
    both[upper + 32] = has;
  }
  return both;
}

/** Digits, words and the alphabet of keys. */
export const DIGIT: ByteSet = byteSet("0-9");
export const WORD: ByteSet = byteSet("A-Za-z0-9_");
/** Space within a line. */
export const BLANK: ByteSet = byteSet(" \t\v\f");
/** Any byte but a line break. */
export const ANY: ByteSet = outside(new Uint8Array(256));
export const BASE64: ByteSet = byteSet("A-Za-z0-9+/=");
