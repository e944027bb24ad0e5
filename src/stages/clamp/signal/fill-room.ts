import { overBudget, UNITS } from "../budget.ts";
import { addGaps, type Choosing, type Taken } from "./choosing.ts";

const FILL_PASSES = 6;

/** Uses what room is left, where that opens no gap: the most valuable for its size first. */
export function fillRoom(choosing: Choosing, kept: Uint8Array, taken: Taken, shares: Float64Array): void {
  const { store, values, costs, budget, gap, units } = choosing;
  const { size } = taken;
  const { length, sequence } = store;
  const isKept = (row: number, at: number) => row >= 0 && row < length && sequence[row] === at && kept[row] === 1;
  const order = fillable(choosing, kept, taken, shares);
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
