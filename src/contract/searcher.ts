import type { ByteRange } from "./store.ts";

/** What is searched: bytes that can be read in ranges and, where there is one, a plain file with exactly those bytes. */
export interface SearchSource {
  file: string | null;
  bytes: number;
  read(range: ByteRange): Promise<Uint8Array>;
}

/** What to find. A match lies within one line. */
export interface SearchRequest {
  pattern: string;
  /** The pattern is the text itself, not a regular expression. */
  literal: boolean;
  ignoreCase: boolean;
  /** Hits are given from this line on; the total is of the whole source all the same. */
  fromLine: number;
  maxHits: number;
  /** Then the search stops, and says how far it came. */
  deadlineMs: number;
  signal?: AbortSignal;
}

/** A line that matches. */
export interface SearchHit {
  line: number;
  /** Where the line begins in the source. */
  lineByte: number;
  /** Bytes from there to the line's first match. */
  column: number;
}

/** What a search found. */
export interface SearchOutcome {
  /** Matching lines in the whole source, or up to `reachedLine`. */
  total: number;
  hits: SearchHit[];
  /** Null when all was searched; otherwise the last line that surely was. */
  reachedLine: number | null;
}

/**
 * Finds lines. Contract: takes bounded memory and time whatever the pattern, leaves no process or thread behind, and
 * throws a SpillwayError with code "bad-input" for a pattern it cannot read.
 */
export interface Searcher {
  readonly name: string;
  search(source: SearchSource, request: SearchRequest): Promise<SearchOutcome>;
}
