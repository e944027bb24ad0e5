import { CONCEPT_NAMES, CONCEPTS } from "./words.ts";

const SLOTS = 4096;
const keys = new Int32Array(SLOTS);
const values = new Int8Array(SLOTS).fill(-1);

/** A word's hash is built letter by letter, lower case, from this. */
export const WORD_SEED = 0x1505;

/** The hash with one more lower-case letter. */
export function addLetter(hash: number, letter: number): number {
  return (Math.imul(hash, 33) ^ letter) | 0;
}

function slotOf(hash: number): number {
  return (hash ^ (hash >>> 13)) & (SLOTS - 1);
}

/** The hash of bytes[start, end), which are letters. */
export function wordHash(bytes: Uint8Array, start: number, end: number): number {
  let hash = WORD_SEED;
  for (let at = start; at < end; at++) hash = addLetter(hash, (bytes[at] as number) | 32);
  return hash;
}

/** The hashes of words, given with a blank between. */
export function hashesOf(words: string): Set<number> {
  return new Set(
    words
      .split(" ")
      .map((word) => [...word].reduce((hash, letter) => addLetter(hash, letter.charCodeAt(0)), WORD_SEED)),
  );
}

for (const [number, name] of CONCEPT_NAMES.entries()) {
  for (const word of (CONCEPTS[name] as string).split(" ")) {
    let hash = WORD_SEED;
    for (let at = 0; at < word.length; at++) hash = addLetter(hash, word.charCodeAt(at));
    let slot = slotOf(hash);
    while (values[slot] !== -1 && keys[slot] !== hash) slot = (slot + 1) & (SLOTS - 1);
    // A word of two concepts counts for the first.
    if (values[slot] !== -1) continue;
    keys[slot] = hash;
    values[slot] = number;
  }
}

/** The number of the concept that a word stands for, or -1. */
export function conceptOf(hash: number): number {
  let slot = slotOf(hash);
  while (values[slot] !== -1) {
    if (keys[slot] === hash) return values[slot] as number;
    slot = (slot + 1) & (SLOTS - 1);
  }
  return -1;
}
