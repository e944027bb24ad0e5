import { type ChildProcess, spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "../../errors.ts";
import { newLineFrames, writeLine } from "./line-frames.ts";
import { type ServerHandlers, UnableServer, type Upstream } from "./upstream.ts";
import { spawnCall } from "./windows-command.ts";

/** The longest line that Node can hold as one string. */
const MAX_LINE_BYTES = 500 * 1024 * 1024;
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 30_000;
/** If a server ran for this long before it failed, it is started again at once. */
const SOUND_AFTER_MS = 60_000;
/** How long a caller waits for a server to come back. */
const MAX_WAIT_MS = 1000;
const STOP_AFTER_MS = 2000;
/** Faults that starting again does not mend, and the exit code that a shell has for each. */
const UNABLE: Record<string, 126 | 127> = { ENOENT: 127, EACCES: 126 };
const IS_WINDOWS = process.platform === "win32";

/** Starts a server as a child and keeps it alive. */
export function startChildServer(words: readonly string[], handlers: ServerHandlers): Upstream {
  const [file = ""] = words;
  let child: ChildProcess | null = null;
  let isStopped = false;
  let hasRun = false;
  let failures = 0;
  let lastReason = "";
  let restart: Promise<void> | null = null;
  let restartAtMs = 0;

  function start(): void {
    const startedAtMs = Date.now();
    const call = spawnCall(words);
    // The server gets a process group, which ends as one. Windows has none.
    const started = spawn(call.file, call.args, {
      ...call.options,
      stdio: ["pipe", "pipe", "inherit"],
      detached: !IS_WINDOWS,
      windowsHide: true,
    });
    child = started;
    let isEnded = false;
    const end = (reason: string) => {
      if (isEnded) return;
      isEnded = true;
      child = null;
      if (isStopped) return;
      if (Date.now() - startedAtMs > SOUND_AFTER_MS) failures = 0;
      lastReason = reason;
      const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** failures++, MAX_PAUSE_MS);
      restartAtMs = Date.now() + pauseMs;
      void handlers.gone(`${reason} It is started again.`).catch(() => {});
      restart = again(pauseMs);
    };
    started.once("spawn", () => {
      hasRun = true;
    });
    started.once("error", (error: NodeJS.ErrnoException) => {
      const exitCode = UNABLE[error.code ?? ""];
      if (hasRun || exitCode === undefined) {
        return end(`The MCP server "${file}" cannot be run: ${messageOf(error)}.`);
      }
      child = null;
      lastReason = `The MCP server "${file}" cannot be run: ${exitCode === 127 ? "no such command" : "permission denied"}.`;
      void giveUp(new UnableServer(lastReason, exitCode));
    });
    started.once("exit", (code, signal) =>
      end(`The MCP server "${file}" ended (${signal ?? `exit code ${code}`}) before it answered.`),
    );
    started.stdin?.on("error", () => {}); // the end of the server tells of it
    void read(started);
  }

  async function giveUp(fault: UnableServer): Promise<void> {
    await handlers.gone(fault.message).catch(() => {});
    handlers.unable(fault);
  }

  async function again(pauseMs: number): Promise<void> {
    await sleep(pauseMs, undefined, { ref: false });
    restart = null;
    if (isStopped) return;
    start();
    for (const line of handlers.greeting()) await send(line).catch(() => {});
  }

  async function read({ stdout }: ChildProcess): Promise<void> {
    let tooLong: [Uint8Array, number] | null = null;
    const frames = newLineFrames(MAX_LINE_BYTES, (...told) => {
      tooLong = told;
    });
    try {
      for await (const chunk of stdout ?? []) {
        for (const line of frames.add(chunk as Uint8Array)) await handlers.message(line);
        if (tooLong !== null) await handlers.tooLong(...(tooLong as [Uint8Array, number]));
        tooLong = null;
      }
    } catch {
      // The server ended in the middle of a line; its end tells of it.
    }
  }

  async function send(message: Uint8Array | string): Promise<void> {
    if (restart !== null && restartAtMs - Date.now() <= MAX_WAIT_MS) await restart;
    const stdin = child?.stdin;
    if (!stdin) throw new Error(lastReason || `The MCP server "${file}" is not running.`);
    if (stdin.destroyed) throw new Error(`The MCP server "${file}" takes no more input.`);
    await writeLine(stdin, message);
  }

  start();
  return {
    send,
    async stop() {
      isStopped = true;
      const ending = child;
      if (ending === null) return;
      const ended = new Promise<void>((resolve) => ending.once("exit", () => resolve()));
      // In MCP, closing its input asks a server to end. If it does not end, it is killed.
      ending.stdin?.end();
      for (const signal of ["SIGTERM", "SIGKILL"] as const) {
        const isDone = await Promise.race([ended.then(() => true), sleep(STOP_AFTER_MS, false, { ref: false })]);
        if (isDone) break;
        end(ending, signal);
      }
      await Promise.race([ended, sleep(STOP_AFTER_MS, undefined, { ref: false })]);
      // Processes that the server started.
      end(ending, "SIGKILL");
    },
  };
}

function end({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(IS_WINDOWS ? pid : -pid, signal);
  } catch {
    // All processes of the group have ended.
  }
}
