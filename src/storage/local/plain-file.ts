import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { SpillwayError } from "../../errors.ts";
import { codeOf } from "./store-folders.ts";

/** An artifact's bytes, open for reading. */
export interface ArtifactBytes {
  bytes: number;
  /** Exactly the bytes from `from` to before `to`, which must be inside. */
  read(from: number, to: number): Promise<Uint8Array>;
  /** Ranges of this size that begin at a multiple of it cost least; without it, any do. */
  blockBytes?: number;
  close(): Promise<void>;
}

/** Opens a file of the store; null if it is not there. A link in its place is an error, not a way out. */
export async function openNoFollow(path: string): Promise<FileHandle | null> {
  try {
    // Without waiting: a pipe that somebody put there has nobody who writes.
    const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
    const handle = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    if ((await handle.stat()).isFile()) return handle;
    await handle.close();
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    if (codeOf(error) !== "ELOOP") {
      throw new SpillwayError("store-unavailable", `${path} cannot be read: ${String(error)}`, { cause: error });
    }
  }
  throw new SpillwayError(
    "store-damaged",
    `${path} is not a plain file; it is not read. Remove it, and run: spillway verify`,
  );
}

/** Opens an artifact that is kept as it came; null if its file is not there. */
export async function openPlain(path: string, bytes: number): Promise<ArtifactBytes | null> {
  const handle = await openNoFollow(path);
  if (handle === null) return null;
  const { size } = await handle.stat();
  if (size !== bytes) {
    await handle.close();
    throw new SpillwayError(
      "store-damaged",
      `${path} should hold ${bytes} bytes and holds ${size}. Run: spillway verify`,
    );
  }
  return { bytes, read: (from, to) => readAt(handle, path, from, to), close: () => handle.close() };
}

/** Reads a range of an open file, whole or not at all. */
export async function readAt(handle: FileHandle, path: string, from: number, to: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafeSlow(to - from);
  for (let filled = 0; filled < buffer.length; ) {
    const { bytesRead } = await handle.read(buffer, filled, buffer.length - filled, from + filled);
    if (bytesRead === 0) {
      throw new SpillwayError("store-damaged", `${path} ends at byte ${from + filled}. Run: spillway verify`);
    }
    filled += bytesRead;
  }
  return buffer;
}
