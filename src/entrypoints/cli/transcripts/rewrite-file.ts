import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  copyFileSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { badInput, type SpillwayError } from "../../../errors.ts";

const COPY_BYTES = 1024 * 1024;
/** If another process appends during each of these attempts, what it appended last is copied as it is. */
const MAX_ATTEMPTS = 3;

/** An open file and its size when it was opened. It may grow while it is read. */
export interface Snapshot {
  descriptor: number;
  bytes: number;
}

/** Takes the parts of the new file in order. */
export interface Sink {
  write(bytes: string | Uint8Array): void;
  /** Adds these bytes of the old file. */
  copy(from: number, to: number): void;
}

/** What was done to the file. */
export interface Rewritten {
  /** The file as it was; null if nothing was changed. */
  backup: string | null;
  /** How many bytes another process appended meanwhile. They are in the new file as they came. */
  appendedBytes: number;
}

/**
 * Writes a file anew: writes another file beside it, flushes it, keeps the old file as a backup and renames the new one over
 * it. If the file grew meanwhile, `make` is called again; it returns false if there is nothing to change. Nothing that
 * another process appends is lost: it goes into the new file, or stays in the backup.
 */
export async function rewriteFile(
  path: string,
  make: (old: Snapshot, sink: Sink) => Promise<boolean>,
): Promise<Rewritten> {
  const unlock = lockFile(path);
  removeParts(path);
  const source = openSync(path, "r");
  const part = `${path}.${randomBytes(6).toString("hex")}.part`;
  try {
    for (let attempt = 1; ; attempt++) {
      const before = fstatSync(source);
      const target = openSync(part, "wx", 0o600);
      try {
        fchmodSync(target, before.mode & 0o777);
        const sink = new FileSink(source, target);
        const isChanged = await make({ descriptor: source, bytes: before.size }, sink);
        if (!isChanged) return { backup: null, appendedBytes: 0 };
        const now = unchangedBefore(path, source, before);
        const hasGrown = now.size > before.size;
        if (!hasGrown || attempt === MAX_ATTEMPTS) {
          sink.copy(before.size, now.size);
          sink.flush();
          fsyncSync(target);
          const backup = replace(path, part);
          return { backup, appendedBytes: now.size - before.size + copyLate(source, now.size, path) };
        }
      } finally {
        closeSync(target);
        rmSync(part, { force: true });
      }
    }
  } finally {
    closeSync(source);
    unlock();
  }
}

/** Removes the temporary files of a process that was killed. Nobody else writes them while we hold the lock. */
function removeParts(path: string): void {
  const begins = `${basename(path)}.`;
  for (const name of readdirSync(dirname(path))) {
    if (name.startsWith(begins) && /^[0-9a-f]{12}\.part$/.test(name.slice(begins.length)))
      rmSync(join(dirname(path), name), { force: true });
  }
}

/** The state of the file now. Throws if it is not the file that was read, or was changed other than by appending. */
function unchangedBefore(path: string, source: number, before: Stats): Stats {
  const now = fstatSync(source);
  const named = statSync(path, { throwIfNoEntry: false });
  const isSame = named?.ino === before.ino && named.dev === before.dev;
  const isEdited = now.size < before.size || (now.size === before.size && now.mtimeMs !== before.mtimeMs);
  if (isSame && !isEdited) return now;
  throw badInput(`${path} was changed by another process meanwhile; nothing was done`);
}

function replace(path: string, part: string): string {
  const backup = freeName(path);
  try {
    linkSync(path, backup);
  } catch {
    // Some file systems have no hard links.
    copyFileSync(path, backup, constants.COPYFILE_EXCL);
  }
  renameSync(part, path);
  if (process.platform !== "win32") {
    const folder = openSync(dirname(path), "r");
    fsyncSync(folder);
    closeSync(folder);
  }
  return backup;
}

function freeName(path: string): string {
  const stamp = new Date().toISOString().replace(/[-:]/g, "").slice(0, 15);
  for (let repeat = 1; ; repeat++) {
    const name = `${path}.${stamp}${repeat === 1 ? "" : `-${repeat}`}.bak`;
    if (statSync(name, { throwIfNoEntry: false }) === undefined) return name;
  }
}

/** Copies what was appended to the old file between the last look at it and its replacement; returns how many bytes. */
function copyLate(source: number, from: number, path: string): number {
  const { size } = fstatSync(source);
  if (size <= from) return 0;
  const target = openSync(path, "a");
  try {
    const sink = new FileSink(source, target);
    sink.copy(from, size);
    sink.flush();
    fsyncSync(target);
  } finally {
    closeSync(target);
  }
  return size - from;
}

/** Collects small writes and writes large pieces. */
class FileSink implements Sink {
  readonly #source: number;
  readonly #target: number;
  #held: Uint8Array[] = [];
  #heldBytes = 0;

  constructor(source: number, target: number) {
    this.#source = source;
    this.#target = target;
  }

  write(bytes: string | Uint8Array): void {
    const piece = typeof bytes === "string" ? Buffer.from(bytes) : Buffer.from(bytes);
    this.#held.push(piece);
    this.#heldBytes += piece.length;
    if (this.#heldBytes >= COPY_BYTES) this.flush();
  }

  copy(from: number, to: number): void {
    const buffer = Buffer.allocUnsafe(Math.min(COPY_BYTES, Math.max(0, to - from)));
    for (let at = from; at < to; ) {
      const length = readSync(this.#source, buffer, 0, Math.min(buffer.length, to - at), at);
      if (length === 0) return;
      this.write(buffer.subarray(0, length));
      at += length;
    }
  }

  flush(): void {
    const bytes = Buffer.concat(this.#held, this.#heldBytes);
    this.#held = [];
    this.#heldBytes = 0;
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#target, bytes, at);
  }
}

/** If the owner of a lock is not known, the lock holds for this long. */
const STALE_MS = 30 * 60_000;

/**
 * Locks a transcript as OpenClaw does: a file beside it holds the owner's process id, so that we and a live writer do not
 * write at the same time. If the owner is gone, its lock is taken over. Returns the function that unlocks.
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
      throw badInput(`${path} is in use by ${who} (${lock}); try again when it has ended`);
    }
    rmSync(lock, { force: true });
  }
}

/** Who holds a lock, in words; "gone" if the process has ended. */
function ownerOf(lock: string): string {
  try {
    const ageMs = Date.now() - statSync(lock).mtimeMs;
    const pid = pidIn(lock);
    if (pid === null) return ageMs > STALE_MS ? "gone" : "an unknown process";
    process.kill(pid, 0);
    return `process ${pid}`;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // The process exists, but belongs to another user.
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
  return badInput(`cannot lock ${path}: ${reason}`, { cause: error });
}
