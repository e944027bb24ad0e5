import type { PruningPolicy } from "../../contract/policy.ts";
import { fairShares } from "../clamp/fair-shares.ts";
import type { PruneItem } from "./prune-item.ts";

/** A result that no model has seen yet, and the characters it may have. */
export interface BatchShare<Item extends PruneItem = PruneItem> {
  item: Item;
  maxChars: number;
}

/**
 * Brings results that came together under one budget: small ones whole, the others in fair shares, none below the floor.
 * Empty if they fit. Results that are not ours to change count, and keep what they have.
 */
export function planBatch<Item extends PruneItem>(
  newest: readonly Item[],
  { batch, estimate }: Pick<PruningPolicy, "batch" | "estimate">,
  windowTokens: number,
): BatchShare<Item>[] {
  const chars = newest.reduce((sum, { shown }) => sum + shown.chars, 0);
  const tokens = estimate === "chars/4" ? chars / 4 : newest.reduce((sum, { shown }) => sum + shown.tokens, 0);
  const windowChars = tokens === 0 ? chars : (batch.windowShare * windowTokens * chars) / tokens;
  const budget = Math.floor(Math.min(batch.maxChars, windowChars));
  if (chars <= budget) return [];
  const open = newest.filter(({ untouchable }) => !untouchable);
  const taken = newest.reduce((sum, item) => sum + (item.untouchable ? item.shown.chars : 0), 0);
  const shares = fairShares(
    open.map(({ shown }) => shown.chars),
    Math.max(0, budget - taken),
  );
  return open
    .map((item, at) => ({ item, maxChars: Math.max(batch.floorChars, shares[at] as number) }))
    .filter(({ item, maxChars }) => maxChars < item.shown.chars);
}
