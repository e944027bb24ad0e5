import type { Receipt } from "./receipt.ts";

/** What happened, noun-verb. */
export type EventKind =
  | "output-clamped"
  | "output-passed"
  | "artifact-spilled"
  | "artifact-recalled"
  | "artifact-searched"
  | "spill-failed"
  | "request-pruned"
  | "request-answered"
  | "overflow-detected"
  | "overflow-reduced"
  | "overflow-recovered"
  | "overflow-failed"
  | "history-compacted"
  | "summary-paid"
  | "history-guarded"
  | "history-capped";

/** One thing that happened. Carries an artifact's id, never its bytes. */
export interface SpillwayEvent {
  kind: EventKind;
  atMs: number;
  session: string | null;
  tool: string | null;
  call: string | null;
  artifact: string | null;
  receipt: Receipt | null;
  /**
   * Whatever else the kind has to say; JSON, at most 8 KiB. In `by` stands who recorded it: the user, the host and the
   * process.
   */
  more: Record<string, unknown> | null;
}

/** An event as a ledger gives it back. Ids grow. */
export interface RecordedEvent extends SpillwayEvent {
  id: number;
}
