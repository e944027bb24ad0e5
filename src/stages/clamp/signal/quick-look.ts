// A look that costs a fraction of scanning a line: does it hold four letters of a word that tells of failures?
const LETTERS =
  "erro fail exce pani fata abor asse trac segf kill warn exit cras cann unab refu deni unde inva meou caus crit err! brok";
/** The four letters of each word as one number. */
const words = new Set<number>();
/** For each byte the places, of four, at which some of the words have it. */
const places = new Uint8Array(256);

/** The words, lower case. */
export const QUICK_WORDS: readonly string[] = LETTERS.split(" ");

for (const letters of QUICK_WORDS) {
  let four = 0;
  for (let at = 0; at < 4; at++) {
    const letter = letters.charCodeAt(at);
    four = (four << 8) | letter;
    for (let byte = 0; byte < 256; byte++)
      if ((byte | 32) === letter) places[byte] = (places[byte] as number) | (1 << at);
  }
  words.add(four);
}

/** True if bytes[start, end) may tell of a failure. */
export function mayTell(bytes: Uint8Array, start: number, end: number): boolean {
  let fitting = 0;
  for (let at = start; at < end; at++) {
    fitting = ((fitting << 1) | 1) & (places[bytes[at] as number] as number);
    if ((fitting & 8) !== 0 && isQuickWord(bytes, at - 3)) return true;
  }
  return false;
}

/** True if a word begins at `at`, of which at least four bytes are there. */
export function isQuickWord(bytes: Uint8Array, at: number): boolean {
  let four = 0;
  for (let next = at; next < at + 4; next++) four = (four << 8) | ((bytes[next] as number) | 32);
  return words.has(four);
}
