import { createReadStream, fstatSync, openSync, readSync } from "node:fs";
import { SpillwayError } from "../../errors.ts";

/** Large enough that reading costs little, small enough to stay in the processor's cache. */
const CHUNK_BYTES = 256 * 1024;

/** Opens a file, or standard input for no file or "-". Throws at once if it cannot be read. */
export function openInput(file: string | undefined): AsyncGenerator<Uint8Array> {
  return readAll(file === undefined || file === "-" ? 0 : openFile(file));
}

/** The descriptor's bytes. A chunk is overwritten by the next. */
async function* readAll(descriptor: number): AsyncGenerator<Uint8Array> {
  const buffer = new Uint8Array(CHUNK_BYTES);
  // A blocking read is three times cheaper than a stream; a filter has nothing else to do meanwhile.
  for (;;) {
    const length = readSome(descriptor, buffer);
    if (length === 0) return;
    if (length === null) break;
    yield buffer.subarray(0, length);
  }
  yield* createReadStream("", { fd: descriptor, highWaterMark: CHUNK_BYTES });
}

/** Bytes read; null if the descriptor does not block and has nothing yet. */
function readSome(descriptor: number, buffer: Uint8Array): number | null {
  try {
    return readSync(descriptor, buffer, 0, buffer.length, null);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EOF") return 0; // how Windows says that a pipe was closed
    if (code === "EAGAIN") return null;
    throw error;
  }
}

function openFile(file: string): number {
  try {
    const descriptor = openSync(file, "r");
    if (fstatSync(descriptor).isDirectory()) throw Object.assign(new Error(), { code: "EISDIR" });
    return descriptor;
  } catch (error) {
    throw new SpillwayError("bad-input", `cannot read ${file}: ${reason(error)}`, { cause: error });
  }
}

function reason(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  const known: Record<string, string> = {
    ENOENT: "no such file",
    EACCES: "permission denied",
    EISDIR: "it is a directory",
  };
  return known[code ?? ""] ?? message;
}
