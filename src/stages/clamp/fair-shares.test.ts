import fc from "fast-check";
import { expect, it } from "vitest";
import { fairShares } from "./fair-shares.ts";

it("gives small ones all they ask for and shares the rest alike", () => {
  expect(fairShares([10, 1000, 20, 2000], 1030)).toEqual([10, 500, 20, 500]);
  expect(fairShares([10, 20], 100)).toEqual([10, 20]);
  expect(fairShares([10, 20], Number.POSITIVE_INFINITY)).toEqual([10, 20]);
  expect(fairShares([5, 5, 5], 0)).toEqual([0, 0, 0]);
});

it("never gives more than is there, and nobody less than another that asked for as much", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(5000), { maxLength: 30 }), fc.nat(20_000), (asked, most) => {
      const shares = fairShares(asked, most);
      const sum = shares.reduce((total, share) => total + share, 0);
      expect(sum).toBeLessThanOrEqual(most);
      const cut = shares.filter((share, index) => share < (asked[index] as number));
      const level = Math.min(...cut, Number.POSITIVE_INFINITY);
      for (const share of shares) expect(share).toBeLessThanOrEqual(level + 1);
      if (cut.length > 0) expect(most - sum).toBeLessThan(cut.length);
    }),
  );
});
