import type { Size } from "../../../contract/size.ts";
import { failingStatus, hasStatus } from "../../fold/noise.ts";
import { type Budget, decode, overBudget, shareOf } from "../fit.ts";
import type { WordCounts } from "../focus/word-counts.ts";
import { mayTell, mayTellAtAll } from "./quick-scan.ts";
import { addGaps, type UnitCosts } from "./select-rows.ts";
import {
  IS_BLANK,
  IS_FOCUSED,
  IS_HEADER,
  IS_MESSAGE,
  IS_NEW,
  IS_VERDICT,
  MOST_RARE,
  REWRITTEN,
  type ShapeCounts,
  type UnitStore,
} from "./unit-store.ts";

/** Share of the room that the end gets if something failed, whatever it is worth. The start gets none: it seldom tells why. */
const FAILURE_TAIL = 0.015;
/** What the last line alone may take of it then: it often says how it ended. */
const LAST_LINE = 0.04;
/** Share that both ends get together if nothing did, and what of it the start gets for a head share of 1. */
const PASSING_SHARE = 0.55;
const PASSING_HEAD = 0.5;

/** Marks the rows at the end, or if nothing failed at both ends, that are always kept. `headShare` divides the room of both. */
export function pinEdges({ store, costs, budget, pinned }: Pinning, isFailure: boolean, headShare: number): void {
  const passing = { head: PASSING_HEAD * headShare, tail: PASSING_SHARE - PASSING_HEAD * headShare };
  const { head, tail } = isFailure ? { head: 0, tail: FAILURE_TAIL } : passing;
  const walk = (row: number, step: number, share: number) => {
    const size = { bytes: 0, chars: 0, lines: 0, tokens: 0 };
    for (let at = row; at >= 0 && at < store.length; at += step) {
      costs.add(size, at, 1);
      const isLast = isFailure && at === store.length - 1;
      if (overBudget(size, shareOf(budget, isLast ? LAST_LINE : share)) !== null) return;
      pinned[at] = 1;
    }
  };
  if (store.sequence[0] === 0) walk(0, 1, head);
  walk(store.length - 1, -1, tail);
}

/** True if all that is marked has room, with a marker for each gap. */
export function fitsPinned({ store, costs, budget, gap, pinned }: Pinning): boolean {
  const size: Size = { bytes: 0, chars: 0, lines: 0, tokens: 0 };
  addGaps(size, gap, 1);
  for (let row = 0; row < store.length; row++) {
    if (pinned[row] === 0) continue;
    costs.add(size, row, 1);
    if (row > 0 && pinned[row - 1] === 0) addGaps(size, gap, 1);
  }
  return overBudget(size, budget) === null;
}

/** Share of the room that lone signs of a failure get, whatever their surroundings say. */
const SIGN_SHARE = 0.3;
/** What they get if many lines tell of failures, and only those of rare shapes are taken for signs. */
const RARE_SIGN_SHARE = 0.15;
/** The first of them may take more: in little room it is all that matters. */
const FIRST_SHARE = 0.5;
const MOST_SIGNS = 5;
const MOST_ODD = 12;
/** Share of the room for lines that somebody is after: some is left for what is around them. */
const FOCUS_SHARE = 0.7;
/** Share of the room for lines that a call seems to be for: nobody asked for them. */
const INTENT_SHARE = 0.2;
const MOST_INTENDED = 8;
/** A line that is worth less than this share of the best one is left to its score. */
const LEAST_OF_BEST = 0.5;
/** If more lines than this tell of failures, the lines around them decide which of them count. */
export const MOST_TELLING = 40;
const MAX_SIGN_CHARS = 2000;
const SIGN =
  /\b(?:error|fatal|panic|exception|fail(?:ed|ure)?|traceback|abort(?:ed)?|crash(?:ed)?|killed|denied|refused|cannot|unable to|caused by|segmentation fault|out of memory|no space left|(?:command )?not found)\b(?!s? ?[:=] ?0\b)|[a-z]Error\b|[a-z]Exception\b/i;
