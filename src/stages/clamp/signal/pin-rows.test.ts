import { expect, it } from "vitest";
import { estimateCounter } from "../../measure/estimate-tokens.ts";
import type { WordCounts } from "../focus/word-counts.ts";
import { intendedRows, pinEdges, pinIntent, pinMessages, pinNames } from "./pin-rows.ts";
import { UnitCosts } from "./select-rows.ts";
import { UnitStore } from "./unit-store.ts";

/** A thousand rows of 20 characters, for a budget of 10,000. */
function thousand() {
  const store = new UnitStore();
  const line = new TextEncoder().encode("nineteen characters\n");
  for (let sequence = 0; sequence < 1000; sequence++) {
    const row = store.push(line, 0, line.length);
    store.sequence[row] = sequence;
    store.shownChars[row] = line.length;
  }
  const none = Number.POSITIVE_INFINITY;
  const budget = { bytes: none, chars: 10_000, lines: none, tokens: none };
  const gap = { bytes: 30, chars: 30, lines: 1, tokens: 10 };
  const costs = new UnitCosts(store, estimateCounter, false);
  return { store, costs, budget, gap, pinned: new Uint8Array(store.length) };
}

const rowsOf = (pinned: Uint8Array) => [...pinned.keys()].filter((row) => pinned[row] === 1);

it("keeps the last lines of a failing output whatever they are worth, and none of the first", () => {
  const pinning = thousand();
  pinEdges(pinning, true, 0.3);
  expect(rowsOf(pinning.pinned)).toEqual([993, 994, 995, 996, 997, 998, 999]);
});

it("keeps the last line of a failing output alone though it takes more than the end's share", () => {
  const within = thousand();
  const last = within.store.length - 1;
  pinEdges({ ...within, budget: { ...within.budget, chars: 500 } }, true, 0.3);
  expect(rowsOf(within.pinned)).toEqual([last]);
  const over = thousand();
  pinEdges({ ...over, budget: { ...over.budget, chars: 499 } }, true, 0.3);
  expect(rowsOf(over.pinned)).toEqual([]);
});

it("keeps both ends of an output in which nothing failed", () => {
  const pinning = thousand();
  pinEdges(pinning, false, 0.3);
  const rows = rowsOf(pinning.pinned);
  expect(rows.filter((row) => row < 500)).toHaveLength(75);
  expect(rows.filter((row) => row >= 500)).toHaveLength(200);
});

it("gives what exceptions say a tenth of the room, the newest first, and the newest all of it", () => {
  const pinning = thousand();
  pinMessages(pinning, [10, 20, ...Array.from({ length: 40 }, (_, index) => 100 + 10 * index)]);
  // Each takes 20 characters and a marker of 30, and one marker more.
  expect(rowsOf(pinning.pinned)).toEqual(Array.from({ length: 19 }, (_, index) => 310 + 10 * index));
  const small = { ...thousand(), budget: { ...pinning.budget, chars: 85 } };
  pinMessages(small, [10, 20]);
  expect(rowsOf(small.pinned)).toEqual([20]);
});

it("takes for what a call is after the rows with words that weigh at least half as much as the best", () => {
  const { store } = thousand();
  for (const [row, weight] of [10, 5, 4, 9].entries()) store.words[row] = weight;
  const words = { weight: (bits: number) => bits } as WordCounts;
  expect(intendedRows(store, words)).toEqual([0, 3, 1]);
});

it("gives what a call seems to be for a fifth of the room", () => {
  const pinning = thousand();
  pinIntent(
    pinning,
    Array.from({ length: 100 }, (_, index) => 10 * index),
  );
  // Each takes 20 characters and a marker of 30.
  expect(rowsOf(pinning.pinned)).toHaveLength(40);
});

it("takes rows for the failures that a summary counts only if they are about as many", () => {
  const named = (rows: number, counted: number) => {
    const pinning = thousand();
    pinNames(
      pinning,
      Array.from({ length: rows }, (_, index) => 10 * index),
      counted,
    );
    return rowsOf(pinning.pinned).length;
  };
  expect([named(3, 4), named(4, 4), named(8, 4), named(9, 4), named(1, 1)]).toEqual([0, 4, 8, 0, 0]);
});
