import type { Tokenizer } from "ai-tokenizer";
import type { TokenCounter } from "../contract/token-counter.ts";
import { badInput, SpillwayError } from "../errors.ts";
import { loadPackage } from "../load-package.ts";
import { splitsPair } from "../stages/measure/scan.ts";

/** The vocabularies for which an exact counter can be loaded. */
export type TokenVocabulary = "o200k" | "cl100k" | "claude";

type Encoding = ConstructorParameters<typeof Tokenizer>[0];

const encodings: Record<TokenVocabulary, string> = {
  o200k: "ai-tokenizer/encoding/o200k_base",
  cl100k: "ai-tokenizer/encoding/cl100k_base",
  claude: "ai-tokenizer/encoding/claude",
};

/**
 * After this many characters the tokenizer is made again. It remembers the parts of words that it has merged, and its
 * own way to forget them one by one is slow.
 */
const rememberedChars = 1_000_000;

/**
 * Loads a counter that tokenizes with a real vocabulary. It needs the optional package `ai-tokenizer`.
 * A run of one kind of character that is longer than `maxRunChars` is counted in pieces, because a whole run takes
 * quadratic time; each piece can add one token too many. Beyond 192 KiB of one run, each further piece counts as the
 * average of those before.
 * If the text's last word grows, an exact count can fall by a few tokens. An estimate never falls.
 */
export async function loadExactCounter(vocabulary: TokenVocabulary = "o200k"): Promise<TokenCounter> {
  if (!Object.hasOwn(encodings, vocabulary)) {
    throw badInput(`unknown vocabulary ${String(vocabulary)}: expected o200k, cl100k or claude`);
  }
  const [{ Tokenizer: Loaded }, encoding] = await load(vocabulary);
  // Without special tokens, <|endoftext|> is counted as plain text.
  const data = { ...encoding, special_tokens: {}, stringEncoder: withoutInherited(encoding.stringEncoder) };
  let tokenizer = new Loaded(data, {}, Number.POSITIVE_INFINITY);
  let seenChars = 0;
  const countPiece = (piece: string): number => {
    seenChars += piece.length;
    if (seenChars > rememberedChars) {
      tokenizer = new Loaded(data, {}, Number.POSITIVE_INFINITY);
      seenChars = piece.length;
    }
    return tokenizer.encode(piece).length;
  };
  const count = (text: string): number => {
    let tokens = 0;
    // How many pieces of the current unbroken run were counted, and their tokens.
    let runPieces = 0;
    let runTokens = 0;
    for (let from = 0; from < text.length; ) {
      const to = nextCut(text, from);
      const isRun = isRunPiece(from, to, text.length);
      if (!isRun) runPieces = runTokens = 0;
      if (runPieces < MAX_RUN_PIECES) {
        const counted = countPiece(text.slice(from, to));
        tokens += counted;
        runPieces += 1;
        runTokens += counted;
      } else tokens += Math.ceil(runTokens / runPieces);
      from = to;
    }
    return tokens;
  };
  const fit: TokenCounter["fit"] = (text, maxTokens, from) => fitPieces(text, maxTokens, from, count);
  return { name: vocabulary, exact: true, maxBytesPerToken: longestToken(encoding), count, fit };
}

async function load(vocabulary: TokenVocabulary): Promise<[{ Tokenizer: typeof Tokenizer }, Encoding]> {
  try {
    return await Promise.all([
      loadPackage<{ Tokenizer: typeof Tokenizer }>("ai-tokenizer"),
      loadPackage<Encoding>(encodings[vocabulary]),
    ]);
  } catch (cause) {
    const message =
      "exact token counts need the package ai-tokenizer, which could not be loaded: npm install ai-tokenizer";
    throw new SpillwayError("missing-part", message, { cause });
  }
}

/** Hides what a plain object inherits, so that a word such as `valueOf` is not found on the vocabulary's prototype. */
function withoutInherited(ranks: Record<string, number>): Record<string, number> {
  const own: Record<string, number> = Object.create(ranks);
  for (const name of Object.getOwnPropertyNames(Object.prototype)) {
    if (!Object.hasOwn(ranks, name)) Object.defineProperty(own, name, { value: undefined });
  }
  return own;
}

function longestToken({ decoder }: Encoding): number {
  const encoder = new TextEncoder();
  let longest = 1;
  for (const token of Object.values(decoder)) {
    // A UTF-16 unit takes at most three bytes, so most tokens need not be encoded.
    if (typeof token !== "string") longest = Math.max(longest, token.length);
    else if (token.length * 3 > longest) longest = Math.max(longest, encoder.encode(token).length);
  }
  return longest;
}