const NO_SIGN = /\b(?:0|no|without|zero) (?:errors?|fail(?:ed|ures?)?|exceptions?)\b|\bok\b|\bpass(?:ed)?\b|[✓✔]/i;

/** What pinning rows looks at. */
export interface Pinning {
  store: UnitStore;
  costs: UnitCosts;
  budget: Budget;
  /** What a gap's marker takes: each row may open one. */
  gap: Size;
  pinned: Uint8Array;
}

/**
 * Marks the few lines that by themselves tell of a failure, or are new: in a quiet output they are what matters. Of lines that
 * differ only in numbers the best is enough.
 */
export function pinSigns(pinning: Pinning, rows: number[], share = SIGN_SHARE): void {
  if (rows.length > MOST_TELLING) return;
  const { store } = pinning;
  const best = new Map<number, number>();
  for (const row of rows) {
    const shape = store.shapeSlot[row] as number;
    const other = best.get(shape);
    if (other === undefined || score(store, row) > score(store, other)) best.set(shape, row);
  }
  pinBest(pinning, [...best.values()], MOST_SIGNS, share);
}

/** Marks lines that stand out. */
export function pinOdd(pinning: Pinning, odd: number[]): void {
  pinBest(pinning, odd, MOST_ODD, SIGN_SHARE);
}

/** Share of the room for what exceptions say; the newest may take all of it, and so may the other end of its chain. */
const MESSAGE_SHARE = 0.1;

/** Marks what exceptions say, the newest first: in little room that is worth more than both ends. */
export function pinMessages(pinning: Pinning, messages: number[]): void {
  const { store, costs, budget, gap, pinned } = pinning;
  const size: Size = { bytes: 0, chars: 0, lines: 0, tokens: 0 };
  addGaps(size, gap, 1);
  for (const row of messages.toReversed()) {
    costs.add(size, row, 1);
    addGaps(size, gap, 1);
    if (overBudget(size, pinned.includes(1) ? shareOf(budget, MESSAGE_SHARE) : budget) !== null) break;
    pinned[row] = 1;
  }
  const first = firstOfChain(store, messages);
  if (first === undefined || pinned[first] === 1) return;
  pinned[first] = 1;
  if (!fitsPinned(pinning)) pinned[first] = 0;
}

/** How the message of an exception begins that led to the one above it, or that the one above it led to. */
const LINKED = /^\s*(?:caused by: |\[cause\]: |---> |next )/i;
/** Stands between two traces in Python. */
const LINK = /^(?:During handling of|The) above exception\b/;
/** How far below a message a link stands, in rows. */
const LINK_REACH = 3;

/** The first message of the chain that the newest ends: what was thrown last in one language is what it all began with in another. */
function firstOfChain(store: UnitStore, messages: number[]): number | undefined {
  const text = (row: number) => {
    const at = store.byteAt[row] as number;
    return decode(store.bytes.subarray(at, at + Math.min(store.byteLength[row] as number, MAX_SIGN_CHARS)));
  };
  const isLinked = (row: number, at: number) => {
    const above = messages[at - 1];
    if (above === undefined) return false;
    const below = Array.from({ length: Math.min(LINK_REACH, row - above - 1) }, (_, index) => above + 1 + index);
    return LINKED.test(text(row)) || below.some((each) => LINK.test(text(each)));
  };
  return messages[messages.findLastIndex((row, at) => !isLinked(row, at))];
}

/** Marks lines that somebody is after: those with the rarest words first. */
export function pinFocus(pinning: Pinning, words: WordCounts): void {
  const weights = weightsOf(pinning.store, words);
  pinBest(pinning, [...weights.keys()], weights.size, FOCUS_SHARE, weights);
}

/** Share of the room for lines that a policy keeps. */
const KEEP_SHARE = 0.5;

/** Marks lines that a policy keeps: those that tell most first. */
export function pinKept(pinning: Pinning, keeps: number): void {
  const rows = rowsWith(pinning.store, keeps);
  pinBest(pinning, rows, rows.length, KEEP_SHARE);
}

