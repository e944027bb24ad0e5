import { admitWithNote } from "./admit-with-note.ts";
import { type BoundedTool, boundedTool, type ToolPlace } from "./bounded-tool.ts";
import { commandReport } from "./command-output.ts";
import type { Commands } from "./commands.ts";
import { watchCommand } from "./commands.ts";

const USUAL_SECONDS = 120;
const USUAL_BACKGROUND_SECONDS = 3600;
const MOST_SECONDS = 24 * 3600;
/** How long a background command is watched at first, so that one which fails at once is reported at once. */
const FIRST_LOOK_MS = 500;

/** `run_command`: runs a line of shell; what it writes comes bounded, with its exit code. */
export function runCommandTool(place: ToolPlace, commands: Commands): BoundedTool {
  return boundedTool(
    {
      name: "run_command",
      description:
        "Runs a shell command and shows what it printed, shortened if it is long, and its exit code. It has no input, and what it leaves running is ended with it. With background: true it goes on, and command_output reads it.",
      inputSchema: {
        type: "object",
        properties: {
          command: { type: "string" },
          cwd: { type: "string", description: "the folder to run it in" },
          timeout_seconds: { type: "integer", default: USUAL_SECONDS },
          background: { type: "boolean" },
        },
        required: ["command"],
      },
      annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
    },
    async (args, signal) => {
      const command = args.requiredText("command");
      if (command.includes("\0")) throw new Error("a command cannot hold a null character");
      const cwd = args.text("cwd");
      const [first = place.roots.base] = place.roots.folders;
      const folder = cwd === undefined ? first : await place.roots.find(cwd);
      const isBackground = args.flag("background");
      const usual = isBackground ? USUAL_BACKGROUND_SECONDS : USUAL_SECONDS;
      const seconds = args.count("timeout_seconds", usual, MOST_SECONDS) || usual;
      if (isBackground) {
        const started = commands.startInBackground(command, folder, seconds * 1000);
        await started.wait(FIRST_LOOK_MS);
        return commandReport(place, started, commands);
      }
      const running = commands.start(command, folder);
      const watch = watchCommand(running, seconds * 1000, signal);
      try {
        const request = { tool: "run_command", output: running.output, exitCode: watch.exitCode };
        return await admitWithNote(place, request, () => (watch.isTimedOut() ? timeNote(seconds) : ""));
      } finally {
        watch.end();
      }
    },
  );
}

function timeNote(seconds: number): string {
  return `[the time of ${seconds} s was up: the command and its children were ended]`;
}
