import { randomBytes } from "node:crypto";
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import { storedName } from "../stored-name.ts";

/** A writer that opened the log before it was replaced has written its one line long before this. */
const SETTLE_MS = 200;

/**
 * Takes a session's lines, or for null those of none, out of an event log, of which there may be any number of writers;
 * returns how many. The log is replaced as a whole, and lines that came meanwhile are carried over.
 */
export async function removeFromEventFile(path: string, session: string | null): Promise<number> {
  const name = storedName(session);
  const log = await open(path, "r").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  if (log === null) return 0;
  const temporary = `${path}.${randomBytes(8).toString("hex")}.tmp`;
  try {
    const { mode } = await log.stat();
    const copy = await open(temporary, "ax", mode & 0o777);
    try {
      const first = await copyOthers(log, 0, copy, name);
      if (first.removed === 0) return 0;
      await rename(temporary, path);
      await setTimeout(SETTLE_MS);
      const late = await copyOthers(log, first.at, copy, name);
      // A line that was broken off stays as it is, unless it is the session's.
      if (!late.rest.includes(`"session":${JSON.stringify(name)}`)) await copy.appendFile(late.rest);
      return first.removed + late.removed;
    } finally {
      await copy.close();
    }
  } finally {
    await log.close();
    await rm(temporary, { force: true });
  }
}

/** Copies whole lines of other sessions from a place on; says where it stopped. */
async function copyOthers(log: FileHandle, from: number, copy: FileHandle, name: string | null) {
  let at = from;
  let removed = 0;
  let rest = Buffer.alloc(0);
  const chunk = Buffer.alloc(256 * 1024);
  for (let position = from; ; ) {
    const { bytesRead } = await log.read(chunk, 0, chunk.length, position);
    if (bytesRead === 0) return { at, removed, rest };
    position += bytesRead;
    rest = Buffer.concat([rest, chunk.subarray(0, bytesRead)]);
    const kept: Buffer[] = [];
    let start = 0;
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10, start)) {
      const line = rest.subarray(start, end + 1);
      if (sessionOf(line) === name) removed += 1;
      else kept.push(line);
      start = end + 1;
    }
    at += start;
    rest = Buffer.from(rest.subarray(start));
    if (kept.length > 0) await copy.appendFile(Buffer.concat(kept));
  }
}

/** Undefined for a line that is not an event of ours, which stays. */
function sessionOf(line: Buffer): unknown {
  try {
    const event: unknown = JSON.parse(line.toString());
    return typeof event === "object" && event !== null && "session" in event ? event.session : undefined;
  } catch {
    return undefined;
  }
}
