import { randomBytes } from "node:crypto";
import { type FileHandle, open, realpath, rename, rm, stat } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import { storedName } from "../stored-name.ts";

/**
 * How long to wait for late writers. A writer that opened the log before the rename needs much less time to write its
 * one line.
 */
const SETTLE_MS = 200;

/**
 * Removes the lines of one session from an event log (null: the lines that have no session) and returns how many it
 * removed. Any number of processes may write to the log meanwhile: the log is replaced as a whole, and lines that were
 * written during the copy are copied too. A link to a log stays a link. What went into a pipe or a terminal cannot be removed.
 */
export async function removeFromEventFile(link: string, session: string | null): Promise<number> {
  const name = storedName(session);
  const absent = (error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  };
  const path = await realpath(link).catch(absent);
  if (path === null || !(await stat(path)).isFile()) return 0;
  const log = await open(path, "r").catch(absent);
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
      // If the last line is unfinished, it is kept unless it belongs to the session.
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

/**
 * Copies the whole lines of other sessions, from offset `from` to the end. Returns the offset after the last whole
 * line.
 */
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

/** Returns undefined if the line is not an event of ours. Such a line is kept. */
function sessionOf(line: Buffer): unknown {
  try {
    const event: unknown = JSON.parse(line.toString());
    return typeof event === "object" && event !== null && "session" in event ? event.session : undefined;
  } catch {
    return undefined;
  }
}
