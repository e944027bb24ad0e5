import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { startUtf16, utf16Of } from "../stages/measure/decode-utf16.ts";
import { describeBinary } from "../stages/measure/scan.ts";

const CHUNK_BYTES = 256 * 1024;
const SAMPLE_BYTES = 8192;
const LINE_BREAK = 10;
/** Lines behind the wanted ones are counted in so many bytes. What lies beyond is not read. */
const MAX_COUNTED_BYTES = 512 * 1024 * 1024;

/** A plain file as UTF-8. */
export interface TextFile {
  /** In the file, before anything was decoded. */
  bytes: number;
  /** What sort of binary it is; null for text. */
  binary: string | null;
  /** The text from its start. A chunk is valid until the next one. */
  chunks(): AsyncGenerator<Uint8Array>;
  close(): Promise<void>;
}

/** Opens a plain file. Reading a pipe or a device might never end, or have an effect: they are refused. */
export async function openTextFile(path: string): Promise<TextFile> {
  // Opened without waiting, since opening a pipe that nobody writes to would never return.
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0));
  try {
    const status = await file.stat();
    if (status.isDirectory()) throw new Error("this is a folder: use list_directory");
    if (!status.isFile()) throw new Error("this is no plain file, so it is not read");
    const { buffer, bytesRead } = await file.read(new Uint8Array(SAMPLE_BYTES), 0, SAMPLE_BYTES, 0);
    const sample = buffer.subarray(0, bytesRead);
    return {
      bytes: status.size,
      binary: utf16Of(sample) === null ? describeBinary(sample) : null,
      chunks: () => decodedChunks(file),
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function* decodedChunks(file: FileHandle): AsyncGenerator<Uint8Array> {
  const decoder = startUtf16();
  const chunk = new Uint8Array(CHUNK_BYTES);
  for (let position = 0; ; ) {
    const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, position);
    if (bytesRead === 0) break;
    position += bytesRead;
    yield decoder.add(chunk.subarray(0, bytesRead));
  }
  yield decoder.end();
}

/** Which part of a text is wanted: lines from 1, both included; columns in bytes from 1, of the first line. */
export interface LinesWant {
  fromLine: number;
  toLine: number;
  fromColumn: number;
  maxBytes: number;
}

/** The start of what was wanted. */
export interface LinesRead {
  text: string;
  /** There is more of what was wanted. */
  isCut: boolean;
  /** All lines of the file; of a very large one those that were counted. */
  lines: number;
  isCounted: boolean;
  /** The bytes of the first wanted line, without its break. */
  firstLineBytes: number;
}

/** Reads lines of a text, up to `maxBytes`, and counts all lines. */
export async function readLines(file: TextFile, want: LinesWant, signal?: AbortSignal): Promise<LinesRead> {
  const kept: Uint8Array[] = [];
  let keptBytes = 0;
  let isCut = false;
  let line = 1;
  let column = 1;
  let firstLineBytes = 0;
  let behind = 0;
  let isCounted = true;
  for await (const chunk of file.chunks()) {
    signal?.throwIfAborted();
    for (let start = 0; start < chunk.length; ) {
      const breakAt = chunk.indexOf(LINE_BREAK, start);
      const end = breakAt === -1 ? chunk.length : breakAt + 1;
      if (line === want.fromLine) firstLineBytes += (breakAt === -1 ? end : breakAt) - start;
      if (line >= want.fromLine && line <= want.toLine) {
        const skip = line === want.fromLine ? Math.max(0, want.fromColumn - column) : 0;
        const wanted = chunk.subarray(Math.min(start + skip, end), end);
        const room = want.maxBytes - keptBytes;
        if (wanted.length > room) isCut = true;
        if (room > 0) kept.push(wanted.slice(0, room));
        keptBytes += Math.min(room, wanted.length);
      }
      if (breakAt === -1) column += end - start;
      else {
        line++;
        column = 1;
      }
      start = end;
    }
    if (isCut || line > want.toLine) behind += chunk.length;
    if (behind > MAX_COUNTED_BYTES) {
      isCounted = false;
      break;
    }
  }
  const bytes = Buffer.concat(kept);
  // A character that stands half outside is left out. Any other byte that is no UTF-8 shows as U+FFFD.
  let start = 0;
  while (want.fromColumn > 1 && start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++;
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const text = decoder.decode(bytes.subarray(start), { stream: isCut });
  return { text, isCut, lines: column > 1 ? line : line - 1, isCounted, firstLineBytes };
}
