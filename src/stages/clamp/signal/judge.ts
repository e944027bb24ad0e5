import type { Focus, KnownLines } from "../../../contract/strategy.ts";
import type { WordCounts } from "../focus/word-counts.ts";
import { LateContext, type Whole } from "./context.ts";
import {
  type LineCounts,
  MOST_TELLING,
  messageRows,
  nameRows,
  newRows,
  oddFinder,
  oddRows,
  rowsWith,
  signFinder,
  type Telling,
  tellingRows,
} from "./pin-rows.ts";
import {
  HELD_NEW_GAIN,
  IS_BLANK,
  IS_HEADER,
  IS_MESSAGE,
  IS_NEW,
  IS_NEWLY_NAMED,
  IS_WARNING,
  type UnitStore,
  WARNING_GAIN,
} from "./unit-store.ts";

/** If nothing failed, a line's own score counts this much, and its surroundings do not count. */
const PASSING_SHARE = 0.5;
/** The best line of a failing log scores -5.7 or more. If no line comes near, none tells more than another. */
const LEAST_SIGN = -6;

/** An output's lines with what each is worth. */
export interface Judged {
  store: UnitStore;
  /** How rare the words of a focus are, if there is one. */
  words: WordCounts | null;
  /** Final scores: natural logarithms of a line's own value. */
  scores: Float32Array;
  values: Float64Array;
  /** The values without what words add to them. */
  ownValues: Float64Array;
  units: number;
  /** Characters of the whole, folded; where some were not judged it may be bytes. */
  chars: number;
  telling: Telling;
  /** Rows that say what an exception was. */
  messages: number[];
  /** Rows that name failures, one for each text. */
  names: number[];
  /** Rows that stand out. */
  odd: number[];
  /** Rows that the last good run has nothing like; none if they are many. */
  added: number[];
  isFailure: boolean;
  /** Something failed, and no line looks like a sign of it. */
  isUnsure: boolean;
}

/** Judges every line that is held, now that the whole is known. */
export function judge(store: UnitStore, whole: Whole, isFailure: boolean, focus?: Focus): Judged {
  const late = new LateContext(whole);
  const scores = new Float32Array(store.length);
  const novelty = noveltyOf(whole);
  for (let row = 0; row < store.length; row++) {
    const flags = store.flags[row] as number;
    const gain = (flags & IS_WARNING) !== 0 ? WARNING_GAIN : 0;
    const isNew = (flags & IS_NEW) !== 0;
    const own = isFailure
      ? (store.score[row] as number) - gain - (isNew ? HELD_NEW_GAIN : 0) + late.look(store, row)
      : PASSING_SHARE * (store.lineScore[row] as number) + 2 * gain;
    scores[row] = own + (isNew ? novelty : (flags & IS_NEWLY_NAMED) !== 0 ? NEWLY_NAMED * novelty : 0);
  }
  const { units, chars, words } = whole;
  const own = words === null ? scores : scores.slice();
  if (words !== null)
    for (let row = 0; row < store.length; row++)
      scores[row] = (scores[row] as number) + words.gain(store.words[row] as number);
  const isUnsure = isFailure && scores.every((score) => score < LEAST_SIGN);
  const values = valuesOf(store, scores);
  const ownValues = words === null ? values : valuesOf(store, own);
  const { keeps = 0, drops = 0 } = focus ?? {};
  const kept = new Set(keeps === 0 || drops === 0 ? [] : rowsWith(store, keeps));
  const dropped = new Set(drops === 0 ? [] : rowsWith(store, drops).filter((row) => !kept.has(row)));
  for (const row of dropped) values[row] = ownValues[row] = DROPPED;
  const shown = (rows: number[]) => (dropped.size === 0 ? rows : rows.filter((row) => !dropped.has(row)));
  const told = tellingRows(store, whole.shapes);
  const telling = { rows: shown(told.rows), share: told.share };
  const odd = shown(oddRows(store, whole));
  const messages = shown(messageRows(store));
  const added = shown(newRows(store));
  const names = isFailure ? shown(nameRows(store, whole)) : [];
  const rows = { telling, messages, names, odd, added };
  return { store, words, scores, values, ownValues, units, chars, ...rows, isFailure, isUnsure };
}

