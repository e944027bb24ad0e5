import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { closeSync } from "node:fs";
import { constants } from "node:os";
import type { Readable } from "node:stream";
import { messageOf } from "../../../errors.ts";
import { joinStreams } from "./join-streams.ts";
import type { CommandOutput } from "./pipe-reader.ts";
import { openSharedPipe } from "./shared-pipe.ts";

/** A command that was started, or could not be. */
export interface StartedCommand {
  /** What it writes, both its streams in one. */
  output: CommandOutput;
  /** As a shell gives it: 128 + n after a signal, 127 for no such command, 126 for one that cannot be run. */
  exitCode: Promise<number>;
  /** Why it could not be started; null if it was. Settles with it. */
  fault: Promise<string | null>;
  /** Whether both streams came through one pipe, so that their order is the true one. */
  isTrueOrder: boolean;
  /** Sends a signal to the command and all its children. */
  signal(name: NodeJS.Signals): void;
  /** Lets our process end though a child of the command goes on. */
  letGo(): void;
}

const IS_WINDOWS = process.platform === "win32";

/** Starts a command in a process group of its own. */
export function startCommand([file = "", ...args]: string[], markStderr: boolean): StartedCommand {
  const pipe = markStderr || IS_WINDOWS ? null : openSharedPipe();
  const stdio: StdioOptions = pipe === null ? ["inherit", "pipe", "pipe"] : ["inherit", pipe.write, pipe.write];
  let child: ChildProcess;
  try {
    child = spawn(file, args, { stdio, detached: !IS_WINDOWS, windowsHide: true });
  } finally {
    // The pipe ends when the last one who writes has closed it: that must not be us.
    if (pipe !== null) closeSync(pipe.write);
  }
  const output: CommandOutput =
    pipe?.output ?? joinStreams(child.stdout as Readable, child.stderr as Readable, markStderr);
  const fault = new Promise<string | null>((resolve) => {
    child.once("spawn", () => resolve(null));
    child.once("error", (error) => resolve(reason(file, error)));
  });
  const exitCode = new Promise<number>((resolve) => {
    child.once("error", (error: NodeJS.ErrnoException) => resolve(error.code === "ENOENT" ? 127 : 126));
    child.once("exit", (code, signal) => resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
  });
  return {
    output,
    exitCode,
    fault,
    isTrueOrder: pipe !== null,
    signal(name) {
      if (child.pid === undefined) return;
      try {
        if (IS_WINDOWS) child.kill(name);
        else process.kill(-child.pid, name);
      } catch {
        // All of them have ended.
      }
    },
    letGo() {
      output.destroy();
      child.unref();
    },
  };
}

function reason(file: string, error: NodeJS.ErrnoException): string {
  if (error.code === "ENOENT") return `${file}: no such command`;
  if (error.code === "EACCES") return `${file}: may not be run (permission denied)`;
  return `${file}: cannot be run: ${messageOf(error)}`;
}
