import type { Size } from "../../contract/size.ts";
import type { TokenCounter } from "../../contract/token-counter.ts";
import { tried } from "../../values.ts";
import {
  encodeText,
  endsInHalf,
  newScan,
  scanBytes,
  scannedChars,
  scannedLines,
  scanText,
  splitsPair,
} from "./scan.ts";
import { singleTokens } from "./single-tokens.ts";
import { changeWeight, joinWeights, mixWeights, placeWeights } from "./token-weights.ts";

/** How many units are summed as small integers before they are added to the total. */
const blockChars = 16_384;

/**
 * Estimates tokens without a vocabulary: by the kinds of characters, the lengths of their runs and the joins between
 * them. It is too high on purpose: it should be at or above o200k, cl100k and ai-tokenizer's claude vocabulary.
 *
 * A character outside of ASCII counts as the tokens that it takes by itself in the worst of the three, since no text takes more.
 * Latin and Cyrillic words take far fewer, so they are estimated; letters that words rarely have weigh more there. Real text
 * is 1.0 to 1.4 times the worst of the three in every script, and two to five times o200k, which is the best of them.
 *
 * It is also at or above them for one character again and again, for any two of ASCII in turn, and for random punctuation,
 * blanks, box drawing, symbols and letters of 32 scripts (oddShapes in test/token-samples.ts). On build logs and shell output
 * it is 1.29 times o200k in the middle, and below a real count on none of 122 samples. It is a little too low (0.95) on random
 * small letters in words, on three or four letters and signs in turn without a word among them, and on about one real sample in
 * a hundred.
 */
export const estimateCounter: TokenCounter = {
  name: "estimate",
  exact: false,
  maxBytesPerToken: 64,
  count,
  fit,
};

function count(text: string): number {
  const kinds = unitKinds();
  const cells = forwardCells();
  let total = 0;
  let row = startRow;
  let changes = 0;
  for (let from = 0; from < text.length; from += blockChars) {
    const to = Math.min(from + blockChars, text.length);
    let sum = 0;
    for (let index = from; index < to; index++) {
      const cell = cells[row + (kinds[text.charCodeAt(index)] as number)] as number;
      row = cell >>> 16;
      sum += cell & weightBits;
      changes = (changes + 1) & -((cell & changeBit) >>> 15);
      if (changes > freeChanges) sum += changeWeight;
    }
    total += sum;
  }
  return Math.ceil(total / unitsPerToken);
}

function fit(text: string, maxTokens: number, from: "start" | "end"): number {
  const most = maxTokens > 0 ? Math.floor(maxTokens) * unitsPerToken : 0;
  const kinds = unitKinds();
  const isForward = from === "start";
  const cells = isForward ? forwardCells() : backwardCells();
  const { length } = text;
  let total = 0;
  let row = startRow;
  let changes = 0;
  let taken = 0;
  for (; taken < length; taken++) {
    const unit = text.charCodeAt(isForward ? taken : length - 1 - taken);
    const cell = cells[row + (kinds[unit] as number)] as number;
    row = cell >>> 16;
    total += cell & weightBits;
    changes = (changes + 1) & -((cell & changeBit) >>> 15);
    if (changes > freeChanges) total += changeWeight;
    if (total > most) break;
  }
  const border = isForward ? taken : length - taken;
  return splitsPair(text, border) ? border + (isForward ? -1 : 1) : border;
}

/** So many changes in a row are usual in code and JSON; further ones are no text that few tokens stand for. */
const freeChanges = 6;

/** Small letters, capitals, digits, blanks, and each sign of ASCII by itself; 0 is for all other units. */
export function groupOf(unit: number): number {
  if (unit >= 127 || (unit < 32 && unit !== 9 && unit !== 10 && unit !== 13)) return 0;
  const kind = /[a-z]|([A-Z])|([0-9])|(\s)/.exec(String.fromCharCode(unit));
  return kind === null ? unit : kind[1] !== undefined ? 2 : kind[2] !== undefined ? 3 : kind[3] !== undefined ? 4 : 1;
}

/** Weights are whole numbers of this share of a token, so that sums are the same in any order. */
const unitsPerToken = 1024;

/** The lower half of a cell: the weight of the unit, and whether its group is another than that of the unit before. */
const weightBits = 0x7fff;
const changeBit = 0x8000;

/** The row of the start, where no run is open. */
const startRow = 0;

/** The columns of a row: a power of two that is at least the number of kinds. */
const width = 128;

