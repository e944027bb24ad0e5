import type { Limits } from "../contract/limits.ts";

/** An output's bytes as they come. */
export type Chunks = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** Held to know whether a strategy has to be loaded. */
const MAX_PEEK_BYTES = 64 * 1024;

/** An output of so few bytes is within every limit: a character, a line or a token has at least one. */
export function leastBytes({
  maxBytes = Infinity,
  maxChars = Infinity,
  maxLines = Infinity,
  maxTokens = Infinity,
}: Limits): number {
  return Math.min(maxBytes, maxChars, maxLines, maxTokens, MAX_PEEK_BYTES);
}

/** Tells whether an output has at most `maxBytes`, which are all that is held for it. */
export async function peek(source: Chunks, maxBytes: number): Promise<{ chunks: Chunks; isSmall: boolean }> {
  const iterator = Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
  const held: Uint8Array[] = [];
  let bytes = 0;
  let fault: { error: unknown } | null = null;
  let isSmall = false;
  try {
    while (!isSmall && bytes <= maxBytes) {
      const next = await iterator.next();
      if (next.done) isSmall = true;
      // What was read may be overwritten by the next read; the last chunk is still as it came.
      else if ((bytes += next.value.length) > maxBytes) held.push(next.value);
      else held.push(new Uint8Array(next.value));
    }
  } catch (error) {
    fault = { error };
  }
  async function* chunks(): AsyncGenerator<Uint8Array> {
    yield* held;
    if (fault !== null) throw fault.error;
    if (!isSmall) yield* { [Symbol.asyncIterator]: () => iterator as AsyncIterator<Uint8Array> };
  }
  return { chunks: chunks(), isSmall };
}
