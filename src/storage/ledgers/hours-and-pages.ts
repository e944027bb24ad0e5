import { NUMBERS } from "../../stages/policy/defaults.ts";

const HOUR_MS = 3_600_000;

/** The hour a time falls into. */
export function hourOf(atMs: number): number {
  return Math.floor(atMs / HOUR_MS) * HOUR_MS;
}

/** How many rows a query may give. */
export function pageSize(max: number = NUMBERS.ledgerPage.default): number {
  const { default: usual, floor, ceiling } = NUMBERS.ledgerPage;
  return Number.isNaN(max) ? usual : Math.max(floor, Math.min(Math.trunc(max), ceiling));
}
