/** What sort of output something is. */
export type Kind = "json" | "html" | "diff" | "matches" | "listing" | "table" | "log" | "source" | "prose" | "unknown";

/** The start of an output, and what is known of where it comes from. */
export interface KindSample {
  bytes: Uint8Array;
  /** Its whole lines without their breaks; all of it where it has only one. */
  lines: readonly string[];
  /** The family of the tool ("run_command", "read_file" ...), the tool's own name where it has none. */
  tool: string;
  /** The command, where one is known. */
  command: string;
  /** An exit code is known: something ran. */
  hasExitCode: boolean;
}
