import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { codeOf, SpillwayError } from "../../errors.ts";

/** An artifact's bytes, open for reading. */
export interface ArtifactBytes {
  bytes: number;
  /** Reads exactly the bytes from `from` to before `to`. Both must be inside the artifact. */
  read(from: number, to: number): Promise<Uint8Array>;
  close(): Promise<void>;
}

/**
 * Opens a file of the store. Returns null if it is missing. If a link is in its place, throws and does not follow it.
 */
export async function openNoFollow(path: string): Promise<FileHandle | null> {
  try {
    // Does not wait: if somebody put a pipe there, opening it would wait for a writer that never comes.
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

/** Opens an artifact that is stored uncompressed. Returns null if its file is missing. */
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

/** Reads a range of an open file. Throws if the file ends before it. */
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
