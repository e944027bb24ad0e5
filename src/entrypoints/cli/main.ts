import { CommanderError } from "commander";
import { Command } from "./command.ts";
import { onScreen, wrapped } from "./screen.ts";
import { tellFault } from "./tell.ts";
import { VERSION } from "./version.ts";
import { endLine, writeOut } from "./write-out.ts";

/** Each adds a command to the program. Only the command that was asked for is loaded, so that it starts sooner. */
export const COMMANDS: Record<string, () => Promise<(program: Command) => void | Promise<void>>> = {
  run: async () => (await import("./commands/run.ts")).addRunCommand,
  clamp: async () => (await import("./commands/clamp.ts")).addClampCommand,
  recall: async () => (await import("./commands/recall.ts")).addRecallCommand,
  search: async () => (await import("./commands/search.ts")).addSearchCommand,
  diff: async () => (await import("./commands/diff.ts")).addDiffCommand,
  explain: async () => (await import("./commands/explain.ts")).addExplainCommand,
  discover: async () => (await import("./commands/discover.ts")).addDiscoverCommand,
  ls: async () => (await import("./commands/ls.ts")).addLsCommand,
  show: async () => (await import("./commands/show.ts")).addShowCommand,
  last: async () => (await import("./commands/show.ts")).addLastCommand,
  rm: async () => (await import("./commands/rm.ts")).addRmCommand,
  gc: async () => (await import("./commands/gc.ts")).addGcCommand,
  pin: async () => (await import("./commands/pin.ts")).addPinCommand,
  verify: async () => (await import("./commands/verify.ts")).addVerifyCommand,
  copy: async () => (await import("./commands/copy.ts")).addCopyCommand,
  spool: async () => (await import("./commands/spool.ts")).addSpoolCommand,
  migrate: async () => (await import("./commands/migrate.ts")).addMigrateCommand,
  events: async () => (await import("./commands/events.ts")).addEventsCommand,
  stats: async () => (await import("./commands/stats.ts")).addStatsCommand,
  export: async () => (await import("./commands/export.ts")).addExportCommand,
  guard: async () => (await import("./commands/guard.ts")).addGuardCommand,
  prune: async () => (await import("./commands/prune.ts")).addPruneCommand,
  cap: async () => (await import("./commands/cap.ts")).addCapCommand,
  compact: async () => (await import("./commands/compact.ts")).addCompactCommand,
  replay: async () => (await import("./commands/replay.ts")).addReplayCommand,
  serve: async () => (await import("./commands/serve.ts")).addServeCommand,
  demo: async () => (await import("./commands/demo.ts")).addDemoCommand,
  mcp: async () => (await import("./commands/mcp.ts")).addMcpCommand,
  hook: async () => (await import("./commands/hook.ts")).addHookCommand,
  tools: async () => (await import("./commands/tools.ts")).addToolsCommand,
  config: async () => (await import("./commands/config.ts")).addConfigCommand,
  doctor: async () => (await import("./commands/doctor.ts")).addDoctorCommand,
  init: async () => (await import("./commands/init.ts")).addInitCommand,
  completion: async () => (await import("./commands/completion.ts")).addCompletionCommand,
};

/** What Commander answered itself: help, or the version. */
let answer = "";

const program = new Command("spillway")
  .description("Keeps tool output from flooding a language model's context, without losing what matters.")
  .version(VERSION, "-V, --version", "print the version")
  .helpOption("-h, --help", "print this help")
  .helpCommand("help [command]", "print the help of a command")
  .showSuggestionAfterError()
  // Flags after the command that "run" runs belong to that command.
  .enablePositionalOptions()
  .configureOutput({ writeOut: (text) => void (answer += text), writeErr: () => {} })
  .exitOverride()
  .notes(`
Examples:
  spillway run -- npm test
  npm test 2>&1 | spillway clamp --tool run_command
  spillway clamp build.log --max-lines 100 --strategy tail
  spillway clamp --json < response.txt

Run "spillway <command> --help" for more.
A spillway.yaml here or above sets limits for each tool.`);

/** Does what the arguments ask for. */
export async function main(): Promise<void> {
  const [asked = "", about] = process.argv.slice(2);
  // Completions are made of all commands.
  const wanted = Object.hasOwn(COMMANDS, asked) && asked !== "completion" ? [asked] : Object.keys(COMMANDS);
  try {
    for (const name of wanted) await (await COMMANDS[name]?.())?.(program);
    if (asked === "") program.outputHelp();
    else if (asked === "help" && about !== undefined && !Object.hasOwn(COMMANDS, about)) {
      // Commander prints no error for the help of an unknown command. Parsed as a command, it gets one with a suggestion.
      await program.parseAsync([about], { from: "user" });
    } else await program.parseAsync();
  } catch (error) {
    const isAnswer = error instanceof CommanderError && error.exitCode === 0;
    if (!isAnswer) process.exitCode = tellFault(error);
  }
  if (answer !== "") {
    // Help ends the parsing before a flag after it is read.
    const pager = !process.argv.includes("--no-pager");
    await onScreen({ pager }, ({ width }) => writeOut(width === null ? answer : wrapped(reflowed(answer), width)));
  }
  endLine();
}

/** Notes of the help are broken for the source's width; on a screen a paragraph is broken once, for the screen's. */
function reflowed(text: string): string {
  return text.replaceAll(/(?<=^[^\s].{79,})\n(?=\S)/gm, " ");
}
