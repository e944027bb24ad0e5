import type { Roots } from "./roots.ts";

/** Which messages of a session are wanted. */
export interface HistoryWant {
  limit: number;
  offset: number;
  includeTools: boolean;
  /** The most bytes of the messages as JSON. */
  maxBytes: number;
}

/** A session's newest messages, as `spillway.cap` gives them. */
export interface SessionHistory {
  messages: unknown[];
  truncated: boolean;
  droppedMessages: boolean;
  contentTruncated: boolean;
  bytes: number;
  /** The offset of the page before; null if there is none. */
  next: number | null;
}

/** The transcripts of sessions. */
export interface SessionHistories {
  /** The folder they are in. */
  roots: Roots;
  /** Reads one of its files through `spillway.cap`. */
  read(file: string, want: HistoryWant): Promise<SessionHistory>;
}