/** Rows in which one of these words stands. */
export function rowsWith({ words, length }: UnitStore, bits: number): number[] {
  const rows: number[] = [];
  for (let row = 0; row < length; row++) if (((words[row] as number) & bits) !== 0) rows.push(row);
  return rows;
}

/** Rows that a call seems to be for, by words that are rare here; the best first. */
export function intendedRows(store: UnitStore, words: WordCounts): number[] {
  const weights = weightsOf(store, words);
  let best = 0;
  for (const weight of weights.values()) best = Math.max(best, weight);
  return [...weights]
    .filter(([, weight]) => weight >= LEAST_OF_BEST * best)
    .sort(([a, weight], [b, other]) => other - weight || score(store, b) - score(store, a) || a - b)
    .slice(0, MOST_INTENDED)
    .map(([row]) => row);
}

/** Share of the room for the lines that are worth most by themselves, whatever a call seems to be for. */
const FIRM_SHARE = 0.5;

/**
 * Of rows that were chosen for what they say, marks those that stay whatever a call seems to be for: all that tell of a
 * failure, and the others by what they tell, up to a share of the room. Marks nothing and gives false if they do not fit.
 */
export function pinFirm(pinning: Pinning, kept: Uint8Array): boolean {
  const { store, budget, pinned } = pinning;
  const { shapeSlot } = store;
  const isSign = (row: number) => ((store.flags[row] as number) & IS_MESSAGE) !== 0 || tells(store, row);
  const rows = [...kept.keys()].filter((row) => kept[row] === 1);
  const signs = rows.filter(isSign);
  const alike = new Map<number, number>();
  for (const row of rows) alike.set(shapeSlot[row] as number, (alike.get(shapeSlot[row] as number) ?? 0) + 1);
  // Of lines of one shape each tells less.
  const worth = (row: number) => score(store, row) - Math.log(alike.get(shapeSlot[row] as number) ?? 1);
  const others = rows.filter((row) => !isSign(row)).sort((a, b) => worth(b) - worth(a) || a - b);
  const mark = (count: number) => {
    pinned.fill(0);
    for (const row of signs) pinned[row] = 1;
    for (const row of others.slice(0, count)) pinned[row] = 1;
  };
  const within = { ...pinning, budget: shareOf(budget, FIRM_SHARE) };
  let fits = 0;
  for (let fails = others.length + 1; fails - fits > 1; ) {
    const middle = (fits + fails) >> 1;
    mark(middle);
    if (fitsPinned(within)) fits = middle;
    else fails = middle;
  }
  mark(fits);
  return fitsPinned(pinning);
}

/** Marks rows that a call seems to be for, or that a reader would miss, as far as what is marked already leaves room. */
export function pinIntent(pinning: Pinning, rows: readonly number[], share = INTENT_SHARE): void {
  const { costs, budget, gap, pinned } = pinning;
  const size: Size = { bytes: 0, chars: 0, lines: 0, tokens: 0 };
  for (const row of rows) {
    if (pinned[row] === 1) continue;
    costs.add(size, row, 1);
    addGaps(size, gap, 1);
    pinned[row] = 1;
    if (overBudget(size, shareOf(budget, share)) === null && fitsPinned(pinning)) continue;
    pinned[row] = 0;
    return;
  }
}

function score({ lineScore }: UnitStore, row: number): number {
  return lineScore[row] as number;
}

/** What the words that a line has are worth, for each row that has some. */
function weightsOf(store: UnitStore, words: WordCounts): Map<number, number> {
  const weights = new Map<number, number>();
  for (let row = 0; row < store.length; row++) {
    const weight = words.weight(store.words[row] as number);
    if (weight > 0) weights.set(row, weight);
  }
  return weights;
}

