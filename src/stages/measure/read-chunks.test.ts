import { expect, test } from "vitest";
import { readChunks } from "./read-chunks.ts";

async function textsOf(chunks: unknown[]): Promise<string[]> {
  const texts: string[] = [];
  for await (const bytes of readChunks(chunksOf(chunks))) texts.push(new TextDecoder().decode(bytes));
  return texts;
}

async function* chunksOf(chunks: unknown[]): AsyncGenerator<never> {
  for (const chunk of chunks) yield chunk as never;
}

test("objects come as lines of JSON, other values as their text", async () => {
  expect(await textsOf([{ a: 1 }, [2], null, 5, true])).toEqual(['{"a":1}\n', "[2]\n", "null", "5", "true"]);
});

test("a character that is split between two texts is joined", async () => {
  expect((await textsOf(["a\ud83d", "\ude00b", new TextEncoder().encode("c")])).join("")).toBe("a\u{1f600}bc");
  expect((await textsOf(["a\ud83d", new TextEncoder().encode("c")])).join("")).toBe("a\ufffdc");
});
