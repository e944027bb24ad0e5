import { Command as Commander, Option } from "commander";
import { writeOut } from "./write-out.ts";

/** A command of `spillway`. What it declares is what help, completions, the man page and the reference tell. */
export class Command extends Commander {
  override createCommand(name?: string): Command {
    return new Command(name);
  }

  /** Adds what the help says after the flags: notes and examples. */
  notes(text: string): this {
    return this.addHelpText("after", `\n${text.trim()}`);
  }

  /** Adds the flag of commands that read a transcript. */
  wireFlag(): this {
    const what = "the message format, if it cannot be told from the file (anthropic, openai-chat, gemini ...)";
    return this.option("--wire <name>", what);
  }
}

/**
 * An option whose values shells suggest, and whose description names them. A wrong value is named by the code that reads it,
 * with more to say.
 */
export class SuggestingOption extends Option {
  readonly suggests: readonly string[];

  constructor(flags: string, description: string, suggests: readonly string[]) {
    super(flags, description);
    this.suggests = suggests;
  }
}

/** Writes lines for people. */
export function writeLines(lines: readonly string[]): Promise<void> {
  return writeOut(lines.map((line) => `${line}\n`).join(""));
}
