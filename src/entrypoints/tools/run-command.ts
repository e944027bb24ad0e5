import { admitWithNote, LINE_ROOM, roomWithin, withNote } from "./admit-with-note.ts";
import { type BoundedTool, boundedTool, type ToolPlace } from "./bounded-tool.ts";
import { type BackgroundCommand, type Commands, watchCommand } from "./commands.ts";

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

const USUAL_WAIT_SECONDS = 1;
const MOST_WAIT_SECONDS = 60;
/** Longer than the pause before commands are ended by force. */
const STOP_WAIT_MS = 5000;

/** `command_output`: what a background command has written since the last call; can also end it. */
export function commandOutputTool(place: ToolPlace, commands: Commands): BoundedTool {
  return boundedTool(
    {
      name: "command_output",
      description: "Shows what a background command printed since the last look, and its exit code once it has ended.",
      inputSchema: {
        type: "object",
        properties: {
          id: { type: "string", description: "from run_command" },
          stop: { type: "boolean", description: "end the command and its children" },
          wait_seconds: {
            type: "integer",
            default: USUAL_WAIT_SECONDS,
            description: "how long to wait for its end",
          },
        },
        required: ["id"],
      },
      annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: false },
    },
    async (args) => {
      const command = commands.find(args.requiredText("id"));
      const waitMs = args.count("wait_seconds", USUAL_WAIT_SECONDS, MOST_WAIT_SECONDS) * 1000;
      const isStopped = args.flag("stop");
      if (isStopped) command.stop();
      await command.wait(isStopped ? STOP_WAIT_MS : waitMs);
      return commandReport(place, command, commands);
    },
  );
}

/** Tells about a background command. Once its end is told, the command is forgotten. */
async function commandReport(place: ToolPlace, command: BackgroundCommand, commands: Commands): Promise<string> {
  const { id, end } = command;
  const { text, droppedChars } = command.unread.take();
  if (end !== null) commands.forget(id);
  // If the reader has missed some of the output, it gets all of it, clamped, with a marker for the rest.
  if (end !== null && droppedChars > 0) {
    const room = roomWithin(place.spillway.resolve("run_command").limits, LINE_ROOM);
    return withNote(end.text, endNote(command), room);
  }
  return admitWithNote(place, { tool: "run_command", output: text }, () =>
    end === null ? runNote(id, droppedChars) : endNote(command),
  );
}

function runNote(id: string, droppedChars: number): string {
  const dropped = droppedChars > 0 ? `; ${droppedChars} characters before this are shown once it has ended` : "";
  return `[still running${dropped}: command_output({"id":"${id}"}) shows more, with "stop":true it is ended]`;
}

function endNote({ end }: BackgroundCommand): string {
  const time = end?.isTimedOut ? "its time was up; " : "";
  const rest = end?.artifact ? `; all it printed: recall({"id":"${end.artifact}"})` : "";
  return `[ended: ${time}exit code ${end?.exitCode}${rest}]`;
}