function pinBest(
  { store, costs, budget, gap, pinned }: Pinning,
  rows: number[],
  most: number,
  share: number,
  weights?: ReadonlyMap<number, number>,
): void {
  const weight = (row: number) => weights?.get(row) ?? 0;
  const size: Size = { bytes: 0, chars: 0, lines: 0, tokens: 0 };
  const best = rows
    .toSorted((a, b) => weight(b) - weight(a) || score(store, b) - score(store, a) || a - b)
    .slice(0, most);
  for (const [index, row] of best.entries()) {
    costs.add(size, row, 1);
    addGaps(size, gap, 1);
    const within = shareOf(budget, index === 0 ? Math.max(share, FIRST_SHARE) : share);
    if (overBudget(size, within) !== null) return;
    pinned[row] = 1;
  }
}

/** Rows that stand out, those of the rarest sorts first. */
export function oddRows(store: UnitStore, counts: LineCounts): number[] {
  const rarity = oddFinder(store, counts);
  const rows: { row: number; times: number }[] = [];
  for (let row = 0; row < store.length; row++) {
    const times = rarity(row);
    if (times > 0) rows.push({ row, times });
  }
  rows.sort((a, b) => a.times - b.times || a.row - b.row);
  // If lines of a sort are more than there may be, the sort does not stand out, nor does a commoner one.
  const most = rows[MOST_TELLING]?.times ?? Number.POSITIVE_INFINITY;
  return rows.filter(({ times }) => times < most).map(({ row }) => row);
}

/** Lines of a sort that names failures come no more often than this, or than the summary counts. */
const MOST_NAMES = 40;

/** Rows that name failures, one for each text. */
export function nameRows(store: UnitStore, { sorts, counted }: LineCounts & { counted: number }): number[] {
  const most = Math.max(MOST_NAMES, 2 * counted);
  const rows = new Map<number, number>();
  for (let row = 0; row < store.length; row++) {
    if (((store.flags[row] as number) & (IS_HEADER | IS_VERDICT)) === 0) continue;
    const text = store.textHash[row] as number;
    if (sorts.of(store.sortSlot[row] as number) <= most && !rows.has(text)) rows.set(text, row);
  }
  return [...rows.values()];
}

/** Share of the room for lines that name failures, if they are about as many as a summary counts: they come before context. */
const NAME_SHARE = 0.7;

/** Marks lines that name failures, those that tell most first. `counted` is how many failures the last summary counts. */
export function pinNames(pinning: Pinning, rows: number[], counted: number): void {
  const areCounted = counted > 1 && rows.length >= counted && rows.length <= 2 * counted;
  if (areCounted) pinBest(pinning, rows, rows.length, NAME_SHARE);
}

/** Rows of sorts that the last good run does not have. If they are many, none stands out, and the list is empty. */
export function newRows({ flags, length }: UnitStore): number[] {
  const rows: number[] = [];
  for (let row = 0; row < length; row++) if (((flags[row] as number) & IS_NEW) !== 0) rows.push(row);
  return rows.length > MOST_TELLING ? [] : rows;
}

/** Rows that tell of a failure, and the share of the room for those that are signs of it. */
export interface Telling {
  /** All of them; if they are many, those of rare shapes; some if these are many too. */
  rows: number[];
  share: number;
}

export function tellingRows(store: UnitStore, shapes: ShapeCounts): Telling {
  const some = (may: (row: number) => boolean) => {
    const rows: number[] = [];
    for (let row = 0; row < store.length && rows.length <= MOST_TELLING; row++) {
      if (may(row) && tells(store, row)) rows.push(row);
    }
    return rows;
  };
  const rows = some(() => true);
  if (rows.length <= MOST_TELLING) return { rows, share: SIGN_SHARE };
  return { rows: some((row) => shapes.of(store.shapeSlot[row] as number) <= MOST_RARE), share: RARE_SIGN_SHARE };
}

/** Rows that say what an exception was, each text once. */
export function messageRows(store: UnitStore): number[] {
  const rows = new Map<number, number>();
  for (let row = 0; row < store.length; row++)
    if (((store.flags[row] as number) & IS_MESSAGE) !== 0) rows.set(store.textHash[row] as number, row);
  return [...rows.values()];
}

