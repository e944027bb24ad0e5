import type { Unit } from "../../../contract/limits.ts";
import type { Size } from "../../../contract/size.ts";
import type { TokenCounter } from "../../../contract/token-counter.ts";
import { type Budget, decode, measureBytes, overBudget, UNITS } from "../fit.ts";
import { IS_MESSAGE, NOTE_FOLDED, type UnitStore } from "./unit-store.ts";

/** What showing each row takes, in the units that are limited. */
export class UnitCosts {
  readonly bytes: Int32Array;
  readonly chars: Int32Array;
  readonly tokens: Int32Array | null;

  constructor(store: UnitStore, counter: TokenCounter, countsTokens: boolean) {
    const { length, byteAt, byteLength, shownChars } = store;
    this.bytes = new Int32Array(length);
    this.chars = shownChars.slice(0, length);
    this.tokens = countsTokens ? new Int32Array(length) : null;
    for (let row = 0; row < length; row++) {
      const at = byteAt[row] as number;
      const to = at + (byteLength[row] as number);
      const isAscii = shownChars[row] === to - at;
      this.bytes[row] = isAscii ? to - at : measureBytes(store.bytes, at, to).bytes;
      if (this.tokens !== null) this.tokens[row] = counter.count(decode(store.bytes.subarray(at, to)));
    }
  }

  /** Adds (or with -1 takes away) a row. */
  add(size: Size, row: number, times: number): void {
    size.bytes += times * (this.bytes[row] as number);
    size.chars += times * (this.chars[row] as number);
    size.lines += times;
    if (this.tokens !== null) size.tokens += times * (this.tokens[row] as number);
  }

  /** Each row's share of the budget, all limited units together. */
  shares(budget: Budget): Float64Array {
    const shares = new Float64Array(this.bytes.length);
    const of = (unit: Unit) => (budget[unit] === Number.POSITIVE_INFINITY ? 0 : 1 / Math.max(1, budget[unit]));
    const [bytes, chars, lines, tokens] = [of("bytes"), of("chars"), of("lines"), of("tokens")];
    for (let row = 0; row < shares.length; row++) {
      shares[row] =
        bytes * (this.bytes[row] as number) +
        chars * (this.chars[row] as number) +
        lines +
        tokens * (this.tokens?.[row] ?? 0);
    }
    return shares;
  }
}

/** Returns a size's share of a budget, summed over all limited units. */
function shareOfBudget(size: Size, budget: Budget): number {
  return UNITS.reduce(
    (sum, unit) => (budget[unit] === Number.POSITIVE_INFINITY ? sum : sum + size[unit] / Math.max(1, budget[unit])),
    0,
  );
}

/** What rows are chosen by. */
interface Choosing {
  store: UnitStore;
  /** Below zero for a row that is never shown. */
  values: Float64Array;
  costs: UnitCosts;
  budget: Budget;
  /** What a gap's marker takes. */
  gap: Size;
  /** Rows in all, held or not. */
  units: number;
  /** Rows that are kept whatever they are worth. */
  pinned: Uint8Array;
}

/** What a choice of rows takes, the markers of its gaps included. */
interface Taken {
  size: Size;
  gaps: number;
}

/** Adds (or with fewer than none takes away) what gaps take. */
export function addGaps(size: Size, gap: Size, gaps: number): void {
  size.bytes += gaps * gap.bytes;
  size.chars += gaps * gap.chars;
  size.lines += gaps * gap.lines;
  size.tokens += gaps * gap.tokens;
}

/** Finds the best choice of rows where room has a price. */
class PricedRows {
  readonly #choosing: Choosing;
  readonly #shares: Float64Array;
  readonly #gapShare: number;
  /** Bit 0: keeping it is best after the one before was kept; bit 1: omitting it is best after that one was kept. */
  readonly #came: Uint8Array;

  constructor(choosing: Choosing, shares: Float64Array, gapShare: number) {
    this.#choosing = choosing;
    this.#shares = shares;
    this.#gapShare = gapShare;
    this.#came = new Uint8Array(shares.length);
  }

