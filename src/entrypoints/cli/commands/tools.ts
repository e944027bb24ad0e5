import { badInput, SpillwayError, whyUnreadable } from "../../../errors.ts";
import type { Spillway } from "../../../spillway.ts";
import type { SessionHistories } from "../../tools/index.ts";
import type { Command } from "../command.ts";
import { addServeFlags, type ServeFlags, serveMcp } from "../serve-mcp.ts";
import { VERSION } from "../version.ts";

interface ToolsFlags extends ServeFlags {
  only?: string;
  allowCommands?: boolean;
  transcripts?: string;
}

/** `spillway tools`: an MCP server of bounded tools. */
export function addToolsCommand(program: Command): void {
  const command = program
    .command("tools")
    .description("serve tools over MCP that bound their output at the source: read, list, search, recall")
    .argument("[folder...]", "the folders they may read (default: this one)");
  addServeFlags(command)
    .option("--only <names>", "serve only these tools, separated by commas, such as recall,search")
    .option(
      "--allow-commands",
      "also serve run_command and command_output, which can do all that you can (not on Windows)",
    )
    .option("--transcripts <folder>", "also serve sessions_history, which reads the sessions in this folder")
    .notes(`
The tools only read. They reach nothing outside the folders, not even through a link or "..". With --allow-commands a model
may run any command as you: the folders then bound where a command starts, not what it does.

Examples:
  spillway tools .
  spillway tools src docs --only read_file,search_files,recall,search
  spillway tools --allow-commands
  spillway tools --transcripts ~/.openclaw/agents/main/sessions
  spillway tools --listen 8808`)
    .action(serveTools);
}

async function serveTools(folders: string[], flags: ToolsFlags): Promise<void> {
  if (flags.allowCommands && flags.listen !== undefined) {
    const reason = "nobody asks who a client is, so any user of this machine could run commands as you";
    throw badInput(`--allow-commands and --listen exclude each other: ${reason}`);
  }
  if (flags.allowCommands && process.platform === "win32") {
    const reason = "commands need a POSIX shell and process groups; start it under WSL, or without the flag";
    throw badInput(`--allow-commands does not work on Windows: ${reason}`);
  }
  const { boundedTools, openCommands, openRoots } = await import("../../tools/index.ts");
  const { startToolServer } = await import("../../mcp/tool-server.ts");
  const roots = await openRoots(folders.length === 0 ? ["."] : folders).catch(unreadable("folder to serve"));
  const { newSessionName } = await import("../../mcp/proxy-stdio.ts");
  const start = flags.allowCommands ? (await import("../run/start-command.ts")).runForTools : null;
  // All tools share one session, so that what a tool saved is listed for its caller.
  const { session = newSessionName() } = flags;
  await serveMcp({ ...flags, session }, async (spillway) => {
    const commands = start === null ? undefined : openCommands(spillway, start, session);
    const histories = flags.transcripts === undefined ? undefined : await openHistories(spillway, flags.transcripts);
    const only = flags.only?.split(",").map((name) => name.trim());
    const all = boundedTools({ spillway, roots, session, commands, histories, only });
    // The proxy adds recall and search itself.
    const tools = all.filter(({ name }) => name !== "recall" && name !== "search");
    return {
      start: (handlers) => startToolServer(tools, { name: "spillway", version: VERSION }, handlers),
      rules: { isBounded: true },
      stop: commands?.stop,
    };
  });
}

function unreadable(what: string): (error: NodeJS.ErrnoException) => never {
  return (error) => {
    if (SpillwayError.is(error)) throw error;
    throw badInput(`the ${what} ${error.path ?? ""} cannot be read: ${whyUnreadable(error)}`);
  };
}

async function openHistories(spillway: Spillway, folder: string): Promise<SessionHistories> {
  const [{ openRoots }, { openTranscript, readSnapshot }, { messagesOf }] = await Promise.all([
    import("../../tools/index.ts"),
    import("../transcripts/open-transcript.ts"),
    import("../transcripts/cap-file.ts"),
  ]);
  const roots = await openRoots([folder]).catch(unreadable("folder of --transcripts"));
  return {
    roots,
    async read(file, want) {
      const transcript = openTranscript(file);
      return readSnapshot(transcript.path, (snapshot) => spillway.cap(messagesOf(transcript, snapshot).messages, want));
    },
  };
}
