import { createHash, randomBytes } from "node:crypto";
import { type FileHandle, open, unlink } from "node:fs/promises";
import { join } from "node:path";
import { SpillwayError } from "../../errors.ts";
import { type LineIndex, startLineIndex } from "./line-index.ts";
import { readAt } from "./plain-file.ts";
import type { Quota } from "./quota.ts";
import { SpoolThread } from "./spool-thread.ts";
import { codeOf, PRIVATE_FILE, reasonOf } from "./store-folders.ts";

const KIB = 1024;
const FIRST_BATCH_BYTES = 128 * KIB;
const LAST_BATCH_BYTES = 1024 * KIB;
const QUOTA_EVERY_BYTES = 16 * 1024 * KIB;
/** From here on a thread pays for itself. */
const THREAD_FROM_BYTES = 16 * 1024 * KIB;
/** What the disk has to do is done side by side, not left for the end. */
const SYNC_EVERY_BYTES = 64 * 1024 * KIB;
/** A writer that waits for its tool shows by this that it is still there. */
const TOUCH_EVERY_MS = 10 * 60_000;

/** What became of the bytes: flushed to the disk, not yet under the artifact's name. */
export interface Spooled {
  path: string;
  sha256: string;
  index: LineIndex;
  /** The disk failed on the way: these are the bytes before that. */
  isPartial: boolean;
}

/** An artifact on its way: written in batches, at most one of them under way while the next one fills. */
export class SpoolPart {
  readonly path: string;
  readonly #handle: FileHandle;
  readonly #quota: Quota;
  readonly #hash = createHash("sha256");
  #thread: SpoolThread | null = null;
  readonly #index = startLineIndex();
  readonly #touch: NodeJS.Timeout;
  #batch = Buffer.allocUnsafeSlow(FIRST_BATCH_BYTES);
  /** The batch before, once it is written: its memory is used again. */
  #free: Buffer<ArrayBuffer> | null = null;
  #filled = 0;
  #writing: Promise<void> | null = null;
  /** Bytes that certainly are in the file. */
  #written = 0;
  #allowed: number;
  #syncing: Promise<void> | null = null;
  #synced = 0;
  /** The disk says only once that it failed. */
  #syncFault: unknown = null;
  #fault: Error | null = null;

