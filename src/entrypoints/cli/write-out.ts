// Writes to standard output and error directly: loading Node's streams takes a fifth of the start of a short command.
import { fstatSync, writeSync } from "node:fs";

let goesOn = false;
/** True if the last line on the screen has ended. */
let isLineEnded = true;
/** True if a status line stands on the terminal. */
let isStatusShown = false;
/** Takes standard output in place of the terminal, and what is told meanwhile. */
let pager: Pager | null = null;

/** A program that shows long output page by page. */
export interface Pager {
  /** True if it has the screen. Until then, output is held back. */
  readonly isShown: boolean;
  write(chunk: string | Uint8Array): Promise<void>;
  /** What was told is written when the pager has ended. */
  hold(text: string): void;
}

/** From now on a pager gets standard output; null ends that. */
export function setPager(next: Pager | null): void {
  pager = next;
}
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
  if (chunk.length === 0) return;
  if (pager !== null) return pager.write(chunk);
  showStatus("");
  isLineEnded = chunk[chunk.length - 1] === "\n" || chunk.at(-1) === 10;
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
  if (pager !== null) return pager.hold(text);
  showStatus("");
  endLine();
  writeErrorNow(text);
}

function writeErrorNow(text: string): void {
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

/** Writes a text that a line of ours ends, and ends that line. */
export function writeEnded(text: string): Promise<void> {
  return writeOut(text === "" || text.endsWith("\n") ? text : `${text}\n`);
}

/** Writes a value as one line of JSON. */
export function writeJson(value: unknown): Promise<void> {
  return writeOut(`${JSON.stringify(value)}\n`);
}

/** On a terminal, ends the last line if the output did not. Standard output stays as it is. */
export function endLine(): void {
  if (!isLineEnded && isTerminal(1)) writeErrorNow("\n");
  isLineEnded = true;
}

const CLEAR_LINE = "\r\x1b[K";

/** Shows a line on standard error, which must be a terminal, until something else is written. An empty one takes it away. */
export function showStatus(line: string): void {
  if (pager?.isShown || (line === "" && !isStatusShown)) return;
  isStatusShown = line !== "";
  writeErrorNow(CLEAR_LINE + line);
}

/** Who reads what a command prints: agents run commands without any terminal. */
export function readsHere(): "model" | "person" {
  return ([0, 1, 2] as const).some(isTerminal) ? "person" : "model";
}

/** Returns true if a descriptor is a terminal. */
export function isTerminal(descriptor: 0 | 1 | 2): boolean {
  try {
    if (!fstatSync(descriptor).isCharacterDevice()) return false;
    // Only here, since it loads Node's streams.
    return (descriptor === 0 ? process.stdin : descriptor === 1 ? process.stdout : process.stderr).isTTY;
  } catch {
    return false; // it is closed
  }
}
