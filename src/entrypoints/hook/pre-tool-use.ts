import { isRuled } from "./claude-rules.ts";

/** What an agent tells a hook before a tool runs. */
export interface PreToolUse {
  permission_mode?: unknown;
  tool_name?: unknown;
  tool_input?: unknown;
}

/** Said to the model, so that the change is no secret. */
const NOTE = "Spillway runs this command as `spillway run -- ...`: long output is cut to what matters and saved whole.";

/**
 * Puts a shell command under `spillway run`, so that every byte of it is kept; null to leave the call as it is. The agent
 * decides on the command that it gets from us, so one that its rules could refuse or ask about stays as it is. In other
 * modes than this one each command is decided by what it says, and ours would be asked about, or granted, in its place.
 */
export function answerPreToolUse(
  { permission_mode: mode, tool_name: tool, tool_input: input }: PreToolUse,
  spillway: string,
  readRules: () => readonly string[],
): object | null {
  if (mode !== "bypassPermissions") return null;
  if (tool !== "Bash" || typeof input !== "object" || input === null) return null;
  const { command, run_in_background: isBackground } = input as Record<string, unknown>;
  // One that runs on is read by the agent while it runs.
  if (typeof command !== "string" || command.trim() === "" || isBackground === true) return null;
  if (/^\s*(spillway|cd)\b/.test(command)) return null;
  const wrapped = `${spillway} run --quiet --tool Bash -- bash -c ${quoteForShell(command)}`;
  // What is added has words too, which a rule may be about.
  if (isRuled(wrapped, readRules())) return null;
  return {
    hookSpecificOutput: {
      hookEventName: "PreToolUse",
      updatedInput: { ...input, command: wrapped },
      additionalContext: NOTE,
    },
  };
}

function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
