import type { Size } from "../../../contract/size.ts";
import { type Budget, overBudget } from "../budget.ts";
import { shareOfBudget, type UnitCosts } from "./unit-costs.ts";
import type { UnitStore } from "./unit-store.ts";

/** What rows are chosen by. */
export interface Choosing {
  store: UnitStore;
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

/** A gap costs its reader more than its marker's room. */
const GAP_WEIGHT = 4;
/** How often the price of room is halved in on. */
const PRICE_STEPS = 26;
const FILL_PASSES = 6;

/**
 * Chooses rows so that their values add up to most within the budget. Each gap costs its marker, so whole blocks are
 * chosen. With a price on room the best choice is one walk over the rows; the price is found by halving.
 */
export function selectRows(choosing: Choosing): Uint8Array {
  const { store, values, costs, budget, gap } = choosing;
  const shares = costs.shares(budget);
  const gapShare = shareOfBudget(gap, budget) * GAP_WEIGHT;
  let best = 0;
  for (let row = 0; row < store.length; row++) best = Math.max(best, (values[row] as number) / (shares[row] as number));
  let low = -60;
  let high = 0;
  let chosen: Uint8Array | null = null;
  for (let step = 0; step < PRICE_STEPS; step++) {
    const middle = (low + high) / 2;
    const kept = bestAt(choosing, shares, best * 2 ** middle, gapShare);
    if (overBudget(sizeOf(choosing, kept), budget) === null) {
      chosen = kept;
      high = middle;
    } else low = middle;
  }
  const kept = chosen ?? choosing.pinned.slice();
  fill(choosing, kept, shares);
  return kept;
}

/** The best choice where a whole budget costs `price`. */
function bestAt(
  { store, values, pinned, units }: Choosing,
  shares: Float64Array,
  price: number,
  gapShare: number,
): Uint8Array {
  const { length, sequence } = store;
  // Bit 0: keeping the row is best after the row before was kept; bit 1: omitting it is best after that one was kept.
  const came = new Uint8Array(length);
  const gapPrice = price * gapShare;
  let keep = sequence[0] === 0 ? 0 : -gapPrice;
  let omit = -gapPrice;
  for (let row = 0; row < length; row++) {
    const hole = row > 0 && (sequence[row] as number) !== (sequence[row - 1] as number) + 1;
    const fromKept = row === 0 ? keep : hole ? keep - gapPrice : keep;
    const fromOmitted = row === 0 ? Number.NEGATIVE_INFINITY : omit;
    const kept = fromKept >= fromOmitted;
    const gain = (values[row] as number) - price * (shares[row] as number);
    const omitted = row === 0 ? false : keep - gapPrice >= omit;
    came[row] = (kept ? 1 : 0) | (omitted ? 2 : 0);
    const nextOmit = pinned[row] === 1 ? Number.NEGATIVE_INFINITY : row === 0 ? omit : omitted ? keep - gapPrice : omit;
    keep = (kept ? fromKept : fromOmitted) + gain;
    omit = nextOmit;
  }
  const result = new Uint8Array(length);
  const isWhole = sequence[length - 1] === units - 1;
  let isKept = (isWhole ? keep : keep - gapPrice) >= omit;
  for (let row = length - 1; row >= 0; row--) {
    result[row] = isKept ? 1 : 0;
    isKept = ((came[row] as number) & (isKept ? 1 : 2)) !== 0;
  }
  return result;
}

/** What a choice takes, markers included. */
function sizeOf({ store, costs, gap, units }: Choosing, kept: Uint8Array): Size {
  const size: Size = { bytes: 0, chars: 0, lines: 0, tokens: 0 };
  let gaps = 0;
  let next = 0;
  for (let row = 0; row < store.length; row++) {
    if (kept[row] === 0) continue;
    if (store.sequence[row] !== next) gaps++;
    next = (store.sequence[row] as number) + 1;
    costs.add(size, row, 1);
  }
  if (next !== units) gaps++;
  addGaps(size, gap, gaps);
  return size;
}

function addGaps(size: Size, gap: Size, gaps: number): void {
  size.bytes += gaps * gap.bytes;
  size.chars += gaps * gap.chars;
  size.lines += gaps * gap.lines;
  size.tokens += gaps * gap.tokens;
}

/** Uses what room is left, where that opens no gap: the most valuable for its size first. */
function fill(choosing: Choosing, kept: Uint8Array, shares: Float64Array): void {
  const { store, values, costs, budget, gap, units } = choosing;
  const { length, sequence } = store;
  const size = sizeOf(choosing, kept);
  const isKept = (row: number, at: number) => row >= 0 && row < length && sequence[row] === at && kept[row] === 1;
  const order: number[] = [];
  for (let row = 0; row < length; row++) if (kept[row] === 0) order.push(row);
  order.sort(
    (a, b) => (values[b] as number) / (shares[b] as number) - (values[a] as number) / (shares[a] as number) || a - b,
  );
  for (let pass = 0; pass < FILL_PASSES; pass++) {
    let filled = false;
    for (const row of order) {
      if (kept[row] === 1) continue;
      const at = sequence[row] as number;
      const joinsBefore = at === 0 || isKept(row - 1, at - 1);
      const joinsAfter = at === units - 1 || isKept(row + 1, at + 1);
      if (!joinsBefore && !joinsAfter) continue;
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
    if (!filled) return;
  }
}
