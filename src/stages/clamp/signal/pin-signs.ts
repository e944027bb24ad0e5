import type { Size } from "../../../contract/size.ts";
import { type Budget, overBudget, shareOf } from "../budget.ts";
import { decode } from "../fit.ts";
import type { UnitCosts } from "./unit-costs.ts";
import { REWRITTEN, type UnitStore } from "./unit-store.ts";

/** Share of the room that lone signs of a failure get, whatever their surroundings say. */
const SIGN_SHARE = 0.2;
const MOST_SIGNS = 5;
/** Where more lines than this tell of failures, what is around them says which of them count. */
const MOST_TELLING = 40;
const MAX_SIGN_CHARS = 2000;
const SIGN =
  /\b(?:error|fatal|panic|exception|fail(?:ed|ure)?|traceback|abort(?:ed)?|crash(?:ed)?|killed|denied|refused|cannot|unable to|caused by|segmentation fault|out of memory|no space left|(?:command )?not found)\b(?!s? ?[:=] ?0\b)|[a-z]Error\b|[a-z]Exception\b/i;
const NO_SIGN = /\b(?:0|no|without|zero) (?:errors?|fail(?:ed|ures?)?|exceptions?)\b|\bok\b|\bpass(?:ed)?\b|[✓✔]/i;

/** Marks the few lines that by themselves tell of a failure: in a quiet output they stand alone, and are what matters. */
export function pinSigns(store: UnitStore, costs: UnitCosts, budget: Budget, gap: Size, pinned: Uint8Array): boolean {
  const telling = tellingRows(store);
  if (telling.length > MOST_TELLING) return true;
  const lineScore = (row: number) => store.lineScore[row] as number;
  const best = telling.toSorted((a, b) => lineScore(b) - lineScore(a) || a - b).slice(0, MOST_SIGNS);
  const within = shareOf(budget, SIGN_SHARE);
  const size: Size = { bytes: 0, chars: 0, lines: 0, tokens: 0 };
  for (const row of best) {
    costs.add(size, row, 1);
    // Each may open a gap.
    for (const unit of ["bytes", "chars", "lines", "tokens"] as const) size[unit] += gap[unit];
    if (overBudget(size, within) !== null) break;
    pinned[row] = 1;
  }
  return telling.length > 0;
}

/** Rows that tell of a failure: all of them, or some if they are many. */
export function tellingRows(store: UnitStore): number[] {
  const rows: number[] = [];
  for (let row = 0; row < store.length && rows.length <= MOST_TELLING; row++) {
    if ((store.kind[row] as number) <= REWRITTEN && tells(store, row)) rows.push(row);
  }
  return rows;
}

function tells(store: UnitStore, row: number): boolean {
  const at = store.byteAt[row] as number;
  const end = at + Math.min(store.byteLength[row] as number, MAX_SIGN_CHARS);
  const text = decode(store.bytes.subarray(at, end));
  return SIGN.test(text) && !NO_SIGN.test(text);
}
