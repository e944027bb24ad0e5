import { CommanderError } from "commander";
import { nearestName } from "../../errors.ts";
import type { Logger } from "../../index.ts";
import { writeError } from "./write-out.ts";

/** The exit code for a mistake in what we were asked. */
export const EXIT_BAD_INPUT = 2;

/** The exit code if all went well and the answer is no: nothing was found, or something changed, is damaged or still waits. */
export const EXIT_NO = 1;

/** A fault that ends with an exit code of its own. */
export class FaultWithCode extends Error {
  readonly exitCode: number;

  constructor(cause: unknown, exitCode: number) {
    super(plainMessage(cause), { cause });
    this.exitCode = exitCode;
  }
}

/** Tells a person what went wrong, on one line, and gives the exit code for it. */
export function tellFault(error: unknown): number {
  tell(plainMessage(error));
  return error instanceof FaultWithCode ? error.exitCode : EXIT_BAD_INPUT;
}

/** Says something to a person, on one line of standard error. */
export function tell(message: string): void {
  writeError(`spillway: ${message.trim().replaceAll("\n", " ")}\n`);
}

/** A logger that tells a person what goes wrong, where nobody else does. What is cut stands in the events. */
export const FAULTS: Logger = {
  info() {},
  warn: (said, fields) => "fault" in fields && tell(said),
};

/** What people type who know the same under another name. A name that is merely spelled alike would mislead them. */
const OTHER_NAMES = new Map([
  ["list", "ls"],
  ["sessions", "stats --by session"],
  ["cat", "recall"],
  ["read", "recall"],
  ["get", "recall"],
  ["grep", "search"],
  ["find", "search"],
  ["log", "events"],
  ["logs", "events"],
  ["delete", "rm"],
  ["clean", "gc"],
  ["start", "serve"],
  ["gateway", "serve"],
  ["proxy", "mcp"],
  ["install", "init"],
  ["setup", "init"],
  ["version", "--version"],
]);

/** What to do about a mistake, by the code that Commander gives it. */
const HINTS: Record<string, (command: string, message: string) => string> = {
  "commander.unknownCommand": () => '; "spillway --help" lists them all',
  "commander.unknownOption": (command, message) =>
    message.includes("Did you mean") ? "" : `; "spillway ${command}--help" lists them all`,
  "commander.missingArgument": (command, message) =>
    `${message.includes("'id'") ? " (last is the newest)" : ""}; "spillway ${command}--help" has examples`,
  "commander.excessArguments": (command) => `; "spillway ${command}--help" has examples`,
};

function plainMessage(error: unknown): string {
  if (!(error instanceof CommanderError)) return error instanceof Error ? error.message : String(error);
  const message = withNearOnly(error.message);
  const [asked = ""] = process.argv.slice(2);
  const [, typed = ""] = /^error: unknown command '(.*?)'/s.exec(message) ?? [];
  const meant = OTHER_NAMES.get(typed);
  if (meant !== undefined) return `unknown command '${typed}'; perhaps you want "spillway ${meant}"`;
  const hint = HINTS[error.code]?.(asked.startsWith("-") ? "" : `${asked} `, message) ?? "";
  // A reader of ours that names its flag says all of it.
  return (
    message
      .replace(/^error: (?:option .* is invalid\. (?=--))?/s, "")
      .replace(/^option '(?:-\w, )?(--[\w-]+)[^']*' argument '.*' is invalid\. (?=[a-z])/s, "$1: ")
      .replace(/^(too many arguments for .*?)\. Expected (\d+) arguments? but got (\d+)\.$/, "$1: expected $2, got $3")
      .replace(/^command-argument value (.*) is invalid for argument '.*?'\./s, "$1 is unknown.") + hint
  );
}

/** Commander suggests names that share hardly half of their letters with what was typed. */
function withNearOnly(message: string): string {
  const [suggestion, typed = "", names = ""] = SUGGESTION.exec(message) ?? [];
  if (suggestion === undefined) return message;
  const near = names.split(", ").filter((name) => nearestName(typed, [name]) !== undefined);
  const offered = near.length === 0 ? "" : `\n(Did you mean ${near.length > 1 ? "one of " : ""}${near.join(", ")}?)`;
  return message.replace(/\n\(Did you mean .*$/s, offered);
}

const SUGGESTION = /'-*(.*?)'\n\(Did you mean (?:one of )?(.*)\?\)$/s;
