import { expect, test } from "vitest";
import { spillBatches } from "./spill.ts";

test.each([
  ["many small ones by their number", 600, 1, [256, 256, 88]],
  ["large ones by their characters", 5, 3_000_000, [3, 2]],
  ["a very large one by itself", 2, 9_000_000, [1, 1]],
  ["as many as fill a batch", 256, 1, [256]],
  ["none at all", 0, 1, []],
])("batches %s", (_name, count, chars, sizes) => {
  const items = Array.from({ length: count }, (_none, index) => index);
  const batches = [...spillBatches(items, () => chars)];
  expect(batches.map(({ length }) => length)).toEqual(sizes);
  expect(batches.flat()).toEqual(items);
});
