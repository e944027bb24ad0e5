import type { Generated } from "kysely";

// One schema for SQLite and, later, PostgreSQL: text, integers and bytes only. Times are milliseconds since 1970.

/** An artifact's facts. Its bytes are a row (`small`), or a file. */
export interface ArtifactTable {
  /** Hex HMAC-SHA256 of scope and sha256 under the store's secret: also the name of its file. */
  key: string;
  /** What readers are given: 12 base32 characters of the key. */
  id: string;
  scope: string;
  session: string | null;
  tool: string;
  call: string | null;
  bytes: number;
  lines: number;
  sha256: string;
  saved: string;
  created_ms: number;
  redaction_count: number;
  redaction_bytes: number;
  /** row: in `small`; plain: a file with a line index; blocks: a compressed file, still range-readable. */
  form: "row" | "plain" | "blocks";
}

/** The sessions an artifact belongs to: the same bytes may come in several. */
export interface ArtifactSessionTable {
  key: string;
  session: string;
}

/** Bytes of artifacts up to 64 KiB. */
export interface SmallTable {
  key: string;
  data: Uint8Array;
}

export interface EventTable {
  id: Generated<number>;
  kind: string;
  at_ms: number;
  session: string | null;
  tool: string | null;
  call: string | null;
  artifact: string | null;
  /** JSON. */
  receipt: string | null;
  more: string | null;
}

/** Sums by hour, tool and session, written in the transaction of each event. Empty text stands for none. */
export interface RollupTable {
  hour_ms: number;
  tool: string;
  session: string;
  calls: number;
  cut_calls: number;
  bytes_in: number;
  bytes_shown: number;
  tokens_in: number;
  tokens_shown: number;
  recalls: number;
  recalled_bytes: number;
  recalled_tokens: number;
}

export interface SessionTable {
  session: string;
  first_seen_ms: number;
  last_seen_ms: number;
  pinned: number;
}

export interface ProjectionTable {
  key: string;
  session: string | null;
  at_ms: number;
  /** A JSON string: a result may hold characters that a text column cannot. */
  text: string;
  step: number;
}

/** Every table. */
export interface Schema {
  artifacts: ArtifactTable;
  artifact_sessions: ArtifactSessionTable;
  small: SmallTable;
  events: EventTable;
  rollups: RollupTable;
  sessions: SessionTable;
  projections: ProjectionTable;
}
