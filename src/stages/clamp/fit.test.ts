import fc from "fast-check";
import { expect, it } from "vitest";
import { arbitraryOutput } from "../../testing/arbitrary.ts";
import { estimateCounter, measureText } from "../measure/estimate-tokens.ts";
import { alignEnd, alignStart, type Budget, decode, fitEnd, fitStart, NEAR_SHARE } from "./fit.ts";

const budget = fc.record({
  bytes: fc.oneof(fc.nat(60), fc.nat(600), fc.constant(Number.POSITIVE_INFINITY)),
  chars: fc.oneof(fc.nat(60), fc.nat(600), fc.constant(Number.POSITIVE_INFINITY)),
  lines: fc.oneof(fc.nat(6), fc.constant(Number.POSITIVE_INFINITY)),
  tokens: fc.oneof(fc.nat(40), fc.constant(Number.POSITIVE_INFINITY)),
});

const fits = (text: string, { bytes, chars, lines, tokens }: Budget) => {
  const size = measureText(text, estimateCounter);
  return size.bytes <= bytes && size.chars <= chars && size.lines <= lines && size.tokens <= tokens;
};

/** Positions between characters, as the decoder sees them, and not inside \r\n. */
function borders(bytes: Uint8Array): number[] {
  const text = decode(bytes);
  const all = [0];
  let at = 0;
  for (const character of text) {
    const next = new TextEncoder().encode(character).length;
    // An invalid stretch is shorter or longer than the U+FFFD that stands for it.
    const length = character === "\ufffd" ? stretch(bytes, at) : next;
    at += length;
    if (!(character === "\r" && bytes[at] === 10)) all.push(at);
  }
  return all;
}

function stretch(bytes: Uint8Array, at: number): number {
  for (let length = 1; length <= 3; length++) {
    const rest = decode(bytes.subarray(at + length));
    if (`\ufffd${rest}` === decode(bytes.subarray(at))) return length;
  }
  throw new Error("no stretch");
}

it("no waste: a cut inside a line keeps the longest start that fits (brute force)", () => {
  fc.assert(
    fc.property(arbitraryOutput, budget, (output, within) => {
      const bytes = output.subarray(0, 400);
      const { at } = fitStart(bytes, 0, bytes.length, within, estimateCounter);
      const longest = Math.max(...borders(bytes).filter((border) => fits(decode(bytes.subarray(0, border)), within)));
      expect(at).toBe(longest);
    }),
    { numRuns: 500 },
  );
});

it("no waste: and the longest end that fits (brute force)", () => {
  fc.assert(
    fc.property(arbitraryOutput, budget, (output, within) => {
      const bytes = output.subarray(0, 400);
      const { at } = fitEnd(bytes, 0, bytes.length, within, estimateCounter);
      const longest = Math.min(...borders(bytes).filter((border) => fits(decode(bytes.subarray(border)), within)));
      expect(at).toBe(longest);
    }),
    { numRuns: 500 },
  );
});

it("a cut moved to a line end gives up at most the stated share", () => {
  fc.assert(
    fc.property(arbitraryOutput, fc.nat(), (bytes, place) => {
      fc.pre(bytes.length > 0);
      const at = place % bytes.length;
      const back = alignEnd(bytes, 0, at, false);
      expect(at - back).toBeLessThanOrEqual(at * NEAR_SHARE);
      if (back !== at) expect(bytes[back - 1]).toBe(10);
      const on = alignStart(bytes, at, bytes.length, false);
      expect(on - at).toBeLessThanOrEqual((bytes.length - at) * NEAR_SHARE);
      if (on !== at) expect(bytes[on - 1]).toBe(10);
    }),
  );
});

it("says which limit bound, ties in the order lines, bytes, chars, tokens", () => {
  const bytes = new TextEncoder().encode("ab\ncd\nef\n");
  const none = Number.POSITIVE_INFINITY;
  const stop = (within: Partial<Budget>) =>
    fitStart(
      bytes,
      0,
      bytes.length,
      { bytes: none, chars: none, lines: none, tokens: none, ...within },
      estimateCounter,
    ).stoppedBy;
  expect(stop({ lines: 1 })).toBe("lines");
  expect(stop({ lines: 1, bytes: 3, chars: 3 })).toBe("lines");
  expect(stop({ bytes: 4, chars: 4 })).toBe("bytes");
  expect(stop({ chars: 4 })).toBe("chars");
  expect(stop({ tokens: 1 })).toBe("tokens");
  expect(stop({})).toBe(null);
});
