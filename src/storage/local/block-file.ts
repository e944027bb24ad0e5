import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { promisify } from "node:util";
import { deflateRaw, inflateRaw } from "node:zlib";
import { SpillwayError } from "../../errors.ts";
import { readWide, writeWide } from "./line-index.ts";
import { type ArtifactBytes, openNoFollow, readAt } from "./plain-file.ts";

// docs/reference/on-disk-format.md describes the file. It uses deflate, because deflate unpacks twice as fast as Brotli
// and not every Node that may read the store has zstd.

const MAGIC = "SPWBLOK1";
const END_MAGIC = "SPWBEND1";
const HEADER_BYTES = 16;
const ENTRY_BYTES = 32;
const FOOTER_BYTES = 64;
const SUMMED_FOOTER_BYTES = 24;
const CHECK_BYTES = 16;
const AS_IT_IS = 0;
const DEFLATE = 1;
/** The output buffer is larger than the block by this, so that one call unpacks all of it. */
const SPARE_BYTES = 64;
/** How many blocks Node's threads work on at the same time, and how many stay in memory for small reads. */
const AT_ONCE = 4;

/** Level 3 unpacks a quarter faster than level 1 and packs smaller. Higher levels take much longer and gain little. */
const LEVEL = 3;

/**
 * Each block is compressed by itself, so that any range can be read alone. If blocks were smaller, handing one to a
 * thread would cost more than unpacking it.
 */
const COMPRESSED_BLOCK_BYTES = 1_048_576;

const compress = promisify(deflateRaw);
const decompress = promisify(inflateRaw);
const check = (block: Uint8Array) => createHash("sha256").update(block).digest().subarray(0, CHECK_BYTES);

/** Writes an artifact's compressed form to an empty open file. `seen` gets every plain block in order. */
export async function writeBlocks(
  source: ArtifactBytes,
  target: FileHandle,
  seen: (block: Uint8Array) => void,
): Promise<void> {
  const header = Buffer.alloc(HEADER_BYTES);
  header.write(MAGIC, 0, "latin1");
  header.writeUInt32LE(COMPRESSED_BLOCK_BYTES, 8);
  await target.appendFile(header);
  const count = Math.ceil(source.bytes / COMPRESSED_BLOCK_BYTES);
  const index = Buffer.alloc(count * ENTRY_BYTES);
  let offset = HEADER_BYTES;
  for (let first = 0; first < count; first += AT_ONCE) {
    const numbers = Array.from({ length: Math.min(AT_ONCE, count - first) }, (_none, at) => first + at);
    const stored = await Promise.all(numbers.map((number) => storeBlock(source, number)));
    for (const [at, block] of stored.entries()) {
      seen(block.plain);
      const entry = (first + at) * ENTRY_BYTES;
      writeWide(index, offset, entry);
      index.writeUInt32LE(block.data.length, entry + 8);
      index.writeUInt32LE(block.codec, entry + 12);
      index.set(check(block.plain), entry + 16);
      offset += block.data.length;
      await target.appendFile(block.data);
    }
  }
  const footer = Buffer.alloc(FOOTER_BYTES);
  writeWide(footer, source.bytes, 0);
  writeWide(footer, offset, 8);
  footer.writeUInt32LE(count, 16);
  footer.writeUInt32LE(COMPRESSED_BLOCK_BYTES, 20);
  footer.set(sumOf(index, footer), SUMMED_FOOTER_BYTES);
  footer.write(END_MAGIC, FOOTER_BYTES - 8, "latin1");
  await target.appendFile(Buffer.concat([index, footer]));
}

async function storeBlock(source: ArtifactBytes, number: number) {
  const from = number * COMPRESSED_BLOCK_BYTES;
  const plain = await source.read(from, Math.min(source.bytes, from + COMPRESSED_BLOCK_BYTES));
  const packed = await compress(plain, { level: LEVEL, chunkSize: plain.length + SPARE_BYTES });
  return packed.length < plain.length
    ? { plain, data: packed, codec: DEFLATE }
    : { plain, data: plain, codec: AS_IT_IS };
}

function sumOf(index: Uint8Array, footer: Uint8Array): Buffer {
  return createHash("sha256").update(index).update(footer.subarray(0, SUMMED_FOOTER_BYTES)).digest();
}

