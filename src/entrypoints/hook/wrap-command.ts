import type { CommandCall } from "./agent.ts";

/** Said to the model, so that the change is no secret. */
const NOTE = "Spillway runs this command as `spillway run -- ...`: long output is cut to what matters and saved whole.";
/** Commands of ours. */
const OURS = /^\s*(spillway\b|$)/;
/**
 * A command that changes the shell's own folder or variables, which would be lost with the shell under us. In doubt a command
 * is left alone: words in quotes count too, but not the first ones in parentheses, which have a shell of their own.
 */
const CHANGES_SHELL =
  /(?:^|[\n;&|{)!]|\b(?:then|do|else|if|while|until|elif|time|builtin|command)\s)[ \t]*(?:\w+=\S*[ \t]+)*(?:cd|pushd|popd|export|source|\.)(?=[\s;&|)}]|$)/;
/** Prints the options, functions and aliases of bash or zsh, so that a shell under us knows what the agent's own shell knows. */
const STATE = "$({ shopt -p; typeset -f; alias -L || alias -p; } 2>/dev/null)";
/** One argument of a program holds 128 KiB on Linux. */
const MAX_STATE_CHARS = 100_000;
/** Takes the state, then the command. They are read one after the other, since aliases count only for what is read later. */
const SCRIPT = `'eval "$1" 2>/dev/null; shift; eval "set --\n$1"'`;
/** What a rule of an agent could be about among the words that we add. */
const ADDED =
  "spillway_state spillway run --quiet --pass-unsaved --tool -- BASH ZSH_NAME bash zsh sh -c eval shift set shopt -p typeset -f alias -L dev null if then else fi -lt command -v";

/**
 * Puts a shell command under `spillway run`, so that every byte of its output is kept; null to leave it as it is. The agent
 * decides on the command that it gets from us, so a command that its rules could refuse or ask about is not changed.
 */
export async function wrapCommand({ tool, command, isRuled, answer }: CommandCall): Promise<object | null> {
  if (OURS.test(command) || CHANGES_SHELL.test(command) || (await isRuled(`${ADDED} ${command}`))) return null;
  const quoted = `'${command.replaceAll("'", `'\\''`)}'`;
  const run = `spillway run --quiet --pass-unsaved --tool ${tool} -- "\${BASH:-\${ZSH_NAME:-sh}}" -c ${SCRIPT} bash "$spillway_state" ${quoted}`;
  // If the shell does not find us, or has more functions than an argument can hold, the command runs as it would have.
  const canRun = `command -v spillway >/dev/null && [ \${#spillway_state} -lt ${MAX_STATE_CHARS} ]`;
  const wrapped = `spillway_state=${STATE}; if ${canRun}; then ${run}; else eval ${quoted}; fi`;
  return answer(wrapped, NOTE);
}
