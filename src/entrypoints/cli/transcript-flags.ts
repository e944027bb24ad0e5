import type { Command } from "commander";
import { SpillwayError } from "../../errors.ts";
import { counted } from "../../stages/mark/texts.ts";

/** Flags of commands that change a transcript. */
export interface TranscriptFlags {
  wire?: string;
  dryRun?: boolean;
  edits?: boolean;
  rewrite?: boolean;
  json?: boolean;
}

/** Adds them to a command. */
export function addTranscriptFlags(command: Command): Command {
  return command
    .option("--wire <name>", "the message format, where it cannot be told (anthropic, openai-chat, gemini ...)")
    .option("--edits", "append context_edit records, also where the session has none yet")
    .option("--rewrite", "write the file anew, also where context_edit records would do")
    .option("--dry-run", "say what would be done, and do nothing")
    .option("--json", "print one JSON object");
}

/** How the file is to be changed; undefined leaves it to what the session's writer knows. */
export function wayOf({ edits, rewrite }: TranscriptFlags): "edits" | "rewrite" | undefined {
  if (edits && rewrite) throw new SpillwayError("bad-input", "--edits and --rewrite exclude each other: give one");
  return edits ? "edits" : rewrite ? "rewrite" : undefined;
}

/** What became of the file, for people. */
export function toldEnd({ backup, appendedBytes }: { backup: string | null; appendedBytes: number }): string[] {
  return [
    ...(appendedBytes > 0
      ? [`${counted(appendedBytes, "byte")} that another process appended meanwhile were kept`]
      : []),
    ...(backup !== null ? [`the file as it was: ${backup}`] : []),
  ];
}
