import type { Limits } from "../contract/limits.ts";
import type { Size } from "../contract/size.ts";
import { fairShares } from "../stages/clamp/fair-shares.ts";

/** What an exit line takes, at most. */
const EXIT_ROOM: Size = { bytes: 32, chars: 32, lines: 1, tokens: 16 };
/** What joining two texts takes, at most: tokens do not add up. */
const JOINT: Size = { bytes: 1, chars: 1, lines: 0, tokens: 4 };

const LIMIT_OF = { bytes: "maxBytes", chars: "maxChars", lines: "maxLines", tokens: "maxTokens" } as const;

/**
 * The limits of each text under one budget: its fair share in every unit. Joints and the exit line of the one at
 * `exitAt` are charged first. What the small ones leave goes to those that will be cut, since their markers need room in every unit.
 */
export function shareLimits(limits: Limits, sizes: readonly Size[], exitAt: number | null): Limits[] {
  const shares: Size[] = sizes.map(() => ({ bytes: 0, chars: 0, lines: 0, tokens: 0 }));
  const left: Partial<Size> = {};
  for (const unit of ["bytes", "chars", "lines", "tokens"] as const) {
    const limit = limits[LIMIT_OF[unit]];
    if (limit === undefined) continue;
    const exit = exitAt === null ? 0 : Math.min(EXIT_ROOM[unit], limit);
    const budget = Math.max(0, limit - Math.max(0, sizes.length - 1) * JOINT[unit] - exit);
    const fair = fairShares(
      sizes.map((size) => size[unit]),
      budget,
    );
    fair.forEach((share, index) => {
      (shares[index] as Size)[unit] = share + (index === exitAt ? exit : 0);
    });
    left[unit] = budget - fair.reduce((sum, share) => sum + share, 0);
  }
  const cut = shares.filter((share, index) => isCut(share, sizes[index] as Size, limits));
  for (const [unit, spare] of Object.entries(left) as [keyof Size, number][]) {
    for (const share of cut) share[unit] += Math.floor(spare / cut.length);
  }
  return shares.map((share) => asLimits(share, limits));
}

function isCut(share: Size, size: Size, limits: Limits): boolean {
  return (Object.keys(LIMIT_OF) as (keyof Size)[]).some(
    (unit) => limits[LIMIT_OF[unit]] !== undefined && share[unit] < size[unit],
  );
}

function asLimits(share: Size, { maxBytes, maxChars, maxLines, maxTokens }: Limits): Limits {
  return {
    ...(maxBytes !== undefined && { maxBytes: share.bytes }),
    ...(maxChars !== undefined && { maxChars: share.chars }),
    ...(maxLines !== undefined && { maxLines: share.lines }),
    ...(maxTokens !== undefined && { maxTokens: share.tokens }),
  };
}
