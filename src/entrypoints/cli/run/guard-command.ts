import { constants } from "node:os";
import type { StartedCommand } from "./start-command.ts";

/** What `timeout` says, too, when time is up. */
const EXIT_TIMED_OUT = 124;
/** From the request to end to the end. */
const KILL_AFTER_MS = 2000;
const PASSED: NodeJS.Signals[] = ["SIGINT", "SIGTERM", "SIGHUP"];

/** A command under watch. */
export interface GuardedCommand {
  /** The command's own; 124 if its time was up. */
  exitCode: Promise<number>;
  isTimedOut(): boolean;
  /** Ends the watch. After a time-out nothing of the group is left. */
  end(): void;
}

/** Passes our signals on to the command's group, and ends the group when its time is up. */
export function guardCommand(command: StartedCommand, timeoutMs: number | undefined): GuardedCommand {
  let isTimedOut = false;
  let kill: NodeJS.Timeout | undefined;
  let isEnded = false;
  const pass = (name: NodeJS.Signals) => {
    // With the command gone the signal is for us.
    if (isEnded) process.exit(128 + constants.signals[name]);
    command.signal(name);
  };
  for (const name of PASSED) process.on(name, pass);
  const onTime = () => {
    isTimedOut = true;
    command.signal("SIGTERM");
    // A stopped process takes no other signal before it goes on.
    command.signal("SIGCONT");
    kill = setTimeout(() => command.signal("SIGKILL"), KILL_AFTER_MS);
  };
  const timer = timeoutMs === undefined ? undefined : setTimeout(onTime, Math.min(timeoutMs, 2 ** 31 - 1));
  return {
    exitCode: command.exitCode.then((code) => {
      clearTimeout(timer);
      isEnded = true;
      return isTimedOut ? EXIT_TIMED_OUT : code;
    }),
    isTimedOut: () => isTimedOut,
    end() {
      clearTimeout(timer);
      clearTimeout(kill);
      if (isTimedOut) command.signal("SIGKILL");
      for (const name of PASSED) process.off(name, pass);
    },
  };
}
