import { createHash, randomBytes } from "node:crypto";
import { constants, statfsSync } from "node:fs";
import { type FileHandle, open, statfs, unlink, utimes } from "node:fs/promises";
import { join } from "node:path";
import { codeOf, messageOf, SpillwayError } from "../../errors.ts";
import { NUMBERS } from "../../stages/policy/defaults.ts";
import { grouped } from "../../values.ts";
import { type LineIndex, startLineIndex } from "./line-index.ts";
import { readAt } from "./plain-file.ts";
import { PRIVATE_FILE } from "./store-folders.ts";

const KIB = 1024;
/** Batches grow: 320 MB in batches of 64 KiB took 1.0 s of CPU and 5.1 s, in growing ones 0.47 and 1.1 s. */
const FIRST_BATCH_BYTES = 64 * KIB;
const LAST_BATCH_BYTES = 1024 * KIB;
/** With more parts than this at once, batches stay small, so that thousands of outputs do not fill the memory. */
const FEW_PARTS = 32;
const QUOTA_EVERY_BYTES = 16 * 1024 * KIB;
/** Syncs at this interval while writing goes on, so that the end does not have to wait for all of it. */
const SYNC_EVERY_BYTES = 64 * 1024 * KIB;
/** A writer that waits for its tool sets the file's time at this interval, so that the part does not count as stale. */
const TOUCH_EVERY_MS = 10 * 60_000;

/** The finished bytes. They are flushed to the disk but do not have the artifact's name yet. */
export interface Spooled {
  path: string;
  sha256: string;
  index: LineIndex;
  /** True if the disk failed on the way. The file then holds the bytes before the failure. */
  isPartial: boolean;
}

let openParts = 0;

/**
 * Writes an unfinished artifact in batches. While one batch is being written, the next one fills, so that 1 GB took 3.5 s on a
 * busy machine and not 5.0. The file is open only
 * while it is written: thousands of outputs that wait for their tools must not use up the files of this process.
 */
export class SpoolPart {
  readonly path: string;
  readonly #quota: Quota;
  readonly #hash = createHash("sha256");
  readonly #index = startLineIndex();
  readonly #touch: NodeJS.Timeout;
  #batch = Buffer.allocUnsafeSlow(FIRST_BATCH_BYTES);
  /** The memory of the batch before, to be used again after it is written. */
  #free: Buffer<ArrayBuffer> | null = null;
  #filled = 0;
  #writing: Promise<void> | null = null;
  /** The number of bytes that are certainly in the file. */
  #written = 0;
  #allowed = QUOTA_EVERY_BYTES;
  #syncing: Promise<void> | null = null;
  #synced = 0;
  /** The first fault of a sync. It is kept because the disk reports a fault only once. */
  #syncFault: unknown = null;
  #fault: Error | null = null;
  #isClosed = false;

