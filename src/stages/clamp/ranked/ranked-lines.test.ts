import { expect, it } from "vitest";
import { lent } from "../../../testing/arbitrary.ts";
import { type LineHolder, RankedLines, SpreadLines } from "./ranked-lines.ts";
import { RareLines } from "./rare-lines.ts";

const texts = [...Array.from({ length: 40 }, (_, n) => `row ${n}: ok\n`), "row 40: failed\n"];

it.each<[string, LineHolder]>([
  ["the first and the last", new RankedLines(2000)],
  ["some from all over", new SpreadLines(2000)],
  [
    "those with a rare value",
    new RareLines(20_000, ({ bytes }) => ({ values: [[0, new TextDecoder().decode(bytes).slice(-4)]] })),
  ],
])("holds %s, though the memory they came in is used again", (_, holder) => {
  let line = 0;
  for (const bytes of lent(texts.map((text) => Buffer.from(text)))) {
    holder.add({ line: ++line, from: 0, to: bytes.length, charsBefore: 0, chars: bytes.length, bytes });
  }
  const held = holder.lines();
  expect(held.length).toBeGreaterThan(0);
  expect(held.map(({ bytes }) => new TextDecoder().decode(bytes))).toEqual(held.map(({ line }) => texts[line - 1]));
});
