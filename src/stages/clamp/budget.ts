import type { Limits, Unit } from "../../contract/limits.ts";
import type { Size } from "../../contract/size.ts";
import type { TokenCounter } from "../../contract/token-counter.ts";

/** A size's units in the order in which ties between limits are told. */
export const UNITS: Unit[] = ["lines", "bytes", "chars", "tokens"];

/** What is left while working; Infinity where no limit applies. */
export type Budget = Size;

/** Limits as a budget. */
export function budgetOf(limits: Limits): Budget {
  return {
    bytes: limits.maxBytes ?? Number.POSITIVE_INFINITY,
    chars: limits.maxChars ?? Number.POSITIVE_INFINITY,
    lines: limits.maxLines ?? Number.POSITIVE_INFINITY,
    tokens: limits.maxTokens ?? Number.POSITIVE_INFINITY,
  };
}

/** What is left of a budget, never below nothing. */
export function spend(budget: Budget, size: Size): Budget {
  return combine(budget, size, (has, takes) => (takes === Number.POSITIVE_INFINITY ? 0 : Math.max(0, has - takes)));
}

/** A share of a budget, in whole units. */
export function shareOf(budget: Budget, share: number): Budget {
  return combine(budget, budget, (has) => (has === Number.POSITIVE_INFINITY ? has : Math.floor(has * share)));
}

function combine(a: Size, b: Size, join: (a: number, b: number) => number): Size {
  return {
    bytes: join(a.bytes, b.bytes),
    chars: join(a.chars, b.chars),
    lines: join(a.lines, b.lines),
    tokens: join(a.tokens, b.tokens),
  };
}

/** The first unit in which `size` is over `budget`, or null if it fits. */
export function overBudget(size: Size, budget: Budget): Unit | null {
  if (size.lines > budget.lines) return "lines";
  if (size.bytes > budget.bytes) return "bytes";
  if (size.chars > budget.chars) return "chars";
  return size.tokens > budget.tokens ? "tokens" : null;
}

/** The most source bytes that these limits can ever show: what a clamp needs to hold. */
export function capacityBytes(limits: Limits, counter: TokenCounter): number {
  const { bytes, chars, tokens } = budgetOf(limits);
  return Math.min(bytes, chars * 3, tokens * counter.maxBytesPerToken);
}