  /** Marks the best choice where a whole budget costs `price`, and a gap a share of that. */
  choose(price: number, kept: Uint8Array): void {
    const { values, pinned, units, store } = this.#choosing;
    const { length, sequence } = store;
    const came = this.#came;
    const shares = this.#shares;
    const gapPrice = price * this.#gapShare;
    let before = sequence[0] as number;
    let keep = (before === 0 ? 0 : -gapPrice) + ((values[0] as number) - price * (shares[0] as number));
    let omit = pinned[0] === 1 ? Number.NEGATIVE_INFINITY : -gapPrice;
    // None stands before the first.
    came[0] = 0;
    for (let at = 1; at < length; at++) {
      const here = sequence[at] as number;
      const afterGap = keep - gapPrice;
      const fromKept = here === before + 1 ? keep : afterGap;
      const gain = (values[at] as number) - price * (shares[at] as number);
      let bits = 0;
      if (fromKept >= omit) {
        keep = fromKept + gain;
        bits = 1;
      } else keep = omit + gain;
      if (afterGap >= omit) {
        omit = afterGap;
        bits |= 2;
      }
      if (pinned[at] === 1) omit = Number.NEGATIVE_INFINITY;
      came[at] = bits;
      before = here;
    }
    let isKept = (before === units - 1 ? keep : keep - gapPrice) >= omit;
    for (let at = length - 1; at >= 0; at--) {
      kept[at] = isKept ? 1 : 0;
      isKept = ((came[at] as number) & (isKept ? 1 : 2)) !== 0;
    }
  }
}

/** A gap counts as so many times the room of its marker, because it also costs its reader attention. */
const GAP_WEIGHT = 4;
/** The number of steps in the search for the price of room. */
const PRICE_STEPS = 26;
const LOWEST = -60;

/**
 * Chooses rows so that their values add up to most within the budget. Each gap costs its marker, so whole blocks are
 * chosen. With a price on room the best choice is one walk over the rows; the price is found by halving.
 */
export function selectRows(choosing: Choosing): Uint8Array {
  const { store, values, costs, budget, gap, pinned } = choosing;
  const { length } = store;
  const shares = costs.shares(budget);
  const gapShare = shareOfBudget(gap, budget) * GAP_WEIGHT;
  let best = 0;
  for (let row = 0; row < length; row++) best = Math.max(best, (values[row] as number) / (shares[row] as number));
  for (let row = 0; row < length; row++) if ((values[row] as number) < 0) pinned[row] = 0;
  const priced = new PricedRows(choosing, shares, gapShare);
  const chosen = pinned.slice();
  let taken = takenBy(choosing, chosen);
  const kept = new Uint8Array(length);
  let low = LOWEST;
  let high = 0;
  for (let step = 1; step <= PRICE_STEPS; step++) {
    const middle = (low + high) / 2;
    priced.choose(best * 2 ** middle, kept);
    const takes = takenBy(choosing, kept);
    if (overBudget(takes.size, budget) === null) {
      chosen.set(kept);
      taken = takes;
      high = middle;
    } else low = middle;
  }
  const needs = needsOf(store);
  const missing = dropLone(chosen, needs);
  if (missing.size > 0) taken = keepMissing(choosing, chosen, needs, missing);
  fillRoom(choosing, chosen, taken, { shares, needs });
  return chosen;
}

/** What a row needs to be shown with: nothing, or something that is not held any more. */
const NOTHING = -1;
const GONE = -2;

/** Finds the row that each row needs: a note needs its line, and the frames of a trace need their message. */
function needsOf({ length, kind, sequence, trace, flags }: UnitStore): Int32Array {
  const needs = new Int32Array(length).fill(NOTHING);
  const messages = new Map<number, number>();
  for (let row = 0; row < length; row++)
    if (((flags[row] as number) & IS_MESSAGE) !== 0) messages.set(trace[row] as number, row);
  for (let row = 0; row < length; row++) {
    if (kind[row] === NOTE_FOLDED) needs[row] = sequence[row - 1] === (sequence[row] as number) - 1 ? row - 1 : GONE;
    else if (trace[row] !== 0) needs[row] = messages.get(trace[row] as number) ?? NOTHING;
    if (needs[row] === row) needs[row] = NOTHING;
  }
  return needs;
}

function lacks(kept: Uint8Array, needs: Int32Array, row: number): boolean {
  const need = needs[row] as number;
  return need === GONE || (need !== NOTHING && kept[need] === 0);
}

/** Lets go of rows without what they need. Gives what that was. */
function dropLone(kept: Uint8Array, needs: Int32Array): Set<number> {
  const missing = new Set<number>();
  for (let row = 0; row < kept.length; row++) {
    if (kept[row] === 0 || !lacks(kept, needs, row)) continue;
    kept[row] = 0;
    missing.add(needs[row] as number);
  }
  return missing;
}

