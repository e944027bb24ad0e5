import { createHash } from "node:crypto";
import { newScan, scanBytes, scannedLines } from "../../stages/measure/scan.ts";

// docs/reference/on-disk-format.md describes the file.

const MAGIC = "SPWLINE1";
const HEADER_BYTES = 32;
const SUM_BYTES = 32;

/** The index finds the block of a line; the line is then searched inside the block. */
const INDEX_BLOCK_BYTES = 65_536;

/** Says where the lines of an artifact begin. `ends` holds the number of line breaks up to the end of each block. */
export interface LineIndex {
  bytes: number;
  lines: number;
  breaks: number;
  ends: Float64Array;
}

/** Builds a line index from chunks. */
export interface LineIndexBuilder {
  add(bytes: Uint8Array): void;
  end(): LineIndex;
}

/** Starts a line index. How the bytes are split into chunks makes no difference. */
export function startLineIndex(): LineIndexBuilder {
  const ends: number[] = [];
  const scan = newScan();
  return {
    add(chunk) {
      for (let from = 0; from < chunk.length; ) {
        const to = Math.min(chunk.length, from + INDEX_BLOCK_BYTES - (scan.bytes % INDEX_BLOCK_BYTES));
        scanBytes(scan, chunk.subarray(from, to));
        from = to;
        if (scan.bytes % INDEX_BLOCK_BYTES === 0) ends.push(scan.breaks);
      }
    },
    end() {
      const { bytes, breaks } = scan;
      if (bytes % INDEX_BLOCK_BYTES > 0) ends.push(breaks);
      return { bytes, breaks, lines: scannedLines(scan), ends: Float64Array.from(ends) };
    },
  };
}

/** Returns the index as the bytes of a file. */
export function encodeLineIndex(index: LineIndex): Uint8Array {
  const body = Buffer.alloc(HEADER_BYTES + index.ends.length * 8);
  body.write(MAGIC, 0, "latin1");
  body.writeUInt32LE(INDEX_BLOCK_BYTES, 8);
  writeWide(body, index.bytes, 16);
  writeWide(body, index.breaks, 24);
  index.ends.forEach((end, block) => writeWide(body, end, HEADER_BYTES + block * 8));
  return Buffer.concat([body, createHash("sha256").update(body).digest()]);
}

/** Reads an index from a file's bytes. Returns null if it is damaged or belongs to another artifact. */
export function decodeLineIndex(file: Uint8Array, artifact: { bytes: number; lines: number }): LineIndex | null {
  const blocks = Math.ceil(artifact.bytes / INDEX_BLOCK_BYTES);
  if (file.length !== HEADER_BYTES + blocks * 8 + SUM_BYTES) return null;
  const body = Buffer.from(file.buffer, file.byteOffset, file.length - SUM_BYTES);
  if (!createHash("sha256").update(body).digest().equals(file.subarray(body.length))) return null;
  if (body.toString("latin1", 0, 8) !== MAGIC || body.readUInt32LE(8) !== INDEX_BLOCK_BYTES) return null;
  if (readWide(body, 16) !== artifact.bytes) return null;
  const ends = Float64Array.from({ length: blocks }, (_none, block) => readWide(body, HEADER_BYTES + block * 8));
  return { bytes: artifact.bytes, lines: artifact.lines, breaks: readWide(body, 24), ends };
}

/** Returns the offset after the n-th line break, or 0 for n = 0. Reads at most one block. */
export async function findAfterBreak(
  index: LineIndex,
  n: number,
  read: (from: number, to: number) => Promise<Uint8Array>,
): Promise<number> {
  if (n <= 0) return 0;
  if (n > index.breaks) return index.bytes;
  let low = 0;
  let high = index.ends.length - 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((index.ends[middle] ?? 0) >= n) high = middle;
    else low = middle + 1;
  }
  const from = low * INDEX_BLOCK_BYTES;
  const block = await read(from, Math.min(index.bytes, from + INDEX_BLOCK_BYTES));
  const after = afterBreak(block, n - (index.ends[low - 1] ?? 0));
  return after === -1 ? from + block.length : from + after;
}

/** Returns the offset after the n-th line break, with n from 1, or -1 if there are fewer breaks. */
export function afterBreak(bytes: Uint8Array, n: number): number {
  let left = n;
  for (let at = 0; at < bytes.length; at += 1) {
    if (bytes[at] !== 10) continue;
    left -= 1;
    if (left === 0) return at + 1;
  }
  return -1;
}

const TWO_32 = 2 ** 32;

/** Writes a 64-bit little-endian integer. The value must be one that a double holds exactly. */
export function writeWide(buffer: Buffer, value: number, at: number): void {
  buffer.writeUInt32LE(value % TWO_32, at);
  buffer.writeUInt32LE(Math.floor(value / TWO_32), at + 4);
}

/** Reads what `writeWide` wrote. */
export function readWide(buffer: Buffer, at: number): number {
  return buffer.readUInt32LE(at) + buffer.readUInt32LE(at + 4) * TWO_32;
}
