import type { Unit } from "../../../contract/limits.ts";
import type { Size } from "../../../contract/size.ts";
import type { TokenCounter } from "../../../contract/token-counter.ts";
import { type Budget, UNITS } from "../budget.ts";
import { decode, measureBytes } from "../fit.ts";
import type { UnitStore } from "./unit-store.ts";

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

/** A size's share of a budget, all limited units together. */
export function shareOfBudget(size: Size, budget: Budget): number {
  return UNITS.reduce(
    (sum, unit) => (budget[unit] === Number.POSITIVE_INFINITY ? sum : sum + size[unit] / Math.max(1, budget[unit])),
    0,
  );
}
