import { createHash, randomBytes } from "node:crypto";
import { type FileHandle, open, unlink } from "node:fs/promises";
import { join } from "node:path";
import { SpillwayError } from "../../errors.ts";
import { type LineIndex, startLineIndex } from "./line-index.ts";
import { readAt } from "./plain-file.ts";
import type { Quota } from "./quota.ts";
import { codeOf, PRIVATE_FILE, reasonOf } from "./store-folders.ts";

const KIB = 1024;
const FIRST_BATCH_BYTES = 128 * KIB;
const LAST_BATCH_BYTES = 1024 * KIB;
const QUOTA_EVERY_BYTES = 16 * 1024 * KIB;
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
  readonly #index = startLineIndex();
  readonly #touch: NodeJS.Timeout;
  #batch: Buffer = Buffer.allocUnsafeSlow(FIRST_BATCH_BYTES);
  /** The batch before: used again once it is written. */
  #free: Buffer | null = null;
  #filled = 0;
  #writing: Promise<void> | null = null;
  /** Bytes that certainly are in the file. */
  #written = 0;
  #allowed: number;
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
    if (bytes.length < this.#batch.length - this.#filled) {
      this.#batch.set(bytes, this.#filled);
      this.#filled += bytes.length;
      return;
    }
    const taken = this.#batch.length - this.#filled;
    this.#batch.set(bytes.subarray(0, taken), this.#filled);
    this.#filled = this.#batch.length;
    // Copied before the first wait: a caller that gives up waiting may use its buffer again.
    return this.#addRest(bytes.slice(taken));
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
    const full = this.#batch.subarray(0, this.#filled);
    const at = this.#written;
    if (at + full.length > this.#allowed) {
      await this.#quota.require(at).catch((error: Error) => this.#fail(error));
      this.#allowed = at + QUOTA_EVERY_BYTES;
    }
    const bytes = Math.min(LAST_BATCH_BYTES, this.#batch.length * 2);
    const next = this.#free?.length === bytes ? this.#free : Buffer.allocUnsafeSlow(bytes);
    this.#free = this.#batch;
    this.#batch = next;
    this.#filled = 0;
    this.#writing = this.#write(full, at);
    this.#writing.catch(() => {});
    this.#hash.update(full);
    this.#index.add(full);
  }

  async #write(full: Uint8Array, at: number): Promise<void> {
    for (let from = 0; from < full.length; ) {
      const { bytesWritten } = await this.#handle.write(full, from, full.length - from, at + from);
      from += bytesWritten;
    }
    this.#written = at + full.length;
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
      const [sha256, index] = isPartial ? await this.#readBack() : [this.#hash.digest("hex"), this.#index.end()];
      await this.#handle.sync();
      await this.#close();
      return { path: this.path, sha256, index, isPartial };
    } catch (error) {
      await this.abandon();
      throw writeFault(error);
    }
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
    await this.#handle.close();
  }

  /** Removes it. */
  async abandon(): Promise<void> {
    await this.#writing?.catch(() => {});
    await this.#close().catch(() => {});
    await unlink(this.path).catch(() => {});
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