/** A class, or a part of one: units of a class that tokens rarely hold side by side are of several kinds. */
interface Kind {
  tokenClass: number;
  spread: number;
  group: number;
}

/**
 * A table with a row for each kind of the open run and place in it, and a column for each kind of the next unit. The
 * upper half of a cell is the next row, the lower half the weight of the unit. The forward table reads a text from its
 * start, the backward table from its end. Both give the same sum, because the weight of a run depends only on its
 * length and that of a join only on the two kinds.
 */
type Cells = Int32Array;

let kinds: { list: Kind[]; ofUnit: Uint8Array } | undefined;
let forward: Cells | undefined;
let backward: Cells | undefined;

/** Returns the kind of every unit. It is made on first use, as the cells are. */
const unitKinds = (): Uint8Array => (kinds ??= classifyUnits()).ofUnit;
const forwardCells = (): Cells => (forward ??= makeCells(joinWeight));
const backwardCells = (): Cells => (backward ??= makeCells((open, next) => joinWeight(next, open)));

function makeCells(join: (open: Kind, next: Kind) => number): Cells {
  const { list } = (kinds ??= classifyUnits());
  const runs = list.map(({ tokenClass }) => runOf(tokenClasses[tokenClass] as TokenClass));
  const placesOf = ({ tokenClass }: Kind): number => tokenClasses[tokenClass]?.places ?? 1;
  const firstRows: number[] = [];
  let rows = 1;
  for (const kind of list) {
    firstRows.push(rows * width);
    rows += placesOf(kind);
  }
  const cells = new Int32Array(rows * width);
  list.forEach((next, column) => {
    const places = placesOf(next);
    const firstRow = firstRows[column] ?? 0;
    const weights = placeWeights[next.tokenClass] ?? [];
    const opened = (firstRow << 16) | (weights[0] ?? 0);
    cells[startRow + column] = opened;
    list.forEach((open, from) => {
      const isChange = open.group !== next.group && open.group > 0 && next.group > 0;
      const joined = join(open, next) + (isChange ? changeBit : 0);
      const end = firstRows[from + 1] ?? cells.length;
      const continues = runs[from] === runs[column];
      for (let row = firstRows[from] ?? 0, place = 1; row < end; row += width, place++) {
        const last = Math.min(place, places - 1);
        const cell = continues ? ((firstRow + last * width) << 16) | (weights[last] ?? 0) : opened;
        cells[row + column] = cell + joined;
      }
    });
  });
  return cells;
}

function joinWeight({ tokenClass: left, spread }: Kind, { tokenClass: right, spread: other }: Kind): number {
  if (left === right && spread !== other) return mixWeights[left] ?? 0;
  if (left >= firstWideClass && left === right) return 0;
  if (isScript(left) && isScript(right)) return runOfClass(left) === runOfClass(right) ? 0 : scriptJoin;
  return joinWeights[Math.min(left, firstWideClass)]?.[Math.min(right, firstWideClass)] ?? 0;
}

/** UTF-16 units that tokenizers treat alike. */
interface TokenClass {
  name: string;
  /**
   * Classes with the same name here form one run together and share its places. By default each class forms its own
   * run.
   */
  run?: string;
  /** How many places of a run have their own weight. Later places cost the same as the last one. */
  places: number;
  /** The first and last unit of each range. */
  ranges: [from: number, to: number][];
}

const of = (characters: string): [number, number][] =>
  Array.from(characters, (character) => [character.charCodeAt(0), character.charCodeAt(0)]);

/** The weights are in this order. If it changes, `bench/learn-token-weights.mjs` must run again. A later class takes what it names
 * from an earlier one. */
