import { expect, it } from "vitest";
import type { Receipt } from "../../contract/receipt.ts";
import { hostTokens } from "./events.ts";

const receipt = (bytes: number, lines: number, shown: { bytes: number; tokens: number }) =>
  ({ total: { bytes, lines }, shown: { ...shown, chars: shown.bytes, lines: 1 } }) as Receipt;

it("what a host would have shown goes by its tightest limit, and by the tokens that a shown byte has", () => {
  const cut = receipt(1000, 100, { bytes: 100, tokens: 50 });
  expect(hostTokens(cut, 1000, {})).toBe(500);
  expect(hostTokens(cut, 1000, { maxBytes: 200 })).toBe(100);
  expect(hostTokens(cut, 1000, { maxBytes: 200, maxChars: 100, maxLines: 50 })).toBe(50);
  expect(hostTokens(cut, 1000, { maxLines: 10 })).toBe(50);
  expect(hostTokens(cut, 1000, { maxBytes: 5000 })).toBe(500);
  expect(hostTokens(cut, 1000, { maxTokens: 70 })).toBe(70);
});

it("an output of nothing, or of which nothing was shown, has a number too", () => {
  expect(hostTokens(receipt(0, 0, { bytes: 0, tokens: 0 }), 0, { maxBytes: 10, maxChars: 10, maxLines: 1 })).toBe(0);
  expect(hostTokens(receipt(400, 4, { bytes: 0, tokens: 0 }), 400, { maxBytes: 200 })).toBe(50);
});
