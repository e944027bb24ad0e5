import { admitWithNote, LINE_ROOM, roomWithin, withNote } from "./admit-with-note.ts";
import { type BoundedTool, boundedTool, type ToolPlace } from "./bounded-tool.ts";
import type { BackgroundCommand, Commands } from "./commands.ts";

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
export async function commandReport(place: ToolPlace, command: BackgroundCommand, commands: Commands): Promise<string> {
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