  private constructor(path: string, quota: Quota) {
    this.path = path;
    this.#quota = quota;
    openParts += 1;
    this.#touch = setInterval(() => {
      const now = new Date();
      void utimes(path, now, now).catch(() => {});
    }, TOUCH_EVERY_MS).unref();
  }

  /** Makes a new part. Throws if the store has no room. */
  static async open(spool: string, quota: Quota): Promise<SpoolPart> {
    await quota.require(0);
    const path = join(spool, `${randomBytes(12).toString("hex")}.part`);
    try {
      await (await open(path, "wx", PRIVATE_FILE)).close();
      return new SpoolPart(path, quota);
    } catch (error) {
      throw writeFault(error);
    }
  }

  /** Copies the bytes. Waits only while the batch before is still being written. */
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
    // Copies before the first wait, so that a caller that stops waiting may use its buffer again.
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

  /** Starts to write the batch, and hashes it meanwhile. */
  async #flush(): Promise<void> {
    await this.#settle();
    const full = this.#batch.subarray(0, this.#filled);
    const at = this.#written;
    if (at + full.length > this.#allowed) {
      await this.#quota.require(at).catch((error: Error) => this.#fail(error));
      this.#allowed = at + QUOTA_EVERY_BYTES;
    }
    const bytes = openParts > FEW_PARTS ? FIRST_BATCH_BYTES : Math.min(LAST_BATCH_BYTES, this.#batch.length * 2);
    this.#batch = this.#free?.length === bytes ? this.#free : Buffer.allocUnsafeSlow(bytes);
    this.#free = null;
    this.#filled = 0;
    this.#writing = this.#write(full, at);
    this.#writing.catch(() => {});
    this.#hash.update(full);
    // With many parts nobody writes ahead, so that each has its file open only while its caller waits.
    if (openParts > FEW_PARTS) await this.#settle();
  }

  async #write(full: Buffer<ArrayBuffer>, at: number): Promise<void> {
    await this.#using(async (handle) => {
      for (let from = 0; from < full.length; ) {
        from += (await handle.write(full, from, full.length - from, at + from)).bytesWritten;
      }
    });
    this.#free = Buffer.from(full.buffer);
    this.#written = at + full.length;
    if (this.#syncing === null && this.#written - this.#synced >= SYNC_EVERY_BYTES) this.#syncing = this.#sync();
  }

  async #using<T>(act: (handle: FileHandle) => Promise<T>): Promise<T> {
    const handle = await open(this.path, constants.O_RDWR | (constants.O_NOFOLLOW ?? 0));
    return act(handle).finally(() => handle.close());
  }

  /** Starts a sync early. `end` checks whether it failed. */
  async #sync(): Promise<void> {
    this.#synced = this.#written;
    await this.#using((handle) => handle.datasync()).catch((error: unknown) => {
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

  /** Flushes everything to the disk. After a fault, flushes the bytes that were written before it. */
  async end(): Promise<Spooled> {
    try {
      if (this.#fault === null) {
        await this.#flush();
        await this.#settle();
      }
    } catch {
      // The fault is kept in #fault. The bytes before it are saved below.
    }
    try {
      const isPartial = this.#fault !== null;
      await this.#syncing;
      if (this.#syncFault !== null) throw this.#syncFault;
      const [sha256, index] = await this.#using(async (handle) => {
        if (isPartial) await handle.truncate(this.#written);
        await handle.sync();
        return isPartial ? this.#readBack(handle) : ([this.#hash.digest("hex"), this.#index.end()] as const);
      });
      await this.#close();
      return { path: this.path, sha256, index, isPartial };
    } catch (error) {
      await this.abandon();
      throw writeFault(error);
    }
  }

  async #readBack(handle: FileHandle): Promise<readonly [string, LineIndex]> {
    const hash = createHash("sha256");
    const index = startLineIndex();
    for (let from = 0; from < this.#written; from += LAST_BATCH_BYTES) {
      const bytes = await readAt(handle, this.path, from, Math.min(this.#written, from + LAST_BATCH_BYTES));
      hash.update(bytes);
      index.add(bytes);
    }
    return [hash.digest("hex"), index.end()];
  }

  async #close(): Promise<void> {
    if (!this.#isClosed) openParts -= 1;
    this.#isClosed = true;
    clearInterval(this.#touch);
    await this.#syncing;
  }

  /** Removes the part. */
  async abandon(): Promise<void> {
    await this.#writing?.catch(() => {});
    await this.#close();
    await unlink(this.path).catch(() => {});
  }
}

/** Returns an error that says why bytes could not be written. */
export function writeFault(error: unknown): SpillwayError {
  if (SpillwayError.is(error)) return error;
  const code = codeOf(error);
  if (code === "ENOSPC" || code === "EDQUOT" || code === "EFBIG") {
    return new SpillwayError("store-full", `the disk is full: ${messageOf(error)}. Run: spillway gc`, { cause: error });
  }
  return new SpillwayError("store-unavailable", `the artifact cannot be written: ${messageOf(error)}`, {
    cause: error,
  });
}

const GLANCE_EVERY_MS = 1000;
const MAKE_ROOM_EVERY_MS = 60_000;

/** Sets how much a local store may take. */
export interface StoreLimits {
  /** The most bytes of all artifacts together. */
  maxBytes?: number;
  /** How many bytes stay free on the disk. */
  freeReserveBytes?: number;
}

/** Refuses artifacts before the disk or the store is full. */
export interface Quota {
  /**
   * Throws if there is no room for more. `heldBytes` is the size so far of one unfinished artifact, which the store's
   * total does not include yet.
   */
  require(heldBytes: number): Promise<void>;
  /**
   * Does the same for a small artifact, but looks at most once a second, so that the check costs less than the saving.
   */
  glance(): Promise<void>;
  /** Does the same as `require` without a promise. It cannot make room first. */
  requireNow(bytes: number): void;
}

/** Opens the quota of a folder. Before it refuses, it calls `makeRoom`, which may remove what retention allows. */
export function openQuota(
  dir: string,
  { maxBytes = NUMBERS.retainTotalBytes.default, freeReserveBytes = NUMBERS.freeReserveBytes.default }: StoreLimits,
  totalBytes: () => number,
  makeRoom: () => Promise<unknown>,
): Quota {
  const free = async () => {
    const disk = await statfs(dir);
    return disk.bavail * disk.bsize;
  };
  let glancedMs = -Infinity;
  let madeRoomMs = -Infinity;
  let refusal: unknown = null;
  const require = async (heldBytes: number): Promise<void> => {
    if ((await free()) >= freeReserveBytes && totalBytes() + heldBytes < maxBytes) return;
    if (performance.now() - madeRoomMs > MAKE_ROOM_EVERY_MS) {
      madeRoomMs = performance.now();
      await makeRoom();
    }
    refuse(await free(), heldBytes);
  };
  const refuse = (freeBytes: number, heldBytes: number): void => {
    if (freeBytes < freeReserveBytes) {
      throw new SpillwayError(
        "store-full",
        `the disk of ${dir} has ${grouped(freeBytes)} bytes free, and ${grouped(freeReserveBytes)} have to stay free. ` +
          "Make room on it, or run: spillway gc",
      );
    }
    const total = totalBytes();
    if (total + heldBytes < maxBytes) return;
    throw new SpillwayError(
      "store-full",
      `the store in ${dir} holds ${grouped(total + heldBytes)} of ${grouped(maxBytes)} bytes, and all of it is of sessions that are ` +
        "in use or pinned. Raise the limit, unpin a session, or run: spillway rm --session NAME",
    );
  };
  return {
    require,
    requireNow(bytes) {
      const disk = statfsSync(dir);
      refuse(disk.bavail * disk.bsize, bytes);
    },
    async glance() {
      if (performance.now() - glancedMs > GLANCE_EVERY_MS) {
        glancedMs = performance.now();
        refusal = await require(0).then(
          () => null,
          (error: unknown) => error,
        );
      }
      if (refusal !== null) throw refusal;
    },
  };
}
