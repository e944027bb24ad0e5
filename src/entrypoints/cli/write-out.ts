// Writes to standard output and error directly: loading Node's streams takes a fifth of the start of a short command.
import { fstatSync, writeSync } from "node:fs";

let goesOn = false;
let fault: NodeJS.ErrnoException | null = null;

/** From now on the command goes on even if standard output cannot be written. */
export function goOnUnread(): void {
  goesOn = true;
}

/** Why standard output could not be written; null if it could. */
export function outputFault(): NodeJS.ErrnoException | null {
  return fault;
}

function onFault(error: NodeJS.ErrnoException): void {
  fault ??= error;
  if (goesOn) return;
  // A reader that closes early, such as head or a pager, is not a fault.
  if (error.code !== "EPIPE") writeError(`spillway: cannot write standard output: ${error.message}\n`);
  process.exit(error.code === "EPIPE" ? 0 : 2);
}

/** Writes to standard output and waits until it is taken. A slow reader makes us wait instead of filling our memory. */
export async function writeOut(chunk: string | Uint8Array): Promise<void> {
  try {
    const rest = writeNow(1, chunk);
    if (rest.length > 0) await new Promise<void>((resolve) => outputStream().write(rest, () => resolve()));
  } catch (error) {
    onFault(error as NodeJS.ErrnoException);
  }
}

let isWatched = false;

/** Standard output as a stream, for code that needs one. */
export function outputStream(): NodeJS.WriteStream {
  if (!isWatched) process.stdout.on("error", (error) => onFault(error));
  isWatched = true;
  return process.stdout;
}

/** Writes to standard error. If nobody reads it, the command goes on all the same. */
export function writeError(text: string): void {
  try {
    const rest = writeNow(2, text);
    if (rest.length > 0) process.stderr.on("error", () => {}).write(rest);
  } catch {}
}

/** Writes what a descriptor has room for and returns the rest. */
function writeNow(descriptor: 1 | 2, chunk: string | Uint8Array): Uint8Array {
  let rest = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
  try {
    while (rest.length > 0) rest = rest.subarray(writeSync(descriptor, rest));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
  }
  return rest;
}

/** Writes a value as one line of JSON. */
export function writeJson(value: unknown): Promise<void> {
  return writeOut(`${JSON.stringify(value)}\n`);
}

/** Writes a text as it is. On a terminal, a break is added if the last line has none. */
export async function writeText(text: string): Promise<void> {
  await writeOut(text);
  if (!text.endsWith("\n") && isTerminal()) writeError("\n");
}

function isTerminal(): boolean {
  return fstatSync(1).isCharacterDevice() && process.stdout.isTTY;
}
