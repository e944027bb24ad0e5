import { StringDecoder } from "node:string_decoder";
import { setTimeout as sleep } from "node:timers/promises";
import type { Spillway } from "../../spillway.ts";
import { LINE_ROOM, roomWithin, withRoom } from "./admit-with-note.ts";

/** Commands that run, and ended ones whose end nobody has read. */
const MAX_COMMANDS = 16;

/** How a background command ended. */
export interface CommandEnd {
  exitCode: number;
  isTimedOut: boolean;
  /** All its output, clamped, for a reader who has missed some of it. */
  text: string;
  artifact: string | null;
}

/** A command in the background. */
export interface BackgroundCommand {
  id: string;
  unread: UnreadText;
  /** Null while it runs. */
  end: CommandEnd | null;
  stop(): void;
  /** Waits for its end, but no longer than this. */
  wait(ms: number): Promise<void>;
}

/** Runs commands for tools. */
export interface Commands {
  /** Starts a command that its caller waits for. */
  start: CommandRunner;
  startInBackground(command: string, folder: string, timeoutMs: number): BackgroundCommand;
  find(id: string): BackgroundCommand;
  /** Forgets a command whose end was read. */
  forget(id: string): void;
  /** Ends all background commands. */
  stop(): Promise<void>;
}

/** Runs commands for tools with `start`. All output of a background command goes through `spillway` into the store. */
export function openCommands(spillway: Spillway, start: CommandRunner, session?: string): Commands {
  const commands = new Map<string, BackgroundCommand>();
  const maxChars = spillway.policy.commands.maxPendingChars;
  let started = 0;

  function makeRoom(): void {
    if (commands.size < MAX_COMMANDS) return;
    const ended = [...commands.values()].find(({ end }) => end !== null);
    if (ended === undefined) {
      throw new Error(`${MAX_COMMANDS} commands run in the background already: stop one with command_output first`);
    }
    commands.delete(ended.id);
  }

  async function follow(command: RunningCommand, watch: WatchedCommand, unread: UnreadText): Promise<CommandEnd> {
    const output = heard(command.output, (chunk) => unread.add(chunk));
    try {
      const tool = "run_command";
      const { limits } = spillway.resolve(tool);
      const about = { tool, session, limits: withRoom(limits, roomWithin(limits, LINE_ROOM)) };
      const { text, receipt } = await spillway.admit({ ...about, output, exitCode: watch.exitCode });
      const exitCode = await watch.exitCode;
      return { exitCode, isTimedOut: watch.isTimedOut(), text, artifact: receipt.artifact };
    } finally {
      watch.end();
    }
  }

  return {
    start,
    startInBackground(line, folder, timeoutMs) {
      makeRoom();
      const running = start(line, folder);
      const watch = watchCommand(running, timeoutMs);
      const unread = newUnreadText(maxChars);
      const ended = follow(running, watch, unread);
      const command: BackgroundCommand = {
        id: `command-${++started}`,
        unread,
        end: null,
        stop: watch.stop,
        async wait(ms) {
          const abort = new AbortController();
          const time = sleep(ms, undefined, { signal: abort.signal }).catch(() => {});
          await Promise.race([ended, time]);
          abort.abort();
        },
      };
      void ended.then((end) => {
        command.end = end;
      });
      commands.set(command.id, command);
      return command;
    },
    find(id) {
      const command = commands.get(id);
      if (command !== undefined) return command;
      const known = [...commands.keys()].join(", ") || "none";
      throw new Error(`no command has the id ${JSON.stringify(id.slice(0, 100))}; there are: ${known}`);
    },
    forget: (id) => void commands.delete(id),
    async stop() {
      const running = [...commands.values()].filter(({ end }) => end === null);
      for (const command of running) command.stop();
      await Promise.all(running.map((command) => command.wait(STOP_WAIT_MS)));
    },
  };
}

/** Longer than the pause before commands are ended by force. */
const STOP_WAIT_MS = 5000;

async function* heard(
  output: AsyncIterable<Uint8Array>,
  hear: (chunk: Uint8Array) => void,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of output) {
    hear(chunk);
    yield chunk;
  }
}

/** The newest output of a command that nobody has read yet, up to a limit. */
interface UnreadText {
  add(chunk: Uint8Array): void;
  /** Takes the output that is there. `droppedChars` characters before it were dropped. */
  take(): { text: string; droppedChars: number };
}

/** Holds at most `maxChars`. */
function newUnreadText(maxChars: number): UnreadText {
  const decoder = new StringDecoder("utf8");
  let parts: string[] = [];
  let chars = 0;
  let droppedChars = 0;
  return {
    add(chunk) {
      const part = decoder.write(chunk as Buffer);
      if (part === "") return;
      parts.push(part);
      chars += part.length;
      while (chars > maxChars) {
        const first = parts[0] ?? "";
        const over = Math.min(chars - maxChars, first.length);
        if (over === first.length) parts.shift();
        else parts[0] = first.slice(over);
        chars -= over;
        droppedChars += over;
      }
    },
    take() {
      // If the limit split a surrogate pair, the half that is left becomes U+FFFD.
      const taken = { text: parts.join("").toWellFormed(), droppedChars };
      parts = [];
      chars = 0;
      droppedChars = 0;
      return taken;
    },
  };
}

/** A command that was started, its children included. */
export interface RunningCommand {
  /** Its output, both streams in one. It ends with the command, even if children go on. A chunk is valid until the next one. */
  output: AsyncIterable<Uint8Array>;
  /** The exit code, as a shell gives it. */
  exitCode: Promise<number>;
  /** Sends a signal to the command and all its children. */
  signal(name: "SIGTERM" | "SIGCONT" | "SIGKILL"): void;
  /** Lets our process end while a child goes on. */
  letGo(): void;
}

/** Starts a line of shell in a folder, with empty input, in a process group of its own. */
export type CommandRunner = (command: string, folder: string) => RunningCommand;

/** The exit code if the time is up, as of `timeout`. */
const EXIT_TIMED_OUT = 124;
/** The time between the request to end and the end by force. */
const KILL_AFTER_MS = 2000;

interface WatchedCommand {
  /** The command's own; 124 if its time was up. */
  exitCode: Promise<number>;
  isTimedOut(): boolean;
  /** Asks the command and its children to end, and ends them if they do not. */
  stop(): void;
  /** Ends the watch. No process of the group is left. */
  end(): void;
}

/** Watches a command: ends it when its time is up or the caller gives up on it. */
export function watchCommand(command: RunningCommand, timeoutMs: number, signal?: AbortSignal): WatchedCommand {
  let isTimedOut = false;
  let kill: NodeJS.Timeout | undefined;
  const stop = () => {
    command.signal("SIGTERM");
    // A stopped process takes no other signal until it is continued.
    command.signal("SIGCONT");
    kill ??= setTimeout(() => command.signal("SIGKILL"), KILL_AFTER_MS);
  };
  const timer = setTimeout(() => {
    isTimedOut = true;
    stop();
  }, timeoutMs);
  if (signal?.aborted) stop();
  signal?.addEventListener("abort", stop);
  return {
    exitCode: command.exitCode.then((code) => (isTimedOut ? EXIT_TIMED_OUT : code)),
    isTimedOut: () => isTimedOut,
    stop,
    end() {
      clearTimeout(timer);
      clearTimeout(kill);
      signal?.removeEventListener("abort", stop);
      command.signal("SIGKILL");
      command.letGo();
    },
  };
}
