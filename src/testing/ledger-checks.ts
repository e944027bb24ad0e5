import assert from "node:assert/strict";
import type { SpillwayEvent } from "../contract/event.ts";
import type { Ledger, Totals } from "../contract/ledger.ts";
import { expectedSums } from "./arbitrary-event.ts";

/** All that a ledger tells. */
export async function everything(ledger: Ledger): Promise<unknown[]> {
  const stats = await ledger.stats({ by: "session" });
  return [await ledger.events(), stats, await ledger.sessions(), await ledger.projection("k")];
}

/** Each larger than the one before. */
export function assertGrowing(ids: number[]): void {
  assert.deepEqual(
    ids,
    [...new Set(ids)].toSorted((a, b) => a - b),
  );
}

/** Whether an event adds to any sum. */
export function counts(event: SpillwayEvent): boolean {
  return Object.values(expectedSums([event]) satisfies Totals).some((sum) => sum !== 0);
}

/** As it was recorded. */
export function withoutId({ id: _id, ...event }: SpillwayEvent & { id: number }): SpillwayEvent {
  return event;
}

/** As JSON keeps it. */
export function throughJson(event: SpillwayEvent): SpillwayEvent {
  return JSON.parse(JSON.stringify(event)) as SpillwayEvent;
}
