import type { Command } from "commander";
import { SuggestingOption } from "./command.ts";

/** A flag, as help, completions, the man page and the reference tell it. */
export interface FlagRow {
  /** As it is typed: `-C, --context <n>`. */
  flags: string;
  names: string[];
  takesValue: boolean;
  /** The values that it may have, if they are known. */
  choices: readonly string[];
  description: string;
}

/** A command. */
export interface CommandRow {
  name: string;
  usage: string;
  description: string;
  words: { name: string; description: string; choices: readonly string[] }[];
  flags: FlagRow[];
  /** What its help says after the flags: notes and examples. */
  after: string;
}

const HELP: FlagRow = {
  flags: "-h, --help",
  names: ["-h", "--help"],
  takesValue: false,
  choices: [],
  description: "print the help of the command",
};

/** Every command of a program, with its flags. */
export function tableOf(program: Command): CommandRow[] {
  return program.commands.map((command) => ({
    name: command.name(),
    usage: `spillway ${command.name()} ${command.usage()}`,
    description: command.description(),
    words: command.registeredArguments.map((word) => ({
      name: word.required ? `<${word.name()}>` : `[${word.name()}]`,
      description: word.description,
      choices: word.argChoices ?? [],
    })),
    flags: [
      ...command.options
        .filter(({ hidden }) => !hidden)
        .map((option) => ({
          flags: option.flags,
          names: [option.short, option.long].filter((name) => name !== undefined),
          takesValue: option.required || option.optional,
          choices: (option instanceof SuggestingOption ? option.suggests : option.argChoices) ?? [],
          description: option.description,
        })),
      HELP,
    ],
    after: afterHelp(command),
  }));
}

/** What was added to a command's help with `notes`. */
function afterHelp(command: Command): string {
  const parts: string[] = [];
  command.configureOutput({ writeOut: (text) => parts.push(text) }).outputHelp();
  return parts.join("").replace(command.helpInformation(), "").trim();
}