/** The value of a row that is never shown. */
const DROPPED = -1e9;

/** What a line gains for being new, at most: fewer than one line of twenty are. */
const NEW_GAIN = 4;
const FEW_NEW = Math.log(20);
/** The share of it if only names in the line are new. */
const NEWLY_NAMED = 0.5;

/** What a line gains for being new: the more, the fewer are. */
function noveltyOf({ units, added }: Whole): number {
  return added === 0 ? 0 : NEW_GAIN * Math.max(0, Math.min(1, Math.log(units / added) / FEW_NEW));
}

/** What rows are worth by their scores, which go down where lines repeat. */
function valuesOf(store: UnitStore, scores: Float32Array): Float64Array {
  const copies = repeatsDown(store, scores);
  const values = smoothed(store, scores, 0, store.length);
  copiesDown(store, copies, values);
  templatesDown(store, values);
  return values;
}

/** Lines to either side that lend a line part of its value. */
const SPREAD = 6;
/** A line's own share in its value. */
const OWN = 0.6;
/** What it then shares with its paragraph: lines without a blank one between, so many at a time. */
const PARAGRAPH = 0.4;
const PARAGRAPH_LINES = 30;

/**
 * The value of `count` rows from `from` on: e to the power of its score, and part of that of the lines around it, so that
 * blocks are chosen and not single lines.
 */
function smoothed(store: UnitStore, scores: Float32Array, from: number, count: number): Float64Array {
  const { flags, sequence } = store;
  const own = new Float64Array(count);
  const values = new Float64Array(count);
  // Quiet lines, which are most, have one score.
  let score = 0;
  let value = 1;
  for (let at = 0; at < count; at++) {
    if (scores[from + at] !== score) {
      score = scores[from + at] as number;
      value = Math.exp(score);
    }
    own[at] = ((flags[from + at] as number) & IS_BLANK) !== 0 ? 0 : value;
  }
  let sum = 0;
  let lines = 0;
  let low = 0;
  let high = 0;
  for (let at = 0; at < count; at++) {
    const here = sequence[from + at] as number;
    while (high < count && (sequence[from + high] as number) <= here + SPREAD) {
      sum += own[high] as number;
      if (((flags[from + high] as number) & IS_BLANK) === 0) lines++;
      high++;
    }
    while ((sequence[from + low] as number) < here - SPREAD) {
      sum -= own[low] as number;
      if (((flags[from + low] as number) & IS_BLANK) === 0) lines--;
      low++;
    }
    values[at] = OWN * (own[at] as number) + ((1 - OWN) * Math.max(0, sum)) / Math.max(1, lines);
  }
  shareInParagraphs(store, own, values, from);
  return values;
}

function shareInParagraphs(store: UnitStore, own: Float64Array, values: Float64Array, from: number): void {
  const { flags, sequence } = store;
  const isBlank = (at: number) => ((flags[from + at] as number) & IS_BLANK) !== 0;
  const follows = (at: number) => sequence[from + at] === (sequence[from + at - 1] as number) + 1;
  for (let at = 0; at < own.length; at++) {
    const start = at;
    let sum = 0;
    while (at < own.length && at - start < PARAGRAPH_LINES && !isBlank(at) && (at === start || follows(at))) {
      sum += own[at++] as number;
    }
    const shared = (PARAGRAPH * sum) / (at - start);
    for (let row = start; row < at; row++) values[row] = (1 - PARAGRAPH) * (values[row] as number) + shared;
    if (at > start) at--;
  }
}

/** What a copy of a better line loses of its score, and so lends less to the lines around it. */
const REPEAT_COST = 0.7;
/** What it is then worth less, times how many copies came before it. */
const COPY_COST = 2;
/** The line before a copy is worth so many times what the copy was worth. */
const HEAD_GAIN = 1.5;

