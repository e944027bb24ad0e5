import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import type { SpillwayEvent } from "../../contract/event.ts";
import { SpillwayError } from "../../errors.ts";
import { NUMBERS } from "../../stages/policy/defaults.ts";
import { eventLine } from "../ledgers/event-form.ts";

/** Takes events one after another, as they happen. */
export type EventListener = (event: SpillwayEvent) => Promise<void>;

/** Returns a listener that appends each event to a file as one line of JSON. The option `events: FILE` uses it. */
export function fileEvents(path: string, maxBytes: number = NUMBERS.eventFileBytes.default): EventListener {
  return async (event) => {
    if (appendLine(path, eventLine(event)) >= maxBytes) rotate(path, maxBytes);
  };
}

/**
 * Moves a full log away, so that the next line begins a new file, and deletes the oldest of those that were moved. A link stays
 * where it is: it may be /dev/stdout.
 */
function rotate(path: string, maxBytes: number): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  // Another process may have been first.
  if (found === undefined || !found.isFile() || found.size < maxBytes) return;
  const rotated = `${path}.${new Date().toISOString().replaceAll(":", "-")}-${process.pid}`;
  if (existsSync(rotated)) return; // of this millisecond; the next line tries again
  renameSync(path, rotated);
  for (const old of rotatedFiles(path).slice(0, -NUMBERS.eventFilesKept.default)) rmSync(old, { force: true });
}

const ROTATED = /^\.\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z-\d+$/;

/** The full files of a log that were moved away, the oldest first. */
export function rotatedFiles(path: string): string[] {
  const name = basename(path);
  if (!existsSync(dirname(path))) return [];
  const beside = readdirSync(dirname(path)).filter((other) => other.startsWith(name));
  return beside
    .filter((other) => ROTATED.test(other.slice(name.length)))
    .sort()
    .map((other) => join(dirname(path), other));
}

/**
 * Appends one line in a single write, so that lines of several processes do not mix. Opens the file anew each time: if
 * somebody moves the log away, the next line begins a new file. Returns the size of the file, or 0 if it is none.
 */
export function appendLine(path: string, line: string, extraFlags = 0): number {
  const descriptor = openToAppend(path, extraFlags);
  try {
    const bytes = Buffer.from(`${endsInsideLine(descriptor) ? "\n" : ""}${line}\n`);
    const written = writeSync(descriptor, bytes);
    if (written < bytes.length)
      throw new SpillwayError("store-full", `${path}: only part of an event could be written`);
    const stats = fstatSync(descriptor);
    return stats.isFile() ? stats.size : 0;
  } finally {
    closeSync(descriptor);
  }
}

function openToAppend(path: string, extraFlags: number): number {
  const { O_APPEND, O_CREAT, O_NONBLOCK, O_RDWR, O_WRONLY } = constants;
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) makeFolder(dirname(path));
  // If nobody reads the pipe, this open fails at once instead of waiting for ever.
  if (found && !found.isFile()) return openSync(path, O_APPEND | O_WRONLY | (O_NONBLOCK ?? 0) | extraFlags);
  return openSync(path, O_APPEND | O_CREAT | O_RDWR | extraFlags, 0o600);
}

/**
 * Makes a folder and its missing parents. Node's recursive mkdir never returns under a folder that takes no others,
 * such as /proc.
 */
function makeFolder(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false }) !== undefined) return;
  if (dirname(folder) !== folder) makeFolder(dirname(folder));
  mkdirSync(folder, { mode: 0o700 });
}

/** Returns true if a full disk broke off the last write in the middle of a line. */
function endsInsideLine(descriptor: number): boolean {
  const stats = fstatSync(descriptor);
  if (!stats.isFile() || stats.size === 0) return false;
  const last = Buffer.alloc(1);
  return readSync(descriptor, last, 0, 1, stats.size - 1) === 1 && last[0] !== 10;
}
