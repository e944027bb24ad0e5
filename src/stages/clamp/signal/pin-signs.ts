import type { Size } from "../../../contract/size.ts";
import { type Budget, overBudget, shareOf } from "../budget.ts";
import { decode } from "../fit.ts";
import { addGaps } from "./choosing.ts";
import { oddFinder } from "./odd-rows.ts";
import { mayTell, mayTellAtAll } from "./quick-look.ts";
import type { ShapeCounts } from "./shape-counts.ts";
import type { UnitCosts } from "./unit-costs.ts";
import { HAS_ALL_WORDS, IS_FOCUSED, REWRITTEN, type UnitStore } from "./unit-store.ts";

/** Share of the room that lone signs of a failure get, whatever their surroundings say. */
const SIGN_SHARE = 0.2;
/** The first of them may take more: in little room it is all that matters. */
const FIRST_SHARE = 0.5;
const MOST_SIGNS = 5;
/** Share of the room for lines that somebody is after: some is left for what is around them. */
const FOCUS_SHARE = 0.7;
/** More than any line can score: what has all the words comes first. */
const ALL_WORDS_GAIN = 1000;
/** Where more lines than this tell of failures, what is around them says which of them count. */
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

/** Marks the few lines that by themselves tell of a failure, or stand out: in a quiet output they are what matters. */
export function pinSigns(pinning: Pinning, telling: number[]): void {
  if (telling.length <= MOST_TELLING) pinBest(pinning, telling, MOST_SIGNS, SIGN_SHARE);
}

/** Marks lines that somebody is after. */
export function pinFocus(pinning: Pinning): void {
  const { store } = pinning;
  const rows: number[] = [];
  for (let row = 0; row < store.length; row++) if (isFocused(store, row)) rows.push(row);
  pinBest(pinning, rows, rows.length, FOCUS_SHARE);
}

function pinBest({ store, costs, budget, gap, pinned }: Pinning, rows: number[], most: number, share: number): void {
  const hasAll = (row: number) => ((store.flags[row] as number) & HAS_ALL_WORDS) !== 0;
  const score = (row: number) => (store.lineScore[row] as number) + (hasAll(row) ? ALL_WORDS_GAIN : 0);
  const size: Size = { bytes: 0, chars: 0, lines: 0, tokens: 0 };
  const best = rows.toSorted((a, b) => score(b) - score(a) || a - b).slice(0, most);
  for (const [index, row] of best.entries()) {
    costs.add(size, row, 1);
    addGaps(size, gap, 1);
    const within = shareOf(budget, index === 0 ? Math.max(share, FIRST_SHARE) : share);
    if (overBudget(size, within) !== null) return;
    pinned[row] = 1;
  }
}

/** Rows that stand out; none if they are many: then none does. */
export function oddRows(store: UnitStore, shapes: ShapeCounts): number[] {
  const isOdd = oddFinder(store, shapes);
  const rows: number[] = [];
  for (let row = 0; row < store.length && rows.length <= MOST_TELLING; row++) if (isOdd(row)) rows.push(row);
  return rows.length > MOST_TELLING ? [] : rows;
}

/** Rows that tell of a failure: all of them, or some if they are many. */
export function tellingRows(store: UnitStore): number[] {
  const rows: number[] = [];
  for (let row = 0; row < store.length && rows.length <= MOST_TELLING; row++) {
    if (tells(store, row)) rows.push(row);
  }
  return rows;
}

/** Says which rows somebody is after, or tell of a failure by one of the commoner words. */
export function signFinder(store: UnitStore): (row: number) => boolean {
  const { bytes, byteAt, byteLength } = store;
  return (row) => {
    if (isFocused(store, row)) return true;
    const at = byteAt[row] as number;
    // The quick look first: this is asked of every row that may be let go.
    return mayTell(bytes, at, at + (byteLength[row] as number)) && tells(store, row);
  };
}

function isFocused({ flags }: UnitStore, row: number): boolean {
  return ((flags[row] as number) & IS_FOCUSED) !== 0;
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
