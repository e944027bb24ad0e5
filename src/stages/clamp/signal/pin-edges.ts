import { type Budget, overBudget, shareOf } from "../budget.ts";
import type { UnitCosts } from "./unit-costs.ts";
import type { UnitStore } from "./unit-store.ts";

/** Shares of the room that the start and the end get, whatever they are worth. */
const FAILURE_SHARES = { head: 0.005, tail: 0.03 };
const PASSING_SHARES = { head: 0.15, tail: 0.4 };

/** Marks the rows at both ends that are always kept. */
export function pinEdges(store: UnitStore, costs: UnitCosts, budget: Budget, isFailure: boolean): Uint8Array {
  const { head, tail } = isFailure ? FAILURE_SHARES : PASSING_SHARES;
  const pinned = new Uint8Array(store.length);
  const walk = (row: number, step: number, within: Budget) => {
    const size = { bytes: 0, chars: 0, lines: 0, tokens: 0 };
    for (let at = row; at >= 0 && at < store.length; at += step) {
      costs.add(size, at, 1);
      if (overBudget(size, within) !== null) return;
      pinned[at] = 1;
    }
  };
  if (store.sequence[0] === 0) walk(0, 1, shareOf(budget, head));
  walk(store.length - 1, -1, shareOf(budget, tail));
  return pinned;
}
