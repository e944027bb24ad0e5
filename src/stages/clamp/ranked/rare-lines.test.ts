import { describe, expect, it } from "vitest";
import type { HeldLine } from "./ranked-lines.ts";
import { RareLines, type Said } from "./rare-lines.ts";

/** The numbers of the lines that are given, the rarest first. */
const given = (lines: readonly Said[], mostBytes = 1e6, hasContext = false): HeldLine[] => {
  let said: Said | null = null;
  const rare = new RareLines(mostBytes, () => said, hasContext);
  lines.forEach((one, index) => {
    said = one;
    const bytes = new TextEncoder().encode(JSON.stringify(one.values));
    rare.add({ line: index + 1, from: 0, to: 0, charsBefore: 0, chars: 0, bytes });
  });
  return rare.lines();
};
const numbers = (lines: readonly Said[], mostBytes?: number) => given(lines, mostBytes).map(({ line }) => line);
const rows = (count: number, row: (n: number) => string[]): Said[] =>
  Array.from({ length: count }, (_, n) => ({ values: [...row(n + 1).entries()] }));

describe("RareLines", () => {
  it("gives rows with a rare value, the rarest first", () => {
    const state = (n: number) => (n === 300 ? "down" : [77, 78, 79].includes(n) ? "slow" : "up");
    expect(numbers(rows(500, (n) => [String(n), state(n)]))).toEqual([300, 77, 78, 79]);
  });

  it("gives none where values are many, or few and even", () => {
    expect(numbers(rows(500, (n) => [String(n), String(n % 8), "same"]))).toEqual([]);
  });

  it.each([
    ["a number far above the others", (n: number) => String(n === 41 ? 98_250 : 100 + ((n * 37) % 90))],
    ["one far below", (n: number) => String(n === 41 ? -5000 : 100 + ((n * 37) % 90))],
    ["a size in another unit", (n: number) => (n === 41 ? "4.1G" : `${1 + ((n * 37) % 90)}.${n}K`)],
    ["a share near a hundred", (n: number) => `${n === 41 ? 97 : (n * 37) % 89}%`],
    ["a count with a note", (n: number) => (n === 41 ? "187 (2m ago)" : String((n * 37) % 40))],
  ])("gives the row with %s", (_, cell) => {
    expect(numbers(rows(200, (n) => [`host-${n}`, cell(n)]))).toEqual([41]);
  });

  it("takes no number for far out where many are, or where they only grow", () => {
    expect(numbers(rows(400, (n) => [String(n), String(n % 5 === 0 ? n * 1000 : (n * 37) % 90)]))).toEqual([]);
  });

  it("gives keys that few of their like have, with the heads above them", () => {
    const lines = Array.from({ length: 40 }, (_, n): Said[] => [
      { values: [["head", `section ${n}`]] },
      { values: [["head/url", `https://${n}`]], within: "head", above: [n * 2 + 1] },
    ]).flat();
    lines.push({ values: [["head/proxy", "socks"]], within: "head", above: [79] });
    expect(given(lines).map(({ line, above }) => [line, above?.map((head) => head.line)])).toEqual([[81, [79]]]);
  });

  it("weighs a sign less the more lines have it, and gives the lines around it after it", () => {
    const lines = rows(300, (n) => [String(n)]).map((said, n) => ({
      ...said,
      sign: n === 150 ? "Failed" : n % 3 === 0 ? "Error" : undefined,
    }));
    expect(given(lines, 1e6, true).map(({ line }) => line)).toEqual([151, 150, 152, 153, 154, 155]);
  });

  it("holds no more than it may, and still finds the rarest", () => {
    const many = rows(5000, (n) => [String(n % 7), n === 4321 ? "down" : "up"]);
    expect(numbers(many, 50_000)).toEqual([4321]);
  });

  it("gives few rows whatever stands out", () => {
    const odd = rows(20_000, (n) =>
      Array.from({ length: 40 }, (_, column) => (n % 997 === column ? `odd ${n % 13}` : "same")),
    );
    expect(numbers(odd).length).toBeLessThanOrEqual(50);
  });
});