export const tokenClasses: readonly TokenClass[] = [
  {
    name: "control",
    places: 1,
    ranges: [
      [0x00, 0x1f],
      [0x7f, 0x9f],
    ],
  },
  { name: "space", places: 10, ranges: of(" ") },
  { name: "newline", places: 4, ranges: of("\n") },
  { name: "tab", places: 4, ranges: of("\t") },
  { name: "return", places: 2, ranges: of("\r") },
  { name: "vowel", run: "lower", places: 16, ranges: of("aeiou") },
  { name: "consonant", run: "lower", places: 16, ranges: of("tnsrldcmph") },
  { name: "rare consonant", run: "lower", places: 16, ranges: of("bfgkvwy") },
  { name: "rarest consonant", run: "lower", places: 16, ranges: of("jqxz") },
  { name: "upper", places: 10, ranges: [[0x41, 0x5a]] },
  { name: "digit", places: 10, ranges: [[0x30, 0x39]] },
  { name: "dot", places: 4, ranges: of(".") },
  { name: "underscore", places: 4, ranges: of("_") },
  { name: "hyphen", places: 6, ranges: of("-") },
  { name: "slash", places: 3, ranges: of("/\\") },
  { name: "rule", places: 6, ranges: of("=*#~+") },
  { name: "quote", places: 3, ranges: of("\"'`") },
  { name: "open", places: 3, ranges: of("([{<") },
  { name: "close", places: 3, ranges: of(")]}>") },
  { name: "comma", places: 3, ranges: of(",;:") },
  { name: "mark", places: 3, ranges: of("!?@$%^&|") },
  { name: "latin", places: 2, ranges: [[0xc0, 0xff], ...of("ăąćčďđęěğıłńňőřśşšťůűźżž")] },
  { name: "cyrillic", places: 12, ranges: [[0x430, 0x44f]] },
  // Text has few of these; random letters have many.
  { name: "rare cyrillic", run: "cyrillic", places: 12, ranges: [[0x410, 0x42f], ...of("жзйфхцчшщъьэюя")] },
  {
    name: "combining",
    places: 1,
    ranges: [
      [0x300, 0x36f],
      [0x20d0, 0x20ff],
    ],
  },
  { name: "symbol", places: 3, ranges: [[0x2500, 0x25ff]] },
  { name: "bar", places: 3, ranges: of("─═█") },
  { name: "emoji", places: 1, ranges: [[0xd83c, 0xd83e]] },
  {
    name: "astral",
    places: 1,
    ranges: [
      [0xd800, 0xd83b],
      [0xd83f, 0xdbff],
    ],
  },
  { name: "replacement", places: 2, ranges: [[0xfffd, 0xfffd]] },
  { name: "private", places: 1, ranges: [[0xe000, 0xf8ff]] },
  { name: "low", places: 1, ranges: [[0xdc00, 0xdfff]] },
  { name: "one token", run: "script", places: 1, ranges: [] },
  { name: "two tokens", run: "script", places: 1, ranges: [] },
  { name: "three tokens", run: "script", places: 1, ranges: [] },
];

/** The last classes are for characters that count as what they take by themselves. */
const firstSingle: number = tokenClasses.findIndex(({ name }) => name === "one token");

/** Classes before this one are ASCII. For joins between runs, all the others count as one class. */
const firstWideClass: number = tokenClasses.findIndex(({ name }) => name === "latin");

const runOf = ({ name, run }: TokenClass): string => run ?? name;

/** Letters of two scripts side by side are no word. */
const scriptJoin = 180;

const runOfClass = (tokenClass: number): string => runOf(tokenClasses[tokenClass] as TokenClass);

/** Letters that follow each other: what each of them takes is in its own weight. */
function isScript(tokenClass: number): boolean {
  return tokenClass >= firstSingle || /^(?:latin|cyrillic|rare cyrillic)$/.test(tokenClasses[tokenClass]?.name ?? "");
}

/** Tells units of one class apart: those of ASCII one by one, the others in eight parts. */
export const spreadOf = (unit: number): number => (unit < 128 ? unit : ((unit >> 2) ^ unit) & 7);

function classifyUnits(): { list: Kind[]; ofUnit: Uint8Array } {
  const list: Kind[] = [];
  const places = new Map<number, number>();
  const placeOf = (tokenClass: number, spread: number, group: number): number => {
    const key = tokenClass * 128 + spread;
    const place = places.get(key) ?? list.push({ tokenClass, spread, group }) - 1;
    places.set(key, place);
    return place;
  };
  const ofUnit = new Uint8Array(0x10000).fill(placeOf(tokenClasses.length - 1, 0, 0));
  const [one, two, three] = [0, 1, 2].map((more) => placeOf(firstSingle + more, 0, 0)) as [number, number, number];
  const placeOfBits = [three, three, two, one];
  for (const [from, to, data] of singleTokens) {
    const bits = atob(data);
    for (let unit = from; unit <= to; unit++)
      ofUnit[unit] = placeOfBits[(bits.charCodeAt((unit - from) >> 2) >> (2 * ((unit - from) & 3))) & 3] as number;
  }
  tokenClasses.forEach(({ ranges }, index) => {
    const mixes = (mixWeights[index] ?? 0) > 0;
    for (const [from, to] of ranges) {
      // One fill for a whole script: the table is made in each process that counts.
      if (!mixes && from >= 127) ofUnit.fill(placeOf(index, 0, 0), from, to + 1);
      else
        for (let unit = from; unit <= to; unit++) {
          const group = groupOf(unit);
          ofUnit[unit] = placeOf(index, mixes || group > 4 ? spreadOf(unit) : 0, group);
        }
    }
  });
  return { list, ofUnit };
}