  private constructor(path: string, handle: FileHandle, quota: Quota) {
    this.path = path;
    this.#handle = handle;
    this.#quota = quota;
    this.#allowed = QUOTA_EVERY_BYTES;
    this.#touch = setInterval(() => {
      const now = new Date();
      void handle.utimes(now, now).catch(() => {});
    }, TOUCH_EVERY_MS).unref();
  }

  /** Opens a new part, if the store has room for one. */
  static async open(spool: string, quota: Quota): Promise<SpoolPart> {
    await quota.require(0);
    const path = join(spool, `${randomBytes(12).toString("hex")}.part`);
    try {
      return new SpoolPart(path, await open(path, "wx+", PRIVATE_FILE), quota);
    } catch (error) {
      throw writeFault(error);
    }
  }

  /** Copies the bytes; waits only while the batch before is still being written. */
  add(bytes: Uint8Array): Promise<void> | void {
    if (this.#fault !== null) throw this.#fault;
    this.#index.add(bytes);
    if (bytes.length < this.#batch.length - this.#filled) {
      this.#batch.set(bytes, this.#filled);
      this.#filled += bytes.length;
      return;
    }
    const taken = this.#batch.length - this.#filled;
    this.#batch.set(bytes.subarray(0, taken), this.#filled);
    this.#filled = this.#batch.length;
    // Copied before the first wait: a caller that gives up waiting may use its buffer again.
    return this.#addRest(new Uint8Array(bytes.subarray(taken)));
  }

  async #addRest(rest: Uint8Array): Promise<void> {
    await this.#flush();
    for (let from = 0; from < rest.length; ) {
      const to = Math.min(rest.length, from + this.#batch.length - this.#filled);
      this.#batch.set(rest.subarray(from, to), this.#filled);
      this.#filled += to - from;
      from = to;
      if (this.#filled === this.#batch.length) await this.#flush();
    }
  }

  /** Begins to write the batch, and hashes it meanwhile. */
  async #flush(): Promise<void> {
    await this.#settle();
    const batch = this.#batch;
    const full = batch.subarray(0, this.#filled);
    const at = this.#written;
    if (at + full.length > this.#allowed) {
      await this.#quota.require(at).catch((error: Error) => this.#fail(error));
      this.#allowed = at + QUOTA_EVERY_BYTES;
    }
    const bytes = Math.min(LAST_BATCH_BYTES, batch.length * 2);
    this.#batch = this.#free?.length === bytes ? this.#free : Buffer.allocUnsafeSlow(bytes);
    this.#free = null;
    this.#filled = 0;
    if (at >= THREAD_FROM_BYTES) this.#thread ??= startThread(this.#handle.fd);
    this.#writing = this.#write(full, at);
    this.#writing.catch(() => {});
    if (this.#thread === null) this.#hash.update(full);
  }

  async #write(full: Buffer<ArrayBuffer>, at: number): Promise<void> {
    const { length } = full;
    let memory = full.buffer;
    if (this.#thread !== null) memory = await this.#thread.write(full, at);
    for (let from = 0; this.#thread === null && from < length; ) {
      const { bytesWritten } = await this.#handle.write(full, from, length - from, at + from);
      from += bytesWritten;
    }
    this.#free = Buffer.from(memory);
    this.#written = at + length;
    if (this.#syncing === null && this.#written - this.#synced >= SYNC_EVERY_BYTES) this.#syncing = this.#sync();
  }

  /** Hurries the disk; whether all is on it is asked at the end. */
  async #sync(): Promise<void> {
    this.#synced = this.#written;
    await this.#handle.datasync().catch((error: unknown) => {
      this.#syncFault ??= error;
    });
    this.#syncing = null;
  }

  async #settle(): Promise<void> {
    if (this.#fault !== null) throw this.#fault;
    await this.#writing?.catch((error: unknown) => this.#fail(writeFault(error)));
    this.#writing = null;
  }

  #fail(fault: Error): never {
    this.#fault = fault;
    throw fault;
  }

  /** Flushes to the disk. After a fault, what was written before it. */
  async end(): Promise<Spooled> {
    try {
      if (this.#fault === null) {
        await this.#flush();
        await this.#settle();
      }
    } catch {
      // The fault is kept; the bytes before it are not lost.
    }
    try {
      const isPartial = this.#fault !== null;
      if (isPartial) await this.#handle.truncate(this.#written);
      await this.#syncing;
      if (this.#syncFault !== null) throw this.#syncFault;
      // Side by side: the one waits for the disk, the other for a processor.
      const [[sha256, index]] = await Promise.all([
        isPartial ? this.#readBack() : this.#finishHash(),
        this.#handle.sync(),
      ]);
      await this.#close();
      return { path: this.path, sha256, index, isPartial };
    } catch (error) {
      await this.abandon();
      throw writeFault(error);
    }
  }

  async #finishHash(): Promise<[string, LineIndex]> {
    const sha256 = this.#thread === null ? this.#hash.digest("hex") : await this.#thread.digest();
    return [sha256, this.#index.end()];
  }

  async #readBack(): Promise<[string, LineIndex]> {
    const hash = createHash("sha256");
    const index = startLineIndex();
    for (let from = 0; from < this.#written; from += LAST_BATCH_BYTES) {
      const bytes = await readAt(this.#handle, this.path, from, Math.min(this.#written, from + LAST_BATCH_BYTES));
      hash.update(bytes);
      index.add(bytes);
    }
    return [hash.digest("hex"), index.end()];
  }

  async #close(): Promise<void> {
    clearInterval(this.#touch);
    await this.#thread?.end();
    await this.#syncing;
    await this.#handle.close();
  }

  /** Removes it. */
  async abandon(): Promise<void> {
    await this.#writing?.catch(() => {});
    await this.#close().catch(() => {});
    await unlink(this.path).catch(() => {});
  }
}

/** Null where no thread can be had: then the hash is taken here. */
function startThread(descriptor: number): SpoolThread | null {
  try {
    return new SpoolThread(descriptor);
  } catch {
    return null;
  }
}

/** Why bytes could not be written, in words for a person. */
export function writeFault(error: unknown): SpillwayError {
  if (SpillwayError.is(error)) return error;
  const code = codeOf(error);
  if (code === "ENOSPC" || code === "EDQUOT" || code === "EFBIG") {
    return new SpillwayError("store-full", `the disk is full: ${reasonOf(error)}. Run: spillway gc`, { cause: error });
  }
  return new SpillwayError("store-unavailable", `the artifact cannot be written: ${reasonOf(error)}`, { cause: error });
}
