// A look at a line that costs a fraction of scanning it: does it hold four letters of a word that tells of failures?
const LETTERS =
  "erro fail exce pani fata abor asse trac segf kill warn exit cras cann unab refu deni unde inva meou caus crit err! brok";
const words = new Set<number>();
/** For each byte the places, of four, at which some of the words have it. */
const places = new Uint8Array(256);

for (const letters of LETTERS.split(" ")) {
  let four = 0;
  for (let at = 0; at < 4; at++) {
    const letter = letters.charCodeAt(at) | 32;
    four = (four << 8) | letter;
    for (const byte of [letter, letter & ~32]) places[byte] = (places[byte] as number) | (1 << at);
  }
  words.add(four);
}

/** Beyond this nothing is looked for. */
const LOOKED_AT = 200;

/** True if bytes[start, end) may tell of a failure. */
export function mayTell(bytes: Uint8Array, start: number, end: number): boolean {
  const stop = end - start > LOOKED_AT ? start + LOOKED_AT : end;
  let fitting = 0;
  for (let at = start; at < stop; at++) {
    fitting = ((fitting << 1) | 1) & (places[bytes[at] as number] as number);
    if ((fitting & 8) !== 0 && isWord(bytes, at - 3)) return true;
  }
  return false;
}

function isWord(bytes: Uint8Array, at: number): boolean {
  let four = 0;
  for (let next = at; next < at + 4; next++) four = (four << 8) | ((bytes[next] as number) | 32);
  return words.has(four);
}
