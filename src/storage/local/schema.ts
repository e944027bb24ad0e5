import type { Generated } from "kysely";

// The schema uses only text, integers and bytes, so that other engines can take it too. Times are milliseconds since
// 1970.

/** The facts of an artifact. Its bytes are in a row of `small` or in a file. */
export interface ArtifactTable {
  /** Hex HMAC-SHA256 of scope and sha256 under the store's secret. It is also the name of the file. */
  key: string;
  /** The id that readers get: 12 base32 characters of the key. */
  id: string;
  scope: string;
  bytes: number;
  lines: number;
  sha256: string;
  saved: string;
  /** When it was last saved. */
  created_ms: number;
  redaction_count: number;
  redaction_bytes: number;
  /**
   * row: the bytes are in `small`. plain: they are in a file, and its line index is in `line_indexes`. object: they are in the
   * object that `place` names, and its line index beside it. spool: they are on the machine that `place` names.
   */
  form: "row" | "plain" | "object" | "spool";
  place: string | null;
}

/** Ties an artifact to each session that saved it, with what made it there. The same bytes may come up in several. */
export interface ArtifactSessionTable {
  key: string;
  /** Empty text stands for no session. */
  session: string;
  saved_ms: number;
  tool: string;
  call: string | null;
  command: string | null;
  folder: string | null;
  exit_code: number | null;
}

/** Holds the bytes of artifacts up to 64 KiB. */
export interface SmallTable {
  key: string;
  data: Uint8Array;
}

/** Holds the line indexes of artifacts that are files. One that is missing is made again. */
export interface LineIndexTable {
  key: string;
  data: Uint8Array;
}

export interface EventTable {
  id: Generated<number>;
  scope: string;
  kind: string;
  at_ms: number;
  session: string | null;
  tool: string | null;
  call: string | null;
  artifact: string | null;
  /** The receipt and `more` are JSON. */
  receipt: string | null;
  more: string | null;
}

/**
 * Holds sums by hour, tool and session. They are written in the transaction of each event. Empty text stands for none.
 */
export interface RollupTable {
  scope: string;
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
  requests: number;
  input_tokens: number;
  output_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
  refusals: number;
  recoveries: number;
}

export interface SessionTable {
  scope: string;
  session: string;
  first_seen_ms: number;
  last_seen_ms: number;
  pinned: number;
}

export interface ProjectionTable {
  scope: string;
  key: string;
  session: string | null;
  at_ms: number;
  /** A JSON string, because a result may hold characters that a text column cannot. */
  text: string;
  step: number;
}

/** Objects that are being uploaded. One that stays here belongs to nobody, because its process ended. */
export interface UploadTable {
  place: string;
  began_ms: number;
}

/** What all users of the database share: the store's secret, and when retention was last applied. */
export interface SettingTable {
  name: string;
  value: Uint8Array;
}

/** The steps that brought the database to its version. */
export interface VersionTable {
  version: number;
  applied_ms: number;
}

/** Lists every table. */
export interface Schema {
  artifacts: ArtifactTable;
  artifact_sessions: ArtifactSessionTable;
  small: SmallTable;
  line_indexes: LineIndexTable;
  events: EventTable;
  rollups: RollupTable;
  sessions: SessionTable;
  projections: ProjectionTable;
  uploads: UploadTable;
  settings: SettingTable;
  versions: VersionTable;
}
