import type { CommandCall } from "./agent.ts";

/** Said to the model, so that the change is no secret. */
const NOTE = "Spillway runs this command as `spillway run -- ...`: long output is cut to what matters and saved whole.";
/** Commands of ours, and those that change the shell's own folder. */
const LEFT_ALONE = /^\s*((spillway|cd)\b|$)/;

/**
 * Puts a shell command under `spillway run`, so that every byte of its output is kept; null to leave it as it is. The agent
 * decides on the command that it gets from us, so a command that its rules could refuse or ask about is not changed.
 */
export async function wrapCommand({ tool, command, isRuled, answer }: CommandCall): Promise<object | null> {
  if (LEFT_ALONE.test(command)) return null;
  const wrapped = `spillway run --quiet --tool ${tool} -- bash -c ${quoteForShell(command)}`;
  // A rule may also be about the words that we add.
  return (await isRuled(wrapped)) ? null : answer(wrapped, NOTE);
}

function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
