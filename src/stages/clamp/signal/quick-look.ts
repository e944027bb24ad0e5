// A look that costs a fraction of scanning a line: does it hold four letters of a word that tells of failures?
/** The words' letters, lower case. */
const QUICK_WORDS: readonly string[] =
  "erro fail exce pani fata abor asse trac segf kill warn exit cras cann unab refu deni unde inva meou caus crit err! brok".split(
    " ",
  );

/** Looks for words by four letters of each. */
class QuickLook {
  /** The four letters of each word as one number. */
  readonly #words = new Set<number>();
  /** For each byte the places, of four, at which some of the words have it. */
  readonly #places = new Uint8Array(256);

  constructor(words: readonly string[]) {
    for (const letters of words) {
      let four = 0;
      for (let at = 0; at < 4; at++) {
        const letter = letters.charCodeAt(at);
        four = (four << 8) | letter;
        for (let byte = 0; byte < 256; byte++)
          if ((byte | 32) === letter) this.#places[byte] = (this.#places[byte] as number) | (1 << at);
      }
      this.#words.add(four);
    }
  }

  /** True if one of the words may be in bytes[start, end). */
  finds(bytes: Uint8Array, start: number, end: number): boolean {
    const places = this.#places;
    let fitting = 0;
    for (let at = start; at < end; at++) {
      fitting = ((fitting << 1) | 1) & (places[bytes[at] as number] as number);
      if ((fitting & 8) !== 0 && this.#isAt(bytes, at - 3)) return true;
    }
    return false;
  }

  /** True if a word begins at `at`, of which at least four bytes are there. */
  #isAt(bytes: Uint8Array, at: number): boolean {
    let four = 0;
    for (let next = at; next < at + 4; next++) four = (four << 8) | ((bytes[next] as number) | 32);
    return this.#words.has(four);
  }
}

const quick = new QuickLook(QUICK_WORDS);
// The words of "segmentation fault", "out of memory", "no space left" and "not found" are too common for a log's middle.
const thorough = new QuickLook([...QUICK_WORDS, "segm", "memo", "spac", "foun"]);

/** True if bytes[start, end) may tell of a failure. */
export function mayTell(bytes: Uint8Array, start: number, end: number): boolean {
  return quick.finds(bytes, start, end);
}

/** True if bytes[start, end) may tell of a failure, also by words that are common elsewhere. */
export function mayTellAtAll(bytes: Uint8Array, start: number, end: number): boolean {
  return thorough.finds(bytes, start, end);
}
