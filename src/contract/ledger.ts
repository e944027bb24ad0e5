import type { EventKind, RecordedEvent, SpillwayEvent } from "./event.ts";

/** Which events. */
export interface EventQuery {
  /** Oldest first where it is not said. */
  order?: "oldest" | "newest";
  /** Only those after this id: how a follower goes on. */
  afterId?: number;
  /** Only those before this id: how a reader of the newest goes back. */
  beforeId?: number;
  session?: string;
  tool?: string;
  call?: string;
  artifact?: string;
  kinds?: EventKind[];
  sinceMs?: number;
  max?: number;
}

/** Sums for one tool, one session, or all. Kept as roll-ups by hour, tool and session, written with each event. */
export interface Totals {
  calls: number;
  /** Calls of which something was cut. */
  cutCalls: number;
  bytesIn: number;
  bytesShown: number;
  tokensShown: number;
  /** What models would have got without Spillway, less what the host itself would have cut; by the same measure of bytes a token. */
  tokensIn: number;
  recalls: number;
  recalledBytes: number;
  recalledTokens: number;
  /** Requests that were answered, and what providers counted of them. Of the input, what came from a cache and was written to one. */
  requests: number;
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  /** Requests that a provider refused for their size, and those that were recovered. */
  refusals: number;
  recoveries: number;
}

/** One row of statistics. */
export interface StatRow extends Totals {
  tool: string | null;
  session: string | null;
  /** When the hour began, if rows are by the hour. */
  hourMs?: number;
}

/** Which statistics: the rows with most calls first, hours in their order. Times are by the whole hour. */
export interface StatQuery {
  by: "tool" | "session" | "hour" | "all";
  session?: string;
  tool?: string;
  sinceMs?: number;
  /** Only hours that began before this. */
  untilMs?: number;
}

/** A session as the ledger knows it. */
export interface SessionRow extends Totals {
  session: string;
  firstSeenMs: number;
  lastSeenMs: number;
  pinned: boolean;
}

/** Which sessions, the last seen first. */
export interface SessionQuery {
  /** Only this one. */
  session?: string;
  /** Only those after this one in the list: how a reader goes on. */
  after?: Pick<SessionRow, "session" | "lastSeenMs">;
  max?: number;
}

/** The frozen form in which a result is shown. */
export interface Projection {
  key: string;
  text: string;
  /** Larger is shorter: forms only shrink. */
  step: number;
  /** Whose it is: goes when the session is removed. */
  session?: string | null;
}

/** Keeps events, sums, sessions and projections. Contract: what `record` resolved for survives the process. */
export interface Ledger {
  readonly name: string;
  record(event: SpillwayEvent): Promise<void>;
  events(query?: EventQuery): Promise<RecordedEvent[]>;
  stats(query: StatQuery): Promise<StatRow[]>;
  sessions(query?: SessionQuery): Promise<SessionRow[]>;
  pin(session: string, pinned: boolean): Promise<void>;
  /** Deletes everything of a session, or for null of none; returns how many events that were. */
  removeSession(session: string | null): Promise<number>;
  projection(key: string): Promise<Projection | null>;
  /** Keeps the shorter of what is there and what comes. */
  saveProjection(projection: Projection): Promise<void>;
  close(): Promise<void>;
}
