import type { Wire } from "./wire.ts";

/** A conversation that has to become shorter. */
export interface CompactInput {
  wire: Wire;
  /** Not changed. */
  messages: readonly unknown[];
  /** What the messages should take at most, by the estimate; the summary itself is part of it. */
  targetTokens: number;
  /** Whose conversation it is. */
  session?: string | undefined;
  signal?: AbortSignal | undefined;
}

/** A shorter conversation in the same format. */
export interface Compacted {
  messages: readonly unknown[];
  summaryTokens: number;
}

/** Shortens a conversation by a summary. Contract: calls and results stay together, and null says that it did not help. */
export interface Compactor {
  compact(input: CompactInput): Promise<Compacted | null>;
}
