import type { RunningCommand } from "./command-runner.ts";

/** What `timeout` gives, too. */
const EXIT_TIMED_OUT = 124;
/** From the request to end to the end. */
const KILL_AFTER_MS = 2000;

/** A command with a limit on its time. */
export interface WatchedCommand {
  /** The command's own; 124 if its time was up. */
  exitCode: Promise<number>;
  isTimedOut(): boolean;
  /** Asks the command and its children to end, and ends them if they do not. */
  stop(): void;
  /** Ends the watch: nothing of the group is left. */
  end(): void;
}

/** Watches a command: ends it when its time is up or the caller gives up on it. */
export function watchCommand(command: RunningCommand, timeoutMs: number, signal?: AbortSignal): WatchedCommand {
  let isTimedOut = false;
  let kill: NodeJS.Timeout | undefined;
  const stop = () => {
    command.signal("SIGTERM");
    // A stopped process takes no other signal before it goes on.
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
