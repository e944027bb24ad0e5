import type { SearchSource } from "../contract/searcher.ts";

/** Each read of a store has a price of its own; larger ones only take memory. */
const CHUNK_BYTES = 4 * 1024 * 1024;

/** A source from its start, one chunk read ahead of the one in use. */
export async function* readChunks(source: SearchSource, chunkBytes = CHUNK_BYTES): AsyncGenerator<Uint8Array> {
  const chunkAt = (from: number) => {
    const chunk = source.read({ from, to: Math.min(from + chunkBytes, source.bytes) });
    // Nobody waits for it if the reader stops here.
    chunk.catch(() => {});
    return chunk;
  };
  let ahead = chunkAt(0);
  for (let at = 0; at < source.bytes; at += chunkBytes) {
    const chunk = await ahead;
    if (at + chunkBytes < source.bytes) ahead = chunkAt(at + chunkBytes);
    yield chunk;
  }
}
