import { closeSync, constants, fstatSync, mkdirSync, openSync, readSync, statSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import type { SpillwayEvent } from "../../contract/event.ts";
import { SpillwayError } from "../../errors.ts";
import { eventLine } from "../ledgers/event-form.ts";

/** Takes events one after another, as they happen. */
export type EventListener = (event: SpillwayEvent) => Promise<void>;

/** Writes each event as a line of JSON at the end of a file: the log that `events: FILE` asks for. */
export function fileEvents(path: string): EventListener {
  return async (event) => appendLine(path, eventLine(event));
}

/**
 * One write at the file's end, so that lines of several processes do not mix. The file is opened anew each time: when
 * somebody moves the log away, the next line begins a new one.
 */
export function appendLine(path: string, line: string, extraFlags = 0): void {
  const descriptor = openToAppend(path, extraFlags);
  try {
    const bytes = Buffer.from(`${endsInsideLine(descriptor) ? "\n" : ""}${line}\n`);
    const written = writeSync(descriptor, bytes);
    if (written < bytes.length)
      throw new SpillwayError("store-full", `${path}: only part of an event could be written`);
  } finally {
    closeSync(descriptor);
  }
}

function openToAppend(path: string, extraFlags: number): number {
  const { O_APPEND, O_CREAT, O_NONBLOCK, O_RDWR, O_WRONLY } = constants;
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) makeFolder(dirname(path));
  // A pipe that nobody reads is an error, not a wait without end.
  if (found && !found.isFile()) return openSync(path, O_APPEND | O_WRONLY | (O_NONBLOCK ?? 0) | extraFlags);
  return openSync(path, O_APPEND | O_CREAT | O_RDWR | extraFlags, 0o600);
}

/** By hand: Node's own way never ends under a folder that takes no others, as /proc does. */
function makeFolder(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false }) !== undefined) return;
  if (dirname(folder) !== folder) makeFolder(dirname(folder));
  mkdirSync(folder, { mode: 0o700 });
}

/** True after a write that a full disk broke off. */
function endsInsideLine(descriptor: number): boolean {
  const stats = fstatSync(descriptor);
  if (!stats.isFile() || stats.size === 0) return false;
  const last = Buffer.alloc(1);
  return readSync(descriptor, last, 0, 1, stats.size - 1) === 1 && last[0] !== 10;
}
