import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { closeSync } from "node:fs";
import { Socket } from "node:net";
import { constants } from "node:os";
import { PassThrough, type Readable } from "node:stream";
import { messageOf } from "../../../errors.ts";
import { spawnCall } from "../../mcp/windows-command.ts";
import type { RunningCommand } from "../../tools/index.ts";
import { type CommandOutput, openSharedPipe, readOutput } from "./pipe-reader.ts";

/** A command that was started, or could not be. */
export interface StartedCommand {
  /** What it writes, both its streams in one. */
  output: CommandOutput;
  /** As a shell gives it: 128 + n after a signal, 127 for no such command, 126 for one that cannot be run. */
  exitCode: Promise<number>;
  /** Why it could not be started; null if it was. Settles when the command is started or cannot be. */
  fault: Promise<string | null>;
  /** True if both streams came through one pipe, so that their order is the true one. */
  isTrueOrder: boolean;
  /** Sends a signal to the command and all its children. */
  signal(name: NodeJS.Signals): void;
  /** Lets our process end while a child of the command goes on. */
  letGo(): void;
}

const IS_WINDOWS = process.platform === "win32";
/** Windows has no such pipe, and Bun hands none of ours to a child. */
const HAS_SHARED_PIPE = !IS_WINDOWS && process.versions["bun"] === undefined;

/** Starts a command in a process group of its own. */
export function startCommand(words: string[], markStderr: boolean): StartedCommand {
  const [file = ""] = words;
  const call = spawnCall(words);
  const pipe = markStderr || !HAS_SHARED_PIPE ? null : openSharedPipe();
  const stdio: StdioOptions = pipe === null ? ["inherit", "pipe", "pipe"] : ["inherit", pipe.write, pipe.write];
  let child: ChildProcess;
  try {
    child = spawn(call.file, call.args, { ...call.options, stdio, detached: !IS_WINDOWS, windowsHide: true });
  } finally {
    // The pipe ends when its last writer closes it, so we close our own end.
    if (pipe !== null) closeSync(pipe.write);
  }
  const { stdout, stderr } = child;
  // If no more files can be opened, the command was not started and has no streams.
  const output: CommandOutput =
    pipe?.output ?? (stdout && stderr ? joinStreams(stdout, stderr, markStderr) : NO_OUTPUT);
  const ender = child.pid === undefined || IS_WINDOWS ? null : startEnder(child.pid);
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
        // All processes of the group have ended.
      }
    },
    letGo() {
      ender?.dismiss();
      output.destroy();
      child.unref();
    },
  };
}

const NO_OUTPUT: CommandOutput = { async *[Symbol.asyncIterator]() {}, destroy() {} };

/** The time between the request to end and the end by force. */
const KILL_AFTER_MS = 2000;

/** Ends a group of processes when its input ends without a word. */
const ENDER = `read -r word && exit
kill -s TERM -- "-$1"; kill -s CONT -- "-$1"
sleep ${KILL_AFTER_MS / 1000}
kill -s KILL -- "-$1"`;

/**
 * Starts a process that ends the command's group if we end without a word: by SIGKILL, by a crash, for want of memory. It
 * is in a session of its own, so that a signal to our group does not reach it.
 */
function startEnder(group: number): { dismiss(): void } {
  const child = spawn("sh", ["-c", ENDER, "sh", String(group)], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
    cwd: "/",
  });
  // Without it the command may outlive us. That is no reason not to run it.
  child.on("error", () => {});
  child.stdin?.on("error", () => {});
  child.unref();
  // It is a socket in Node, and none in Bun.
  if (child.stdin instanceof Socket) child.stdin.unref();
  return { dismiss: () => child.stdin?.end("done\n") };
}

/** A whole line for a shell was given as the name of a command. */
function shellHint(file: string): string {
  if (!/[\s|&;<>$*]/.test(file)) return "";
  return `; if a shell is to read it: spillway run -- sh -c '${file.replaceAll("'", String.raw`'\''`)}'`;
}

function reason(file: string, error: NodeJS.ErrnoException): string {
  if (error.code === "ENOENT") return `${file}: no such command${shellHint(file)}`;
  if (error.code === "EACCES") return `${file}: may not be run (permission denied)`;
  return `${file}: cannot be run: ${messageOf(error)}`;
}

