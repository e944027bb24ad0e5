// Where a text may be cut so that its pieces count as the whole does, and long unbroken runs stay short enough to count.

/** Pieces are at least this long where the text allows it. */
const pieceChars = 8192;
/** A piece without a good place to cut is cut here, wherever that is. */
const longestPieceChars = 4 * pieceChars;
/**
 * Longest run of one kind that is counted whole. Vocabularies hold runs of 2, 4, 8 ... equal characters and groups of
 * three digits: this is a multiple of both, so that a cut run mostly counts the same.
 */
const maxRunChars = 384;

const letter = 1;
const digit = 2;
const space = 3;
const other = 4;
/** Half of a character: continues whatever run is open, since it may be of any kind. */
const half = 0;

let kinds: Uint8Array | undefined;

function unitKinds(): Uint8Array {
  if (kinds) return kinds;
  kinds = new Uint8Array(0x10000).fill(other);
  for (let unit = 0; unit < 0x10000; unit++) {
    if (unit >= 0xd800 && unit <= 0xdfff) {
      kinds[unit] = half;
      continue;
    }
    const character = String.fromCharCode(unit);
    if (/[\p{L}\p{M}]/u.test(character)) kinds[unit] = letter;
    else if (/\p{N}/u.test(character)) kinds[unit] = digit;
    else if (/\s/u.test(character)) kinds[unit] = space;
  }
  return kinds;
}

/** The end of the piece that begins at `from`; depends on nothing before `from` and little after the end. */
export function nextCut(text: string, from: number): number {
  const table = unitKinds();
  const until = Math.min(text.length, from + longestPieceChars);
  const enough = from + pieceChars;
  let run = 0;
  let open = half;
  for (let index = from; index < until; index++) {
    const kind = table[text.charCodeAt(index)] as number;
    if (kind === open || kind === half) run++;
    else {
      open = kind;
      run = 1;
    }
    if (run > maxRunChars) return wholeCharacters(text, index);
    if (index >= enough && isGoodCut(text, index, table)) return index;
  }
  return until === text.length ? until : wholeCharacters(text, until);
}

/** Run pieces that are counted one by one; no text that anyone reads has as long a run. */
export const MAX_RUN_PIECES = 512;

/** True for a piece that was cut because its run is too long. */
export function isRunPiece(from: number, to: number, end: number): boolean {
  return to - from <= maxRunChars && to < end;
}

/** A place before `to` from which the text's end can be counted on its own. */
export function previousCut(text: string, to: number): number {
  const table = unitKinds();
  const until = Math.max(0, to - longestPieceChars);
  for (let index = to - pieceChars; index > until; index--) {
    if (isGoodCut(text, index, table)) return index;
  }
  return wholeCharacters(text, until);
}

/** Before a lone space, or after a lone line feed, with a letter or digit on both sides: every tokenizer splits there. */
function isGoodCut(text: string, index: number, table: Uint8Array): boolean {
  const isWord = (at: number): boolean => {
    const kind = table[text.charCodeAt(at)];
    return at >= 0 && at < text.length && (kind === letter || kind === digit);
  };
  if (text.charCodeAt(index) === 0x20) return isWord(index - 1) && isWord(index + 1);
  return text.charCodeAt(index - 1) === 0x0a && isWord(index - 2) && isWord(index);
}

function wholeCharacters(text: string, index: number): number {
  const splits = (text.charCodeAt(index - 1) & 0xfc00) === 0xd800 && (text.charCodeAt(index) & 0xfc00) === 0xdc00;
  return splits ? index - 1 : index;
}
