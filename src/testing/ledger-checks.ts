import assert from "node:assert/strict";
import type { SpillwayEvent } from "../contract/event.ts";
import type { Ledger, Totals } from "../contract/ledger.ts";
import { expectedSums } from "./arbitrary-event.ts";

/** Returns everything that a ledger tells. */
export async function everything(ledger: Ledger): Promise<unknown[]> {
  const stats = await ledger.stats({ by: "session" });
  return [await ledger.events(), stats, await ledger.sessions(), await ledger.projection("k")];
}

/** Asserts that each id is larger than the one before. */
export function assertGrowing(ids: number[]): void {
  assert.deepEqual(
    ids,
    [...new Set(ids)].toSorted((a, b) => a - b),
  );
}

/** Returns true if an event adds to any sum. */
export function counts(event: SpillwayEvent): boolean {
  return Object.values(expectedSums([event]) satisfies Totals).some((sum) => sum !== 0);
}

/** Returns an event as it was recorded, without its id. */
export function withoutId({ id: _id, ...event }: SpillwayEvent & { id: number }): SpillwayEvent {
  return event;
}

/** Returns an event as JSON keeps it. */
export function throughJson(event: SpillwayEvent): SpillwayEvent {
  return JSON.parse(JSON.stringify(event)) as SpillwayEvent;
}