/**
 * A line that comes again tells nothing new: all but the best of its copies score less. Gives for each row how many of
 * them came before it; 0 for the best.
 */
function repeatsDown(store: UnitStore, scores: Float32Array): Uint16Array {
  const copies = new Uint16Array(store.length);
  const best = new Map<number, number>();
  const counts = new Map<number, number>();
  for (let row = 0; row < store.length; row++) {
    const text = store.textHash[row] as number;
    if (text === 0) continue;
    const other = best.get(text);
    if (other === undefined) {
      best.set(text, row);
      continue;
    }
    const count = (counts.get(text) ?? 0) + 1;
    counts.set(text, count);
    const isBetter = (scores[row] as number) > (scores[other] as number);
    if (isBetter) best.set(text, row);
    const copy = isBetter ? other : row;
    scores[copy] = (scores[copy] as number) - REPEAT_COST;
    copies[copy] = Math.min(65_535, count);
  }
  return copies;
}

/**
 * If many failures have the same body, the line before each copy, which tells them apart, is worth more than the copy. So is the
 * header of a failure before what its exception says.
 */
function copiesDown(store: UnitStore, copies: Uint16Array, values: Float64Array): void {
  const { flags, sequence } = store;
  const isHead = (row: number) => {
    const flag = flags[row] as number;
    const isHeader = (flag & IS_HEADER) !== 0 && ((flags[row + 1] as number) & IS_MESSAGE) !== 0;
    return isHeader || ((copies[row + 1] ?? 0) > 0 && (flag & IS_BLANK) === 0);
  };
  for (let row = 0; row < store.length; row++) {
    const copy = copies[row] as number;
    if (copy > 0) values[row] = (values[row] as number) / (1 + COPY_COST * copy);
    else if (sequence[row + 1] === (sequence[row] as number) + 1 && isHead(row))
      values[row] = Math.max(values[row] as number, HEAD_GAIN * (values[row + 1] as number));
  }
}

/** What a line is worth less for each better line of its template. */
const TEMPLATE_COST = 0.25;

/**
 * Of lines that differ only in numbers and names the best stays what it is; each further one is worth less. This holds for
 * lines with a time of their own, each of which stands for itself: others are parts of a block.
 */
function templatesDown(store: UnitStore, values: Float64Array): void {
  const rows = Array.from(values.keys()).filter((row) => store.template[row] !== 0);
  rows.sort((a, b) => (values[b] as number) - (values[a] as number) || a - b);
  const counts = new Map<number, number>();
  for (const row of rows) {
    const template = store.template[row] as number;
    const better = counts.get(template) ?? 0;
    counts.set(template, better + 1);
    values[row] = (values[row] as number) / (1 + TEMPLATE_COST * better);
  }
}

/** This share of the room, at the output's start, is never let go; at its end it is a whole room. */
const HEAD_SHARE = 0.2;
/** The newest lines are needed as surroundings of the next. */
const NEWEST_LINES = 64;
/** What a line costs beside its characters. */
const LINE_COST = 32;
/** Of what is held, what is added for lines with the words of a focus. */
const WORDS_SHARE = 0.5;
const STEPS = 512;
/** The value per cost at which each step begins: six steps to a doubling. */
const STEP_STARTS = Float64Array.from({ length: STEPS }, (_, step) => 2 ** ((step - 0.5) / 6 - 60));

/** What is held, in characters, from which on lines are let go. */
export function heldCost({ chars, length }: UnitStore): number {
  return chars + LINE_COST * length;
}

/** Lines that are held, and what was counted of all lines so far. */
interface Held extends LineCounts {
  store: UnitStore;
  words: WordCounts | null;
}

/**
 * Lets go of the lines that are worth least for their length, until about as much as `heldChars` says is held. Gives what
 * may be held the next time: of very short lines both ends alone can be more, and to look again at each line is too often.
 */
