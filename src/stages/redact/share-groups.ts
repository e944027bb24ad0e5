import type { ByteSet } from "./byte-set.ts";

/** How often a byte with this high nibble stands in text, roughly: blanks and digits, some capitals, mostly small letters. */
const HIGH_SHARES = [0.01, 0.005, 0.2, 0.2, 0.06, 0.05, 0.3, 0.2, ...Array.from({ length: 8 }, () => 0.01)];

/** For each byte of a head: its low nibbles as bits of one number, its high nibbles as bits of the next. */
type Nibbles = readonly number[];

/**
 * Shares heads among a few groups; gives each head's group. A group lets through whatever has nibbles of its heads in each
 * place, so those that add least to that go together. The ones that let most through choose first.
 */
export function shareGroups(heads: readonly (readonly ByteSet[])[], count: number): number[] {
  const nibbles = heads.map((head) => head.flatMap(nibblesOf));
  const order = nibbles.map((each, index) => ({ each, index, passes: passing(each) }));
  order.sort((one, other) => other.passes - one.passes || one.index - other.index);
  const groups = Array.from({ length: count }, () => ({ nibbles: [] as Nibbles, passes: 0 }));
  const chosen = new Array<number>(heads.length).fill(0);
  for (const { each, index } of order) {
    let least = Number.POSITIVE_INFINITY;
    let joined = each;
    groups.forEach((group, at) => {
      const both = each.map((bits, place) => bits | (group.nibbles[place] ?? 0));
      const more = passing(both) - group.passes;
      if (more >= least) return;
      least = more;
      joined = both;
      chosen[index] = at;
    });
    groups[chosen[index] as number] = { nibbles: joined, passes: passing(joined) };
  }
  return chosen;
}

function nibblesOf(set: ByteSet): Nibbles {
  let low = 0;
  let high = 0;
  for (let byte = 0; byte < 256; byte++) {
    if (set[byte] === 0) continue;
    low |= 1 << (byte & 15);
    high |= 1 << (byte >> 4);
  }
  return [low, high];
}

/** The share of places in a text that have these nibbles. */
function passing(nibbles: Nibbles): number {
  let share = 1;
  nibbles.forEach((bits, index) => {
    let sum = 0;
    for (let nibble = 0; nibble < 16; nibble++)
      if (bits & (1 << nibble)) sum += index % 2 === 0 ? 1 / 16 : (HIGH_SHARES[nibble] as number);
    share *= sum;
  });
  return share;
}