/** Opens a compressed artifact. Returns null if its file is missing. */
export async function openBlocks(path: string, bytes: number): Promise<ArtifactBytes | null> {
  const handle = await openNoFollow(path);
  if (handle === null) return null;
  try {
    const index = await readIndex(handle, path, bytes);
    const blockAt = (number: number) => readBlock(handle, path, index, number, plainBytesOf(number, bytes));
    return {
      bytes,
      blockBytes: COMPRESSED_BLOCK_BYTES,
      read: startReading(blockAt, bytes),
      close: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

const plainBytesOf = (number: number, bytes: number) =>
  Math.min(COMPRESSED_BLOCK_BYTES, bytes - number * COMPRESSED_BLOCK_BYTES);

/**
 * Returns the size in bytes that a compressed artifact's footer states, or null if its file is missing or too short.
 */
export async function blocksBytes(path: string): Promise<number | null> {
  const handle = await openNoFollow(path);
  if (handle === null) return null;
  try {
    const { size } = await handle.stat();
    if (size < HEADER_BYTES + FOOTER_BYTES) return null;
    return readWide(await readAt(handle, path, size - FOOTER_BYTES, size), 0);
  } finally {
    await handle.close();
  }
}

async function readIndex(handle: FileHandle, path: string, bytes: number): Promise<Buffer> {
  const { size } = await handle.stat();
  const count = Math.ceil(bytes / COMPRESSED_BLOCK_BYTES);
  const indexAt = size - FOOTER_BYTES - count * ENTRY_BYTES;
  if (indexAt < HEADER_BYTES) throw damaged(path, "its index");
  const tail = await readAt(handle, path, indexAt, size);
  const [index, footer] = [tail.subarray(0, -FOOTER_BYTES), tail.subarray(-FOOTER_BYTES)];
  const isWhole =
    footer.toString("latin1", FOOTER_BYTES - 8) === END_MAGIC &&
    readWide(footer, 0) === bytes &&
    readWide(footer, 8) === indexAt &&
    sumOf(index, footer).equals(footer.subarray(SUMMED_FOOTER_BYTES, FOOTER_BYTES - 8));
  if (!isWhole) throw damaged(path, "its index");
  return index;
}

function startReading(blockAt: (number: number) => Promise<Uint8Array>, bytes: number): ArtifactBytes["read"] {
  // Small reads are often close to each other, so the last blocks stay in memory.
  const recent = new Map<number, Promise<Uint8Array>>();
  function recentBlock(number: number): Promise<Uint8Array> {
    const block = recent.get(number) ?? blockAt(number);
    recent.delete(number);
    recent.set(number, block);
    for (const oldest of recent.keys()) {
      if (recent.size <= AT_ONCE) break;
      recent.delete(oldest);
    }
    return block;
  }

  return async (from, to) => {
    const first = Math.floor(from / COMPRESSED_BLOCK_BYTES);
    const last = Math.ceil(to / COMPRESSED_BLOCK_BYTES);
    // Returns a whole block without a copy, because copying it would cost as much as checking it.
    if (from === first * COMPRESSED_BLOCK_BYTES && to - from === plainBytesOf(first, bytes)) return blockAt(first);
    const range = Buffer.allocUnsafeSlow(to - from);
    const take = last - first > AT_ONCE ? blockAt : recentBlock;
    for (let number = first; number < last; number += AT_ONCE) {
      const numbers = Array.from({ length: Math.min(AT_ONCE, last - number) }, (_none, at) => number + at);
      await Promise.all(
        numbers.map(async (each) => {
          const start = each * COMPRESSED_BLOCK_BYTES;
          const part = (await take(each)).subarray(Math.max(0, from - start), to - start);
          range.set(part, Math.max(0, start - from));
        }),
      );
    }
    return range;
  };
}

async function readBlock(handle: FileHandle, path: string, index: Buffer, number: number, plainBytes: number) {
  const entry = number * ENTRY_BYTES;
  const offset = readWide(index, entry);
  const stored = await readAt(handle, path, offset, offset + index.readUInt32LE(entry + 8));
  const where = `bytes ${number * COMPRESSED_BLOCK_BYTES}-${number * COMPRESSED_BLOCK_BYTES + plainBytes}`;
  let block: Uint8Array = stored;
  if (index.readUInt32LE(entry + 12) === DEFLATE) {
    try {
      // A damaged block must not unpack to more bytes than the block had.
      block = await decompress(stored, { maxOutputLength: plainBytes, chunkSize: plainBytes + SPARE_BYTES });
    } catch (error) {
      throw damaged(path, where, error);
    }
  }
  if (!check(block).equals(index.subarray(entry + 16, entry + ENTRY_BYTES))) throw damaged(path, where);
  return block;
}

function damaged(path: string, what: string, cause?: unknown): SpillwayError {
  return new SpillwayError("store-damaged", `${path} is damaged: ${what}. Run: spillway verify`, { cause });
}