const MARK = Buffer.from("stderr: ");
/** A line longer than this is passed on in parts. */
const MAX_LINE_BYTES = 64 * 1024;
const BREAK = 10;

/** Joins two streams line by line, in the order in which lines reach us. Lines of the second may be marked. */
function joinStreams(stdout: Readable, stderr: Readable, markStderr: boolean): Readable {
  const joined = new PassThrough();
  const sources = [stdout, stderr];
  let open = sources.length;
  joined.on("drain", () => sources.forEach((source) => source.resume()));
  joined.on("close", () => sources.forEach((source) => source.destroy()));
  for (const source of sources) {
    const lines = lineCutter(source === stderr && markStderr);
    const pass = (bytes: Buffer) => {
      if (bytes.length > 0 && !joined.write(bytes)) sources.forEach((each) => each.pause());
    };
    source.on("data", (chunk: Buffer) => pass(lines.add(chunk)));
    source.on("error", () => {});
    source.once("close", () => {
      if (joined.destroyed) return;
      pass(lines.end());
      open -= 1;
      if (open === 0) joined.end();
    });
  }
  return joined;
}

/** Holds an incomplete line back, so that no line of the other stream is written inside it. */
function lineCutter(isMarked: boolean): { add(chunk: Buffer): Buffer; end(): Buffer } {
  let held: Buffer = Buffer.alloc(0);
  let isLineStart = true;
  function marked(bytes: Buffer): Buffer {
    if (!isMarked || bytes.length === 0) return bytes;
    const parts: Buffer[] = [];
    for (let from = 0; from < bytes.length; ) {
      const at = bytes.indexOf(BREAK, from);
      const to = at < 0 ? bytes.length : at + 1;
      if (isLineStart) parts.push(MARK);
      parts.push(bytes.subarray(from, to));
      isLineStart = at >= 0;
      from = to;
    }
    return Buffer.concat(parts);
  }
  return {
    add(chunk) {
      const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
      const end = bytes.lastIndexOf(BREAK) + 1;
      const cut = bytes.length - end > MAX_LINE_BYTES ? bytes.length : end;
      held = bytes.subarray(cut);
      return marked(bytes.subarray(0, cut));
    },
    end: () => marked(held),
  };
}

/** The exit code if the time is up, as of `timeout`. */
const EXIT_TIMED_OUT = 124;
/** What a shell's child would get with us. SIGUSR1 would otherwise start Node's debugger. */
const PASSED: NodeJS.Signals[] = IS_WINDOWS
  ? ["SIGINT", "SIGTERM", "SIGHUP"]
  : ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGALRM"];

/** A command that is watched. */
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
    // If the command has ended, the signal is for us.
    if (isEnded) process.exit(128 + constants.signals[name]);
    command.signal(name);
  };
  for (const name of PASSED) process.on(name, pass);
  const pause = () => {
    // The command's group has no shell above it, and so it would ignore SIGTSTP.
    command.signal("SIGSTOP");
    process.kill(process.pid, "SIGSTOP");
  };
  const goOn = () => command.signal("SIGCONT");
  if (!IS_WINDOWS) process.on("SIGTSTP", pause).on("SIGCONT", goOn);
  const onTime = () => {
    isTimedOut = true;
    command.signal("SIGTERM");
    // A stopped process takes no other signal until it is continued.
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
      process.off("SIGTSTP", pause).off("SIGCONT", goOn);
    },
  };
}

/** Our own standard input carries messages: no command may read from it. */
const SCRIPT = 'cd -- "$1" && exec "$(command -v bash || echo sh)" -c "$2" </dev/null';

/** Starts a line of shell for a tool. */
export function runForTools(command: string, folder: string): RunningCommand {
  const started = startCommand(["sh", "-c", SCRIPT, "sh", folder, command], false);
  const { exitCode, signal, letGo } = started;
  return { output: outputOf(started), exitCode, signal, letGo };
}

async function* outputOf({ fault, output, exitCode }: StartedCommand): AsyncGenerator<Uint8Array> {
  const reason = await fault;
  if (reason !== null) throw new Error(reason);
  yield* readOutput(output, exitCode);
}
