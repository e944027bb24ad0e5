import { spawnSync } from "node:child_process";
import { closeSync, constants, lstatSync, mkdtempSync, openSync, readdirSync, rmSync } from "node:fs";
import { type OnReadOpts, Socket, type SocketConstructorOpts } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NUMBERS } from "../../../stages/policy/defaults.ts";

/** More than a pipe holds. If a read filled a slot, the next read would start at once and find almost nothing. */
const SLOT_BYTES = 68 * 1024;
const SLOTS = 8;

/** A command's output as it comes. A chunk is only valid until the next one is asked for. */
export interface CommandOutput extends AsyncIterable<Uint8Array> {
  destroy(): unknown;
}

/** Reads a pipe into the same memory again and again. A stream takes new memory for each chunk: 600 MB take 0.25 s of CPU that way, and 0.15 s here. */
class PipeReader implements CommandOutput {
  readonly #socket: Socket;
  readonly #slots = Array.from({ length: SLOTS }, () => Buffer.allocUnsafeSlow(SLOT_BYTES));
  /** The filled slots that are still in use, the oldest first. The ring goes on after them. */
  readonly #chunks: Uint8Array[] = [];
  #next = 0;
  #isEnded = false;
  #fault: Error | null = null;
  #wake: (() => void) | null = null;

  constructor(descriptor: number) {
    const onread: OnReadOpts = {
      // Called right after each read: gives the slot for the next one.
      buffer: () => this.#slots[this.#next] ?? Buffer.alloc(SLOT_BYTES),
      callback: (bytes, slot) => {
        this.#chunks.push(slot.subarray(0, bytes));
        this.#next = (this.#next + 1) % SLOTS;
        this.#wakeUp();
        return this.#chunks.length < SLOTS;
      },
    };
    const options: SocketConstructorOpts & { onread: OnReadOpts } = {
      fd: descriptor,
      readable: true,
      writable: false,
      onread,
    };
    this.#socket = new Socket(options);
    const end = (fault: Error | null) => {
      this.#isEnded = true;
      this.#fault ??= fault;
      this.#wakeUp();
    };
    this.#socket
      .on("end", () => end(null))
      .on("error", (error) => end(error))
      .on("close", () => end(null))
      .resume();
  }

  #wakeUp(): void {
    this.#wake?.();
    this.#wake = null;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      const chunk = this.#chunks[0];
      if (chunk !== undefined) {
        yield chunk;
        this.#chunks.shift();
        // Reading pauses only while every slot is in use.
        if (this.#chunks.length === SLOTS - 1) this.#socket.resume();
      } else if (this.#fault !== null) throw this.#fault;
      else if (this.#isEnded) return;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }

  destroy(): void {
    this.#socket.destroy();
  }
}

/** How the folder of a pipe begins. It is there for a few milliseconds only. */
const PIPE_FOLDER = "spillway-run-";

/** Removes the folders of pipes whose process was killed while it made one. */
export function sweepPipeFolders(nowMs = Date.now()): void {
  const isLeft = (path: string): boolean => {
    const found = lstatSync(path, { throwIfNoEntry: false });
    const isOld = found !== undefined && found.mtimeMs < nowMs - NUMBERS.staleSpoolMs.default;
    return isOld && found.isDirectory() && found.uid === process.getuid?.();
  };
  try {
    const names = readdirSync(tmpdir()).filter((name) => name.startsWith(PIPE_FOLDER));
    for (const path of names.map((name) => join(tmpdir(), name))) if (isLeft(path)) rmSync(path, { recursive: true });
  } catch {
    // What cannot be removed now is tried again in an hour.
  }
}

/** A pipe with one writing end that several streams of a child can share. */
interface SharedPipe {
  write: number;
  output: PipeReader;
}

/**
 * Makes a real pipe from a named one, which is removed at once. Node gives a child a socket for each stream, and a program
 * cannot open /dev/stdout on a socket. Null if the system cannot make one.
 */
export function openSharedPipe(): SharedPipe | null {
  let folder: string | null = null;
  let read: number | null = null;
  try {
    folder = mkdtempSync(join(tmpdir(), PIPE_FOLDER));
    const path = join(folder, "pipe");
    if (spawnSync("mkfifo", ["-m", "600", path], { stdio: "ignore" }).status !== 0) return null;
    read = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const write = openSync(path, constants.O_WRONLY);
    return { write, output: new PipeReader(read) };
  } catch {
    if (read !== null) closeSync(read);
    return null;
  } finally {
    if (folder !== null) rmSync(folder, { recursive: true, force: true });
  }
}

/** How long a pipe is read after its command has ended, if a background child still has it open. */
const LINGER_MS = 1000;
const LOOK_MS = 20;
/** What a pipe can hold, and so the most that the command itself can have left in it. */
const LEFT_BYTES = 1024 * 1024;

/** Yields a command's output until the pipe ends, or until the command has ended and only children it left could add more. */
export async function* readOutput(output: CommandOutput, exited: Promise<unknown>): AsyncGenerator<Uint8Array> {
  let isWaiting = false;
  let looks = 0;
  let lateBytes = 0;
  let isLate = false;
  let interval: NodeJS.Timeout | undefined;
  let isOver = false;
  const look = () => {
    isLate = true;
    looks = isWaiting ? looks + 1 : 0;
    if (looks > 2 || lateBytes > LEFT_BYTES) output.destroy();
  };
  const watch = () => {
    if (!isOver) interval = setInterval(look, LOOK_MS);
  };
  let timer: NodeJS.Timeout | undefined;
  void exited.then(() => {
    if (!isOver) timer = setTimeout(watch, LINGER_MS);
  });
  try {
    isWaiting = true;
    for await (const chunk of output) {
      isWaiting = false;
      looks = 0;
      if (isLate) lateBytes += chunk.length;
      yield chunk;
      isWaiting = true;
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_STREAM_PREMATURE_CLOSE") throw error;
  } finally {
    isOver = true;
    clearTimeout(timer);
    clearInterval(interval);
  }
}
