import { closeSync, openSync, readFileSync, rmSync, statSync, writeSync } from "node:fs";
import { SpillwayError } from "../../../errors.ts";

/** A lock whose owner cannot be told is honoured for this long. */
const STALE_MS = 30 * 60_000;

/**
 * Locks a transcript as OpenClaw does, by a file beside it with the owner's process id, so that a live writer and we keep
 * out of each other's way. The lock of a process that is gone is taken over. Returns what unlocks it.
 */
export function lockFile(path: string): () => void {
  const lock = `${path}.lock`;
  for (let attempt = 1; ; attempt++) {
    try {
      const descriptor = openSync(lock, "wx", 0o600);
      writeSync(descriptor, JSON.stringify({ pid: process.pid, createdAt: new Date().toISOString() }));
      closeSync(descriptor);
      return () => rmSync(lock, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw cannot(path, error);
    }
    const owner = ownerOf(lock);
    if (owner !== "gone" || attempt > 2) {
      const who = owner === "gone" ? "another process" : owner;
      throw new SpillwayError("bad-input", `${path} is in use by ${who} (${lock}); try again when it has ended`);
    }
    rmSync(lock, { force: true });
  }
}

/** Who holds a lock, in words; "gone" if nobody does any more. */
function ownerOf(lock: string): string {
  try {
    const ageMs = Date.now() - statSync(lock).mtimeMs;
    const pid = pidIn(lock);
    if (pid === null) return ageMs > STALE_MS ? "gone" : "an unknown process";
    process.kill(pid, 0);
    return `process ${pid}`;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // The process is there, but somebody else's.
    return code === "EPERM" ? "another user's process" : "gone";
  }
}

function pidIn(lock: string): number | null {
  try {
    const { pid } = JSON.parse(readFileSync(lock, "utf8").slice(0, 4096)) as { pid?: unknown };
    return typeof pid === "number" && Number.isSafeInteger(pid) && pid > 0 ? pid : null;
  } catch {
    return null;
  }
}

function cannot(path: string, error: unknown): SpillwayError {
  const reason = error instanceof Error ? error.message : String(error);
  return new SpillwayError("bad-input", `cannot lock ${path}: ${reason}`, { cause: error });
}