/**
 * Counts piece by piece until the room is used up, then searches inside the last piece only. The sum of the pieces can
 * differ from the count of the whole by a token or two, so the border moves back until the count of the whole fits.
 */
function fitPieces(text: string, maxTokens: number, from: "start" | "end", count: (text: string) => number): number {
  const most = maxTokens > 0 ? maxTokens : 0;
  const forwards = from === "start";
  const last = forwards ? text.length : 0;
  let border = text.length - last;
  for (let left = most; border !== last; ) {
    const near = border;
    const far = forwards ? nextCut(text, near) : previousCut(text, near);
    const countTo = (index: number): number => count(forwards ? text.slice(near, index) : text.slice(index, near));
    const tokens = countTo(far);
    if (tokens > left) {
      border = search(text, near, far, (index) => countTo(index) <= left);
      break;
    }
    left -= tokens;
    border = far;
  }
  for (;;) {
    const kept = forwards ? text.slice(0, border) : text.slice(border);
    const excess = count(kept) - most;
    if (excess <= 0) return border;
    const back = Math.min(excess, kept.length);
    border = forwards ? onBorder(text, border - back, -1) : onBorder(text, border + back, 1);
  }
}

/**
 * Returns the index farthest from `fitting`, on the way to `failing` (not included), that still fits. It halves the
 * distance at each step.
 */
function search(text: string, fitting: number, failing: number, fits: (index: number) => boolean): number {
  const direction = failing > fitting ? 1 : -1;
  let good = fitting;
  let bad = failing;
  for (;;) {
    const middle = onBorder(text, good + direction * Math.floor(Math.abs(bad - good) / 2), -direction);
    if (middle !== good) {
      if (fits(middle)) good = middle;
      else bad = middle;
      continue;
    }
    // Only one border can be left: the one that was skipped when the middle moved back over a surrogate pair.
    const next = onBorder(text, good + direction, direction);
    if (next === bad || !fits(next)) return good;
    good = next;
  }
}

/** Returns the index, or the next one in `direction` if the index would split a surrogate pair. */
function onBorder(text: string, index: number, direction: number): number {
  return splitsPair(text, index) ? index + direction : index;
}

// The code below decides where a text may be cut, so that its pieces count as the whole does and long unbroken runs
// stay short enough to count.

/** A piece has at least this many characters if the text allows it. */
const pieceChars = 8192;
/** A piece without a good place to cut ends here. */
const longestPieceChars = 4 * pieceChars;
/**
 * The longest run of one kind that is counted whole. Vocabularies hold runs of 2, 4, 8 ... equal characters and groups
 * of three digits. This is a multiple of both, so that a run that was cut mostly counts the same.
 */
const maxRunChars = 384;

const letter = 1;
const digit = 2;
const space = 3;
const other = 4;
/** Half of a surrogate pair. It may be of any kind, so it continues the open run. */
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

/**
 * Returns the end of the piece that begins at `from`. The result depends on nothing before `from` and on little after
 * the end.
 */
function nextCut(text: string, from: number): number {
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
    if (run > maxRunChars) return onBorder(text, index, -1);
    if (index >= enough && isGoodCut(text, index, table)) return index;
  }
  return until === text.length ? until : onBorder(text, until, -1);
}

/** How many pieces of one run are counted one by one. No text that people read has a run as long as this. */
const MAX_RUN_PIECES = 512;

/** Returns true if the piece was cut because its run is too long. */
function isRunPiece(from: number, to: number, end: number): boolean {
  return to - from <= maxRunChars && to < end;
}

/** Returns a place before `to` from which the end of the text can be counted alone. */
function previousCut(text: string, to: number): number {
  const table = unitKinds();
  const until = Math.max(0, to - longestPieceChars);
  for (let index = to - pieceChars; index > until; index--) {
    if (isGoodCut(text, index, table)) return index;
  }
  return onBorder(text, until, -1);
}

/**
 * Returns true before a single space or after a single line feed that has a letter or digit on both sides. Every
 * tokenizer splits there.
 */
function isGoodCut(text: string, index: number, table: Uint8Array): boolean {
  const isWord = (at: number): boolean => {
    const kind = table[text.charCodeAt(at)];
    return at >= 0 && at < text.length && (kind === letter || kind === digit);
  };
  if (text.charCodeAt(index) === 0x20) return isWord(index - 1) && isWord(index + 1);
  return text.charCodeAt(index - 1) === 0x0a && isWord(index - 2) && isWord(index);
}
