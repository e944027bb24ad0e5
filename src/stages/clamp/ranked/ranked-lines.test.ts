import { describe, expect, it } from "vitest";
import { lent } from "../../../testing/arbitrary.ts";
import { type HeldLine, type LineHolder, RankedLines, RareRows, SpreadLines } from "./ranked-lines.ts";

const texts = [...Array.from({ length: 40 }, (_, n) => `row ${n}: ok\n`), "row 40: failed\n"];

it.each<[string, LineHolder]>([
  ["the first and the last", new RankedLines(2000)],
  ["some from all over", new SpreadLines(2000)],
  ["those with a rare value", new RareRows(2000, ({ bytes }) => [new TextDecoder().decode(bytes).slice(-4)])],
])("holds %s, though the memory they came in is used again", (_, holder) => {
  let line = 0;
  for (const bytes of lent(texts.map((text) => Buffer.from(text)))) {
    holder.add({ line: ++line, from: 0, to: bytes.length, charsBefore: 0, chars: bytes.length, bytes });
  }
  const held = holder.lines();
  expect(held.length).toBeGreaterThan(0);
  expect(held.map(({ bytes }) => new TextDecoder().decode(bytes))).toEqual(held.map(({ line }) => texts[line - 1]));
});

const rowsOf = (mostBytes: number, rows: readonly string[][]): number[] => {
  let cells: string[] = [];
  const rare = new RareRows(mostBytes, () => cells);
  rows.forEach((row, index) => {
    cells = row;
    const bytes = new TextEncoder().encode(row.join(","));
    const line: HeldLine = { line: index + 1, from: 0, to: 0, charsBefore: 0, chars: 0, bytes };
    rare.add(line);
  });
  return rare.lines().map(({ line }) => line);
};
const rows = (count: number, row: (n: number) => string[]) => Array.from({ length: count }, (_, n) => row(n + 1));

describe("RareRows", () => {
  it("gives rows with a rare value, and rows of another length", () => {
    const given = rows(500, (n) => (n === 77 ? ["77", "down"] : n === 300 ? ["lost"] : [String(n), "up"]));
    expect(rowsOf(1e6, given)).toEqual([77, 300]);
  });

  it("gives none where values are many, or few and even", () => {
    expect(
      rowsOf(
        1e6,
        rows(500, (n) => [String(n), String(n % 8), "same"]),
      ),
    ).toEqual([]);
  });

  it("gives up the columns of most values where it may not hold them all", () => {
    const given = rows(2000, (n) => [String(n % 30), "x".repeat(50 + (n % 25)), n === 1500 ? "down" : "up"]);
    expect(rowsOf(2000, given)).toEqual([1500]);
  });

  it("gives few rows, the rarest, whatever stands out", () => {
    const given = rows(20_000, (n) =>
      Array.from({ length: 40 }, (_, column) => (n % 997 === column ? `odd ${n % 13}` : "same")),
    );
    expect(rowsOf(1e6, given)).toHaveLength(50);
  });
});
