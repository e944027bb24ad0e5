import type { SpillwayEvent } from "../../contract/event.ts";
import type { Receipt } from "../../contract/receipt.ts";

/** True if part of the output is not shown. */
export function isCut({ omitted, folded }: Receipt): boolean {
  return omitted.bytes > 0 || folded.bytes > 0;
}

/** What a receipt has to say to a ledger: that an output passed or was clamped, was kept, or could not be. */
export function receiptEvents(receipt: Receipt, atMs: number, more: SpillwayEvent["more"] = null): SpillwayEvent[] {
  const { session, tool, call, artifact, saved, savedBytes, faults } = receipt;
  const about = { atMs, session, tool, call, artifact, receipt: null, more: null };
  const kind = isCut(receipt) ? "output-clamped" : "output-passed";
  const events: SpillwayEvent[] = [{ ...about, kind, receipt, more }];
  if (artifact !== null) events.push({ ...about, kind: "artifact-spilled", more: { saved, savedBytes } });
  const failed = faults?.filter((fault) => fault.startsWith("spill failed")) ?? [];
  if (failed.length > 0) events.push({ ...about, kind: "spill-failed", more: { faults: failed } });
  return events;
}
