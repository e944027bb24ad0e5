import type { PruningPolicy } from "../../contract/policy.ts";
import { type PruneCut, type PruneFrame, type PruneItem, STEP, selectItems } from "./prune-item.ts";
import type { Weight } from "./weight.ts";

/** What to cut, and in words why or why not. */
export interface PrunePlan<Item extends PruneItem = PruneItem> {
  cuts: PruneCut<Item>[];
  why: string;
}

/** A request's weight against its window, in the policy's unit. */
export function measureAgainst({ windowTokens }: { windowTokens: number }, { estimate }: PruningPolicy) {
  return estimate === "chars/4"
    ? { capacity: windowTokens * 4, weigh: ({ chars }: Weight) => chars }
    : { capacity: windowTokens, weigh: ({ tokens }: Weight) => tokens };
}

/**
 * Plans from this request alone, so the next request may be cut elsewhere. `idleMs` is the time since the last request; null
 * if there was none.
 */
export function planEachRequest<Item extends PruneItem>(
  frame: PruneFrame<Item>,
  policy: PruningPolicy,
  idleMs: number | null,
): PrunePlan<Item> {
  const { softTrimRatio, hardClearRatio, hardClear, minPrunableToolChars } = policy;
  const isWarm = policy.mode === "cache-ttl" ? warmCache(policy.cacheTtlMs, idleMs) : null;
  if (isWarm !== null) return { cuts: [], why: isWarm };
  const { items, why } = selectItems(frame, policy);
  if (why !== null) return { cuts: [], why };
  const left = items.filter(({ step }) => step < STEP.cleared);
  if (policy.mode === "aggressive") {
    return { cuts: left.map((item) => ({ item, to: "cleared" })), why: "mode is aggressive" };
  }
  const { capacity, weigh } = measureAgainst(frame, policy);
  // In characters a result is the sum of its texts and a call is its arguments as JSON, as other programs count them.
  const isChars = policy.estimate === "chars/4";
  const joints = (item: Item) => (isChars ? frame.joints(item) : 0);
  let used = weigh(frame.total) - (isChars ? frame.excessChars() : 0);
  if (used / capacity < softTrimRatio) return { cuts: [], why: `the request is under ${softTrimRatio} of the window` };

  const cuts = new Map<Item, PruneCut<Item>>();
  let prunableChars = 0;
  const after = new Map<Item, number>();
  for (const item of left) {
    const whole = weigh(item.shown) - joints(item);
    const trimmed = item.step < STEP.trimmed ? frame.afterTrim(item) : null;
    if (trimmed !== null) {
      cuts.set(item, { item, to: "trimmed" });
      used += weigh(trimmed) - whole;
    }
    after.set(item, trimmed === null ? whole : weigh(trimmed));
    prunableChars += trimmed?.chars ?? item.shown.chars - joints(item);
  }
  const trimmed = `the request is at ${softTrimRatio} of the window or over`;
  if (used / capacity < hardClearRatio || !hardClear.enabled || prunableChars < minPrunableToolChars) {
    return { cuts: [...cuts.values()], why: trimmed };
  }
  for (const item of left) {
    if (used / capacity < hardClearRatio) break;
    used += weigh(frame.afterClear(item)) - (after.get(item) as number);
    cuts.set(item, { item, to: "cleared" });
  }
  return { cuts: [...cuts.values()], why: `trimmed, the request is still at ${hardClearRatio} of the window or over` };
}

/** Says why a prompt cache may still be read, or null if it is cold. */
function warmCache(cacheTtlMs: number, idleMs: number | null): string | null {
  if (cacheTtlMs === 0) return "cacheTtlMs is 0";
  if (idleMs === null) return "no earlier request of this conversation is known";
  return idleMs < cacheTtlMs ? `the last request was ${idleMs} ms ago, within ${cacheTtlMs}` : null;
}
