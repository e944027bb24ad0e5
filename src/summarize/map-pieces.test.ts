import { expect, it } from "vitest";
import { mapPieces, SummaryCache } from "./summarize-output.ts";

async function* count(to: number, log: string[]): AsyncGenerator<number> {
  try {
    for (let at = 0; at < to; at++) {
      log.push(`read ${at}`);
      yield at;
    }
  } finally {
    log.push("closed");
  }
}

const later = () => new Promise((done) => setImmediate(done));

it("gives what came of each piece in order, and reads no further than it works", async () => {
  const log: string[] = [];
  let [running, most, ahead] = [0, 0, 0];
  const done = await mapPieces(count(20, log), 3, async (piece) => {
    most = Math.max(most, ++running);
    ahead = Math.max(ahead, log.length - piece);
    for (let turns = 20 - piece; turns > 0; turns--) await later();
    running--;
    return piece * 2;
  });
  expect(done).toEqual(Array.from({ length: 20 }, (_, at) => at * 2));
  expect([most, log.at(-1)]).toEqual([3, "closed"]);
  expect(ahead).toBeLessThanOrEqual(4);
});

it("ends with the first failure, of the work or of the source, and closes the source", async () => {
  const log: string[] = [];
  const work = mapPieces(count(20, log), 2, async (piece) => {
    if (piece === 3) throw new Error("three");
    await later();
    return piece;
  });
  await expect(work).rejects.toThrow("three");
  expect(log.at(-1)).toBe("closed");
  expect(log.length).toBeLessThan(8);
  async function* broken(): AsyncGenerator<number> {
    yield 1;
    throw new Error("source");
  }
  await expect(mapPieces(broken(), 2, async (piece) => piece)).rejects.toThrow("source");
  expect(await mapPieces(count(0, log), 4, async () => 1)).toEqual([]);
});

it("a cache makes each summary once, holds the last used, and keeps no failure", async () => {
  const cache = new SummaryCache(2);
  let made = 0;
  const get = (key: string) => cache.get(key, async () => `${key}${++made}`);
  expect(await Promise.all([get("a"), get("a"), get("b")])).toEqual(["a1", "a1", "b2"]);
  expect([await get("a"), await get("c"), await get("a"), await get("b")]).toEqual(["a1", "c3", "a1", "b4"]);
  await expect(cache.get("x", async () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await get("x")).toBe("x5");
});
