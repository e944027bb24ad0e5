/** The most characters and outputs that are in memory while they are saved. */
const BATCH_CHARS = 8_000_000;
const BATCH_COUNT = 256;

/**
 * Yields outputs in batches that are saved at the same time. A store can then write many small ones together, and
 * memory stays bounded.
 */
export function* spillBatches<Item>(items: readonly Item[], charsOf: (item: Item) => number): Generator<Item[]> {
  let batch: Item[] = [];
  let chars = 0;
  for (const item of items) {
    batch.push(item);
    chars += charsOf(item);
    if (chars < BATCH_CHARS && batch.length < BATCH_COUNT) continue;
    yield batch;
    batch = [];
    chars = 0;
  }
  if (batch.length > 0) yield batch;
}