/** Keeps what was missing, as far as there is room. */
function keepMissing(choosing: Choosing, kept: Uint8Array, needs: Int32Array, missing: ReadonlySet<number>): Taken {
  const { budget, values } = choosing;
  let taken = takenBy(choosing, kept);
  for (const row of missing) {
    if (row === GONE || (values[row] as number) < 0 || lacks(kept, needs, row)) continue;
    kept[row] = 1;
    const takes = takenBy(choosing, kept);
    if (overBudget(takes.size, budget) === null) taken = takes;
    else kept[row] = 0;
  }
  return taken;
}

/** What rows take. */
function takenBy({ store, costs, gap, units }: Choosing, kept: Uint8Array): Taken {
  const { length, sequence } = store;
  const size: Size = { bytes: 0, chars: 0, lines: 0, tokens: 0 };
  let gaps = 0;
  let next = 0;
  for (let at = 0; at < length; at++) {
    if (kept[at] === 0) continue;
    if (sequence[at] !== next) gaps++;
    next = (sequence[at] as number) + 1;
    costs.add(size, at, 1);
  }
  if (next !== units) gaps++;
  addGaps(size, gap, gaps);
  return { size, gaps };
}

/** Uses what room is left, where that opens no gap: the most valuable for its size first. */
function fillRoom(
  choosing: Choosing,
  kept: Uint8Array,
  taken: Taken,
  { shares, needs }: { shares: Float64Array; needs: Int32Array },
): void {
  const { store, values, costs, budget, gap, units } = choosing;
  const { size } = taken;
  const { length, sequence } = store;
  const isKept = (row: number, at: number) => row >= 0 && row < length && sequence[row] === at && kept[row] === 1;
  const order = fillable(choosing, kept, taken, shares);
  order.sort(
    (a, b) => (values[b] as number) / (shares[b] as number) - (values[a] as number) / (shares[a] as number) || a - b,
  );
  for (let filled = true; filled; ) {
    filled = false;
    for (const row of order) {
      if (kept[row] === 1 || (values[row] as number) < 0) continue;
      const at = sequence[row] as number;
      const joinsBefore = at === 0 || isKept(row - 1, at - 1);
      const joinsAfter = at === units - 1 || isKept(row + 1, at + 1);
      if (!joinsBefore && !joinsAfter) continue;
      if (lacks(kept, needs, row)) continue;
      const closed = joinsBefore && joinsAfter ? -1 : 0;
      costs.add(size, row, 1);
      addGaps(size, gap, closed);
      if (overBudget(size, budget) === null) {
        kept[row] = 1;
        filled = true;
        continue;
      }
      costs.add(size, row, -1);
      addGaps(size, gap, -closed);
    }
  }
}

/** Rows so near to kept ones (or to an end) that room may be left for all rows up to them, were every gap closed. */
function fillable(
  { store, budget, gap, units }: Choosing,
  kept: Uint8Array,
  { size, gaps }: Taken,
  shares: Float64Array,
): number[] {
  const { length, sequence } = store;
  let room = 0;
  for (const unit of UNITS) {
    if (budget[unit] === Number.POSITIVE_INFINITY) continue;
    room += (budget[unit] - size[unit] + gaps * gap[unit]) / Math.max(1, budget[unit]);
  }
  // Sums of shares are not exact.
  room += 1e-6;
  const near = new Uint8Array(length);
  let left = 0;
  for (let row = 0; row < length; row++) {
    const follows = row > 0 && sequence[row] === (sequence[row - 1] as number) + 1;
    left = kept[row] === 1 || sequence[row] === 0 ? room : follows ? left : 0;
    if (kept[row] === 1) continue;
    left -= shares[row] as number;
    if (left >= 0) near[row] = 1;
  }
  left = 0;
  for (let row = length - 1; row >= 0; row--) {
    const follows = row + 1 < length && (sequence[row] as number) + 1 === sequence[row + 1];
    left = kept[row] === 1 || sequence[row] === units - 1 ? room : follows ? left : 0;
    if (kept[row] === 1) continue;
    left -= shares[row] as number;
    if (left >= 0) near[row] = 1;
  }
  const rows: number[] = [];
  for (let row = 0; row < length; row++) if (near[row] === 1) rows.push(row);
  return rows;
}
