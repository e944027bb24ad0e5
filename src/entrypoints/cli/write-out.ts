// Standard output and error, written at once: loading Node's streams for them takes a fifth of a short command's start.
import { fstatSync, writeSync } from "node:fs";

let goesOn = false;
let fault: NodeJS.ErrnoException | null = null;

/** From now on the command goes on though nobody can be told. */
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
  // A reader that closed early (head, a pager) is no fault of ours.
  if (error.code !== "EPIPE") writeError(`spillway: cannot write standard output: ${error.message}\n`);
  process.exit(error.code === "EPIPE" ? 0 : 2);
}

/** Writes to standard output and waits until it is taken, so that a slow reader holds us up and not our memory. */
export async function writeOut(chunk: string | Uint8Array): Promise<void> {
  try {
    const rest = writeNow(1, chunk);
    if (rest.length > 0) await new Promise<void>((resolve) => outputStream().write(rest, () => resolve()));
  } catch (error) {
    onFault(error as NodeJS.ErrnoException);
  }
}

let isWatched = false;

/** Standard output for those who need a stream. */
export function outputStream(): NodeJS.WriteStream {
  if (!isWatched) process.stdout.on("error", (error) => onFault(error));
  isWatched = true;
  return process.stdout;
}

/** Writes to standard error. That nobody reads what we say changes nothing of what we do. */
export function writeError(text: string): void {
  try {
    const rest = writeNow(2, text);
    if (rest.length > 0) process.stderr.on("error", () => {}).write(rest);
  } catch {}
}

/** What a descriptor that does not block has no room for yet. */
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

/** Writes a text as it is; on a terminal its last line has no break of its own. */
export async function writeText(text: string): Promise<void> {
  await writeOut(text);
  if (!text.endsWith("\n") && isTerminal()) writeError("\n");
}

function isTerminal(): boolean {
  return fstatSync(1).isCharacterDevice() && process.stdout.isTTY;
}
