import type { Receipt } from "./receipt.ts";

/** What happened, noun-verb. */
export type EventKind =
  /** An output came in and something of it was cut; has the receipt. `more` can say `command`, `folder`, `hostTokens` (what the agent would have shown itself), `isRerun`, and `isRecut` (recovery cut it once more). */
  | "output-clamped"
  /** An output came in and is shown whole; has the receipt. */
  | "output-passed"
  /** A whole output was saved; `more` says how much of it. */
  | "artifact-spilled"
  /** Part of a saved output was read back; `more` says how much (`bytes`, `tokens`), which `lines`, and who read (`reads`, `readBy`). */
  | "artifact-recalled"
  /** A saved output was searched; `more` says the same, and the `pattern` in place of the lines. */
  | "artifact-searched"
  /** An output could not be saved; `more.faults` says why. */
  | "spill-failed"
  /** Old results are shown shorter in a request; `more` says why, and lists the `changes`. */
  | "request-pruned"
  /** A provider answered; `more` has the tokens that it counted. */
  | "request-answered"
  /** A provider refused a request for its size; `more` has its words and the verdict. */
  | "overflow-detected"
  /** A refused request was made smaller; `more` names the rung. */
  | "overflow-reduced"
  /** A request that was refused before was answered. */
  | "overflow-recovered"
  /** A refused request could not be made to fit. */
  | "overflow-failed"
  /** The older part of a conversation became a summary. */
  | "history-compacted"
  /** A model was paid for a summary; `more` has its tokens. */
  | "summary-paid"
  /** A message was shortened or repaired on its way into a transcript. */
  | "history-guarded"
  /** A history was made smaller for another agent. */
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
