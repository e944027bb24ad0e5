import type { Saved } from "./receipt.ts";

/** Who may read an artifact. The local user's own is "local". */
export type Scope = string;

/** What is known of an output when it begins to be kept. */
export interface ArtifactAbout {
  scope: Scope;
  /** Groups statistics and retention; says nothing about who may read. */
  session: string | null;
  tool: string;
  call: string | null;
  /** What made the output: a command line, or a tool's arguments as JSON. Without secrets; a store keeps its first 1,000 characters. */
  command?: string | null;
  /** The folder in which the command ran. */
  folder?: string | null;
}

/**
 * A kept output. The same bytes may be saved more than once: session, tool, call, command, folder, exit code and time are
 * then those of the last time, or in a list those of each session.
 */
export interface Artifact extends ArtifactAbout {
  command: string | null;
  folder: string | null;
  /** How the command ended. */
  exitCode: number | null;
  /** Cannot be guessed; the same bytes in the same scope have the same id, in another scope another. */
  id: string;
  /** The size of what is stored: after redaction, if that is on. */
  bytes: number;
  lines: number;
  sha256: string;
  saved: Saved;
  createdAtMs: number;
  /** Secrets that were replaced before storing. */
  redactions: { count: number; bytes: number };
}

/** An artifact on its way into a store. Nothing of it can be read before `end` resolves. */
export interface ArtifactWriter {
  /**
   * The bytes are the caller's again when this resolves, and may then be overwritten: copy what you keep with
   * `new Uint8Array(bytes)`, since `slice` of a Node Buffer is no copy. Waits where the disk is slower than the tool.
   */
  add(bytes: Uint8Array): Promise<void> | void;
  /** Durable once it resolves. `redactions` as the spill counted them; the exit code is known only now. */
  end(redactions?: Artifact["redactions"], exitCode?: number | null): Promise<Artifact>;
  /** Forgets what was added. */
  abandon(): Promise<void>;
}

/** How much of what was kept may stay, and for how long. What is absent is the built-in number. */
export interface Retention {
  maxAgeMs?: number | undefined;
  /** All artifacts together. */
  maxBytes?: number | undefined;
  maxSessionBytes?: number | undefined;
  /** Nothing goes that was kept within this, or belongs to a session seen within it. */
  retainMs?: number | undefined;
}

/** Part of an artifact, in bytes: from the first to before the last. */
export interface ByteRange {
  from: number;
  to: number;
}

/** An artifact held open. What is removed meanwhile reads as before, or is a fault; never as other bytes. */
export interface HeldArtifact {
  /** As the store's. */
  read(range: ByteRange): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** Which artifacts to list, newest first. Each is listed once for every session that saved it. */
export interface ArtifactQuery {
  scope: Scope;
  session?: string;
  /** Only those created before; pages on from the last one seen. */
  beforeMs?: number;
  max?: number;
}

/**
 * Keeps artifacts. Contract: a reader of another scope learns nothing, not even that an artifact exists; nothing
 * half-written is visible; any number of processes may use the same place at once.
 */
export interface Store {
  readonly name: string;
  begin(about: ArtifactAbout): Promise<ArtifactWriter>;
  /**
   * Keeps a copy of a whole output before it returns, for hosts that cannot wait; only where the store can. Throws what `begin` and
   * `end` would reject with.
   */
  keepNow?(about: ArtifactAbout, bytes: Uint8Array, redactions: Artifact["redactions"]): Artifact;
  /** Returns null if there is none of that id in that scope. */
  find(id: string, scope: Scope): Promise<Artifact | null>;
  /** The bytes of a range (clipped to the artifact), without reading the rest. They are the reader's own to change. */
  read(id: string, scope: Scope, range: ByteRange): Promise<Uint8Array | null>;
  /** Opens an artifact for many reads in a row, where that costs less than each by itself; null as `read` would be. */
  hold?(id: string, scope: Scope): Promise<HeldArtifact | null>;
  /** Where lines `from` to `to` (1-based, both included, clipped) stand, without reading the rest. */
  locate(id: string, scope: Scope, lines: [from: number, to: number]): Promise<ByteRange | null>;
  /** A plain file with exactly the artifact's bytes, where the store has one: a searcher can run on it. */
  file(id: string, scope: Scope): Promise<string | null>;
  list(query: ArtifactQuery): Promise<Artifact[]>;
  remove(id: string, scope: Scope): Promise<boolean>;
  close(): Promise<void>;
}
