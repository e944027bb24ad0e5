import { Argument } from "commander";
import type { Command } from "../command.ts";
import { tableOf } from "../command-table.ts";
import { VERSION } from "../version.ts";
import { writeOut } from "../write-out.ts";

/** `spillway completion`: what a shell or man needs to know our commands. */
export function addCompletionCommand(program: Command): void {
  program
    .command("completion")
    .description("print a script that completes commands and flags in a shell, or the man page")
    .addArgument(new Argument("<bash|zsh|fish|man>", "what it is for").choices(["bash", "zsh", "fish", "man"]))
    .notes(`
Examples:
  source <(spillway completion bash)
  spillway completion zsh > ~/.zfunc/_spillway
  spillway completion fish | source
  spillway completion man > ~/.local/share/man/man1/spillway.1`)
    .action(async (kind: "bash" | "zsh" | "fish" | "man") => writeOut(await printFor(kind, program)));
}

async function printFor(kind: "bash" | "zsh" | "fish" | "man", program: Command): Promise<string> {
  const table = tableOf(program);
  if (kind !== "man") return (await import("../completions.ts")).COMPLETIONS[kind](table);
  const { manPage } = await import("../completions.ts");
  return manPage(table, { version: VERSION, summary: program.description() });
}
