import { statSync } from "node:fs";
import { codeOf, messageOf, SpillwayError } from "../../errors.ts";
import { tried } from "../../values.ts";

// SQLite's primary result codes are listed at https://sqlite.org/rescode.html
const BUSY = new Set([5, 6]);
const DAMAGED = new Set([11, 26]);
const FULL = 13;
const UNWRITABLE = new Set([3, 8, 10, 14, 23]);
const UNWRITABLE_SYSTEM = new Set(["EACCES", "EPERM", "EROFS", "ENOTDIR", "EISDIR", "EEXIST", "ENOENT"]);
const FULL_SYSTEM = new Set(["ENOSPC", "EDQUOT"]);

/** Returns true if another process or connection is writing now. */
export function isBusy(error: unknown): boolean {
  return BUSY.has(primaryCode(error));
}

/** Returns true if the file or its folder cannot be written. */
export function isUnwritable(error: unknown): boolean {
  const cause = SpillwayError.is(error) ? error.cause : error;
  return UNWRITABLE.has(primaryCode(cause)) || UNWRITABLE_SYSTEM.has(codeOf(cause));
}

/** Turns an error of a driver or the system into one that says what to do. Returns any other error unchanged. */
export function databaseFault(error: unknown, path: string): unknown {
  if (SpillwayError.is(error)) return error;
  const code = primaryCode(error);
  const system = codeOf(error);
  const reason = messageOf(error);
  const fault = (name: "store-damaged" | "store-full" | "store-unavailable", message: string) =>
    new SpillwayError(name, message, { cause: error });
  if (DAMAGED.has(code)) {
    return fault(
      "store-damaged",
      `database ${path} is damaged: ${reason}. Move it away, with its -wal and -shm files; a new one is made at the ` +
        "next start. Outputs over 64 KiB are files beside it and stay readable by their ids; smaller ones, and events, are lost.",
    );
  }
  if (code === FULL || FULL_SYSTEM.has(system)) {
    return fault("store-full", `database ${path} cannot grow: ${reason}. Make room on the disk or run: spillway gc`);
  }
  if (BUSY.has(code)) {
    return fault("store-unavailable", `database ${path} is held by another process: ${reason}. Try again.`);
  }
  if (UNWRITABLE.has(code) || UNWRITABLE_SYSTEM.has(system)) {
    return fault(
      "store-unavailable",
      `database ${path} cannot be opened or written: ${reason}. Check who owns the folder and its free space, or ` +
        "choose another folder.",
    );
  }
  return error;
}

function primaryCode(error: unknown): number {
  return error instanceof Error && "errcode" in error && typeof error.errcode === "number" ? error.errcode & 0xff : 0;
}

/**
 * If a folder cannot be opened because it belongs to another user, returns an error that says so. Returns any other
 * error unchanged.
 */
export function ownerFault(error: unknown, dir: string): unknown {
  const self = process.getuid?.();
  const owner = tried(() => statSync(dir, { throwIfNoEntry: false })?.uid);
  if (self === undefined || typeof owner !== "number" || owner === self || !isUnwritable(error)) return error;
  return new SpillwayError(
    "store-unavailable",
    `${dir} belongs to another user (uid ${owner}; this process has uid ${self}), and a store is for its owner alone. ` +
      "Run as that user, or choose a folder of your own with --dir or SPILLWAY_DIR.",
    { cause: error },
  );
}
