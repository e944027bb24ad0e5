import type { SearchSource } from "../contract/searcher.ts";

/** Each read of a store has a fixed cost. Larger chunks would only take more memory. */
const CHUNK_BYTES = 4 * 1024 * 1024;
/** How much is read ahead if chunks are smaller: enough for one block on each of Node's threads, and some that wait. */
const AHEAD_BYTES = 2 * 1024 * 1024;

/** Yields a source from its start, and reads ahead of the chunk in use. */
export async function* readChunks(source: SearchSource, chunkBytes = CHUNK_BYTES): AsyncGenerator<Uint8Array> {
  const chunkAt = (from: number) => {
    const chunk = source.read({ from, to: Math.min(from + chunkBytes, source.bytes) });
    // If the reader stops here, nobody waits for this chunk.
    chunk.catch(() => {});
    return chunk;
  };
  const most = Math.max(1, Math.floor(AHEAD_BYTES / chunkBytes)) + 1;
  const reading: Promise<Uint8Array>[] = [];
  for (let from = 0; ; ) {
    for (; reading.length < most && from < source.bytes; from += chunkBytes) reading.push(chunkAt(from));
    const chunk = await reading.shift();
    if (chunk === undefined) return;
    yield chunk;
  }
}