/** Tells which rows match the focus, say what an exception was, or tell of a failure by one of the commoner words. */
export function signFinder(store: UnitStore): (row: number) => boolean {
  const { bytes, byteAt, byteLength } = store;
  return (row) => {
    if (((store.flags[row] as number) & (IS_FOCUSED | IS_MESSAGE | IS_VERDICT)) !== 0) return true;
    const at = byteAt[row] as number;
    // The quick look first: this is asked of every row that may be let go.
    return mayTell(bytes, at, at + (byteLength[row] as number)) && tells(store, row);
  };
}

function tells(store: UnitStore, row: number): boolean {
  if ((store.kind[row] as number) > REWRITTEN) return false;
  const at = store.byteAt[row] as number;
  const end = at + Math.min(store.byteLength[row] as number, MAX_SIGN_CHARS);
  // Few lines have such a word: most need not become text.
  if (!mayTellAtAll(store.bytes, at, end)) return false;
  const text = decode(store.bytes.subarray(at, end));
  return SIGN.test(text) && !NO_SIGN.test(text);
}

/** If an output has this many lines, and this many for each rare sort, its lines are alike: a line of a rare sort is odd. */
const LEAST_LINES = 200;
const LINES_OF_RARE = 20;
/** In a long output a sort is odd up to one line of so many. */
const LINES_OF_ODD = 500;
/** A status that comes more often is not odd. */
const MOST_OF_STATUS = 5;
/** Rows that are asked whether they have an HTTP status, and the share that must. */
const ASKED = 64;
const WITH_STATUS = 0.5;

/** How often lines of each shape came, and lines of each sort. */
export interface LineCounts {
  shapes: ShapeCounts;
  sorts: ShapeCounts;
}

/**
 * Tells how often lines of a row's sort came if it stands out from an output whose lines are otherwise alike, else 0. It may stand
 * out by its words, by its start where lines start alike and go on in many ways, or by a failed HTTP status.
 */
export function oddFinder(store: UnitStore, { shapes, sorts }: LineCounts): (row: number) => number {
  const areAlike = ({ lines, rare }: ShapeCounts) => lines >= LEAST_LINES && rare * LINES_OF_RARE <= lines;
  const most = ({ lines }: ShapeCounts) => Math.max(MOST_RARE, Math.min(MOST_TELLING, lines / LINES_OF_ODD));
  const rarity = areAlike(shapes)
    ? (row: number) => within(shapes.of(store.shapeSlot[row] as number), most(shapes))
    : areAlike(sorts)
      ? (row: number) => within(sorts.of(store.sortSlot[row] as number), most(sorts))
      : () => 0;
  const statuses = hasStatuses(store) ? new Map<number, number>() : null;
  if (statuses !== null)
    for (let row = 0; row < store.length; row++) {
      const status = statusOf(store, row);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  return (row) => {
    const isLine = (store.kind[row] as number) <= REWRITTEN && ((store.flags[row] as number) & IS_BLANK) === 0;
    if (!isLine) return 0;
    const times = rarity(row);
    if (times > 0 || statuses === null) return times;
    const status = statusOf(store, row);
    return status === 0 ? 0 : within(statuses.get(status) as number, MOST_OF_STATUS);
  };
}

/** A count that is not above the most, else 0. */
function within(count: number, most: number): number {
  return count <= most ? count : 0;
}

function hasStatuses(store: UnitStore): boolean {
  if (store.length < LEAST_LINES) return false;
  let found = 0;
  for (let asked = 0; asked < ASKED; asked++) {
    const row = Math.floor((asked * store.length) / ASKED);
    if (hasStatus(textOf(store, row))) found++;
  }
  return found >= ASKED * WITH_STATUS;
}

function statusOf(store: UnitStore, row: number): number {
  return failingStatus(textOf(store, row));
}

function textOf({ bytes, byteAt, byteLength }: UnitStore, row: number): string {
  const at = byteAt[row] as number;
  return decode(bytes.subarray(at, at + (byteLength[row] as number)));
}