export function evict(held: Held, roomChars: number, judged: number): number {
  const { store, words } = held;
  const { length, shownChars, charsBefore } = store;
  const keeps = new Uint8Array(length);
  let left = heldChars(roomChars);
  let head = 0;
  while (head < length && (charsBefore[head] as number) < roomChars * HEAD_SHARE) left -= costOf(store, head++);
  let tail = length;
  let tailChars = 0;
  while (tail > head && (tailChars < roomChars || length - tail < NEWEST_LINES || tail > judged)) {
    tailChars += shownChars[--tail] as number;
    left -= costOf(store, tail);
  }
  keeps.fill(1, 0, head);
  keeps.fill(1, tail, length);
  markDensest(store, smoothed(store, store.score, head, tail - head), head, left, keeps);
  // Lines with words that a call is after have some room of their own: they push out no others.
  if (words !== null)
    markDensest(store, smoothed(store, gained(store, words), head, tail - head), head, left * WORDS_SHARE, keeps);
  // The first lines that tell of a failure stay, and the first that stand out: at the end they may be the only ones. If many
  // lines tell of failures by names of their own, that leaves no less room for those that stand out.
  const isSign = signFinder(store);
  const isOdd = oddFinder(store, held);
  let signs = 0;
  let odd = 0;
  for (let row = head; row < tail; row++) {
    if (keeps[row] === 1) continue;
    const isCommon = held.shapes.of(store.shapeSlot[row] as number) > MOST_TELLING;
    if (odd < MOST_TELLING && isOdd(row) > 0) odd++;
    else if (signs < MOST_TELLING && !isCommon && isSign(row)) signs++;
    else continue;
    keeps[row] = 1;
  }
  store.retain(keeps);
  return Math.max(2 * heldChars(roomChars), 1.5 * heldCost(store));
}

/** Marks the rows from `head` on that are worth most for their length, up to what is left. */
function markDensest(store: UnitStore, values: Float64Array, head: number, left: number, keeps: Uint8Array): void {
  const steps = new Float64Array(STEPS);
  const step = new Uint16Array(values.length);
  // From the step of the row before it is not far: faster than a logarithm.
  let at = 0;
  for (let row = 0; row < values.length; row++) {
    const cost = costOf(store, head + row);
    const density = (values[row] as number) / cost;
    while (at > 0 && density < (STEP_STARTS[at] as number)) at--;
    while (at < STEPS - 1 && density >= (STEP_STARTS[at + 1] as number)) at++;
    step[row] = at;
    steps[at] = (steps[at] as number) + cost;
  }
  let lowest = STEPS;
  let room = left;
  while (lowest > 0 && room - (steps[lowest - 1] as number) > 0) room -= steps[--lowest] as number;
  for (let row = 0; row < values.length; row++) if ((step[row] as number) >= lowest) keeps[head + row] = 1;
}

/** The scores so far, with what the words of a focus add to them. */
function gained({ score, words, length }: UnitStore, counts: WordCounts): Float32Array {
  return score.slice(0, length).map((each, row) => each + counts.gain(words[row] as number));
}

function costOf({ shownChars }: UnitStore, row: number): number {
  return (shownChars[row] as number) + LINE_COST;
}

/** How an output is read. */
export interface Reading {
  /** About how many characters can be shown. */
  roomChars: number;
  /** Every line of the first so many bytes is judged; of the rest what a quick look finds, within bounds, and the end. */
  fullBytes: number;
  focus?: Focus | undefined;
  known?: KnownLines | undefined;
}

/** Lines are held up to this many times the room; more where the room is small. */
const HELD_ROOMS = 5;
const SMALL_HELD_ROOMS = 24;
const SMALL_HELD_CHARS = 250_000;

/** How many characters of lines are held on to while the output comes. */
export function heldChars(roomChars: number): number {
  return Math.max(HELD_ROOMS * roomChars, Math.min(SMALL_HELD_ROOMS * roomChars, SMALL_HELD_CHARS));
}
