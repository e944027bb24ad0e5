import type { Size } from "../../../contract/size.ts";
import type { Budget } from "../budget.ts";
import type { UnitCosts } from "./unit-costs.ts";
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

/** What a choice of rows takes, the markers of its gaps included. */
export interface Taken {
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
