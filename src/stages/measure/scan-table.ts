// How UTF-8 is read, as the WHATWG decoder does: an invalid stretch counts as one U+FFFD, its last byte is read again.

/** States: 0 between characters; 1, 2 that many bytes to go; 3, 8, 9 inside four bytes; 4-7 after E0, ED, F0, F4. */
const STATES = 10;

/** Ranges of bytes that every state treats alike, by their last byte. */
const CLASS_ENDS: [last: number, name: number][] = [
  [0x7f, 0],
  [0x8f, 1],
  [0x9f, 2],
  [0xbf, 3],
  [0xc1, 11],
  [0xdf, 4],
  [0xe0, 5],
  [0xec, 6],
  [0xed, 7],
  [0xef, 6],
  [0xf0, 8],
  [0xf3, 9],
  [0xf4, 10],
  [0xff, 11],
];

/** Where each class leads from state 0; the others are whole or invalid by themselves. */
const LEADS: Record<number, number> = { 4: 1, 5: 4, 6: 2, 7: 5, 8: 6, 9: 3, 10: 7 };

/** Per state: which continuation classes it takes, the next state, and the UTF-16 units then complete. */
const CONTINUES: Record<number, [classes: number[], next: number, chars: number]> = {
  1: [[1, 2, 3], 0, 1],
  2: [[1, 2, 3], 1, 0],
  3: [[1, 2, 3], 8, 0],
  4: [[3], 1, 0],
  5: [[1, 2], 1, 0],
  6: [[2, 3], 8, 0],
  7: [[1], 8, 0],
  8: [[1, 2, 3], 9, 0],
  9: [[1, 2, 3], 0, 2],
};

/** Byte -> class. */
export const CLASSES: Uint8Array = new Uint8Array(256);
/** state * 16 + class -> next state, with the UTF-16 units it completes times 16 and the invalid stretches it ends times 64. */
export const STEPS: Uint8Array = new Uint8Array(STATES * 16);

let byte = 0;
for (const [last, name] of CLASS_ENDS) while (byte <= last) CLASSES[byte++] = name;

for (let state = 0; state < STATES; state++) {
  for (let name = 0; name < 12; name++) {
    const continues = CONTINUES[state];
    const lead = LEADS[name];
    // A byte that begins nothing is whole (ASCII) or invalid by itself; after a broken-off character one U+FFFD comes first.
    const fresh = lead ?? (name === 0 ? 16 : 16 | 64);
    if (continues === undefined) STEPS[state * 16 + name] = fresh;
    else if (continues[0].includes(name)) STEPS[state * 16 + name] = (continues[2] << 4) | continues[1];
    else STEPS[state * 16 + name] = fresh + 16 + 64;
  }
}

/** 1 for control characters that no terminal uses for text. */
export const CONTROLS: Uint8Array = Uint8Array.from({ length: 32 }, (_, byte) =>
  byte < 7 || (byte > 13 && byte !== 27) ? 1 : 0,
);
