#!/usr/bin/env node
import { Command, CommanderError } from "commander";
import { addClampCommand } from "./commands/clamp.ts";
import { addEventsCommand } from "./commands/events.ts";
import { addExportCommand } from "./commands/export.ts";
import { addGcCommand } from "./commands/gc.ts";
import { addLsCommand } from "./commands/ls.ts";
import { addRecallCommand } from "./commands/recall.ts";
import { addRmCommand } from "./commands/rm.ts";
import { addRunCommand } from "./commands/run.ts";
import { addSearchCommand } from "./commands/search.ts";
import { addShowCommand } from "./commands/show.ts";
import { addStatsCommand } from "./commands/stats.ts";
import { addVerifyCommand } from "./commands/verify.ts";
import { tellFault } from "./tell.ts";
import { VERSION } from "./version.ts";

const program = new Command("spillway")
  .description("Keeps tool output from flooding a language model's context, without losing what matters.")
  .version(VERSION, "-V, --version", "print the version")
  .helpOption("-h, --help", "print this help")
  .helpCommand("help [command]", "print the help of a command")
  .showSuggestionAfterError()
  // What follows the command that "run" runs is that command's own.
  .enablePositionalOptions()
  .configureOutput({ writeErr: () => {} })
  .exitOverride()
  .addHelpText(
    "after",
    `
Examples:
  spillway run -- npm test
  npm test 2>&1 | spillway clamp --tool run_command
  spillway clamp build.log --max-lines 100 --strategy tail
  spillway clamp --json < response.txt

Run "spillway <command> --help" for more. A spillway.yaml here or above sets limits for each tool.`,
  );
addRunCommand(program);
addClampCommand(program);
addRecallCommand(program);
addSearchCommand(program);
addLsCommand(program);
addShowCommand(program);
addRmCommand(program);
addGcCommand(program);
addVerifyCommand(program);
addEventsCommand(program);
addStatsCommand(program);
addExportCommand(program);

// A reader that closed early (head, a pager) is no fault of ours.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  process.exit(error.code === "EPIPE" ? 0 : tellFault(new Error(`cannot write standard output: ${error.message}`)));
});

try {
  if (process.argv.length <= 2) program.outputHelp();
  else await program.parseAsync();
} catch (error) {
  const isAnswer = error instanceof CommanderError && error.exitCode === 0;
  if (!isAnswer) process.exitCode = tellFault(error);
}