/** How many tokens a unit outside of ASCII is by itself, in the vocabulary that needs the most. */
export function tokensAlone(unit: number): number {
  const place = singleTokens.find(([from, to]) => unit >= from && unit <= to);
  if (place === undefined) return 3;
  const [from, , data] = place;
  const at = (unit - from) >> 2;
  // Four characters of base64 are three bytes.
  const bits = atob(data.slice(Math.floor(at / 3) * 4, Math.floor(at / 3) * 4 + 4)).charCodeAt(at % 3);
  return 4 - ((bits >> (2 * ((unit - from) & 3))) & 3);
}

/** Returns a caller's counter that uses the estimate whenever it throws or does not return a number. */
export function guardCounter(counter: TokenCounter): TokenCounter {
  return {
    name: counter.name,
    exact: counter.exact,
    maxBytesPerToken: counter.maxBytesPerToken > 0 ? counter.maxBytesPerToken : estimateCounter.maxBytesPerToken,
    count(text) {
      const tokens = tried(() => counter.count(text));
      return tokens !== null && Number.isFinite(tokens) && tokens >= 0 ? tokens : count(text);
    },
    ...(counter.fit && {
      fit: (text, maxTokens, from) => {
        const at = tried(() => counter.fit?.(text, maxTokens, from)) ?? -1;
        return Number.isInteger(at) && at >= 0 && at <= text.length ? at : fit(text, maxTokens, from);
      },
    }),
  };
}

/** Returns the size of a text in every unit; tokens are counted when somebody reads them. */
export function measureText(text: string, counter: TokenCounter = estimateCounter): Size {
  const scan = newScan();
  if (scanText(scan, text) === null) for (const bytes of encodeText(text)) scanBytes(scan, bytes);
  return lazySize(text, { bytes: scan.bytes, lines: scannedLines(scan) }, counter);
}

/**
 * Returns the size of a text, and counts tokens only when somebody reads them, because that takes ten times as long as
 * the rest.
 */
export function lazySize(text: string, { bytes, lines }: Pick<Size, "bytes" | "lines">, counter: TokenCounter): Size {
  let tokens: number | undefined;
  return {
    bytes,
    chars: text.length,
    lines,
    get tokens() {
      tokens ??= counter.count(text);
      return tokens;
    },
  };
}

/** Measures a text as it comes. */
export interface Measuring {
  /** Adds text or bytes, in pieces of any size. Reads bytes only during the call. */
  add(chunk: string | Uint8Array): void;
  end(): Size;
}

/**
 * Tokens are counted in stretches of about this many characters. A stretch ends at the end of a line if there is one.
 */
const STRETCH_CHARS = 16_384;

/**
 * Measures a text that comes in pieces, in bounded memory. Bytes, chars and lines are exact. Tokens are counted in
 * stretches and summed, which differs from a count of the whole by at most a thousandth.
 */
export function startMeasure(counter: TokenCounter): Measuring {
  const scan = newScan();
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let waiting = "";
  let half = "";
  let tokens = 0;

  function addBytes(bytes: Uint8Array): void {
    scanBytes(scan, bytes);
    waiting += decoder.decode(bytes, { stream: true });
    while (waiting.length >= STRETCH_CHARS) countStretch();
  }

  function countStretch(): void {
    const lineEnd = waiting.lastIndexOf("\n", STRETCH_CHARS - 1) + 1;
    const end = lineEnd > 0 ? lineEnd : STRETCH_CHARS - (splitsPair(waiting, STRETCH_CHARS) ? 1 : 0);
    tokens += counter.count(waiting.slice(0, end));
    waiting = waiting.slice(end);
  }

  return {
    add(chunk) {
      if (typeof chunk !== "string") return addBytes(chunk);
      // A surrogate pair may come in two pieces.
      const text = half + chunk;
      half = endsInHalf(text) ? text.slice(-1) : "";
      for (const bytes of encodeText(half === "" ? text : text.slice(0, -1))) addBytes(bytes);
    },
    end() {
      for (const bytes of encodeText(half)) addBytes(bytes);
      half = "";
      waiting += decoder.decode();
      if (waiting !== "") tokens += counter.count(waiting);
      waiting = "";
      return { bytes: scan.bytes, chars: scannedChars(scan), lines: scannedLines(scan), tokens };
    },
  };
}
