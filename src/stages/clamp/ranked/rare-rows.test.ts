import { describe, expect, it } from "vitest";
import type { HeldLine } from "./ranked-lines.ts";
import { RareRows } from "./rare-rows.ts";

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
