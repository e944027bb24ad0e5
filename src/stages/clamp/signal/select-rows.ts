import type { Size } from "../../../contract/size.ts";
import { overBudget } from "../budget.ts";
import { addGaps, type Choosing, type Taken } from "./choosing.ts";
import { fillRoom } from "./fill-room.ts";
import { LiveRows } from "./live-rows.ts";
import { shareOfBudget } from "./unit-costs.ts";

/** A gap costs its reader more than its marker's room. */
const GAP_WEIGHT = 4;
/** How often the price of room is halved in on. */
const PRICE_STEPS = 26;
/** After each so many steps, rows that are surely too dear are left out of the next ones. */
const DROP_STEPS = 5;
const LOWEST = -60;

/**
 * Chooses rows so that their values add up to most within the budget. Each gap costs its marker, so whole blocks are
 * chosen. With a price on room the best choice is one walk over the rows; the price is found by halving.
 */
export function selectRows(choosing: Choosing): Uint8Array {
  const { store, values, costs, budget, gap, pinned, units } = choosing;
  const { length } = store;
  const shares = costs.shares(budget);
  const gapShare = shareOfBudget(gap, budget) * GAP_WEIGHT;
  let best = 0;
  for (let row = 0; row < length; row++) best = Math.max(best, (values[row] as number) / (shares[row] as number));
  const live = new LiveRows(store, values, shares, pinned, units);
  const chosen = pinned.slice();
  let taken = takenBy(choosing, live, chosen);
  const kept = new Uint8Array(length);
  let low = LOWEST;
  let high = 0;
  for (let step = 1; step <= PRICE_STEPS; step++) {
    const middle = (low + high) / 2;
    live.choose(best * 2 ** middle, gapShare, kept);
    const takes = takenBy(choosing, live, kept);
    if (overBudget(takes.size, budget) === null) {
      live.copy(kept, chosen);
      taken = takes;
      high = middle;
    } else low = middle;
    if (step % DROP_STEPS === 0 && low > LOWEST) live.drop(best * 2 ** low, gapShare);
  }
  fillRoom(choosing, chosen, taken, shares);
  return chosen;
}

function takenBy({ costs, gap, units }: Choosing, { length, rows, sequence }: LiveRows, kept: Uint8Array): Taken {
  const size: Size = { bytes: 0, chars: 0, lines: 0, tokens: 0 };
  let gaps = 0;
  let next = 0;
  for (let at = 0; at < length; at++) {
    if (kept[at] === 0) continue;
    if (sequence[at] !== next) gaps++;
    next = (sequence[at] as number) + 1;
    costs.add(size, rows[at] as number, 1);
  }
  if (next !== units) gaps++;
  addGaps(size, gap, gaps);
  return { size, gaps };
}
