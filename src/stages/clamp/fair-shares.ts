/**
 * Max-min fair shares: what is asked for if it all fits, else the small ones whole and the rest alike. Sums to at most
 * `most`, in whole units.
 */
export function fairShares(asked: readonly number[], most: number): number[] {
  const order = asked.map((_, index) => index).sort((a, b) => (asked[a] as number) - (asked[b] as number));
  const shares = asked.map(() => 0);
  let left = most;
  order.forEach((index, rank) => {
    const share = Math.min(asked[index] as number, Math.floor(left / (order.length - rank)));
    shares[index] = share;
    left -= share;
  });
  return shares;
}
