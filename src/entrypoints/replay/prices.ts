/** A provider's prices of input tokens, in dollars for a million, and how its prompt cache works. */
export interface Prices {
  name: string;
  input: number;
  cacheRead: number;
  cacheWrite: number;
  /** A shorter prefix is not cached. */
  minCacheTokens: number;
  /** After a longer pause the cache is cold. */
  cacheTtlMs: number;
  /** Where and when these figures were read. */
  source: string;
}

/** Named prices. Output is not priced: no policy here changes it. */
export const PRICES: readonly Prices[] = [
  {
    name: "anthropic",
    input: 3,
    cacheRead: 0.3,
    cacheWrite: 3.75,
    minCacheTokens: 1024,
    cacheTtlMs: 300_000,
    source: "Claude Sonnet 4.6, platform.claude.com/docs/en/about-claude/pricing, 2026-11",
  },
  {
    name: "openai",
    input: 1.25,
    cacheRead: 0.125,
    cacheWrite: 1.25,
    minCacheTokens: 1024,
    cacheTtlMs: 300_000,
    source: "GPT-5, developers.openai.com/api/docs/pricing, 2026-11; writing costs no more than not caching",
  },
  {
    name: "uncached",
    input: 1,
    cacheRead: 1,
    cacheWrite: 1,
    minCacheTokens: 0,
    cacheTtlMs: 300_000,
    source: "a dollar for a million tokens, whatever is cached: for local models, and for comparing tokens alone",
  },
];

/** How a request's tokens are charged. */
export interface Charge {
  cacheRead: number;
  cacheWrite: number;
  /** Neither read from the cache nor written to it. */
  uncached: number;
  cost: number;
}

/** Charges a request of which the first `common` tokens are those of the request before it. */
export function charge(prices: Prices, tokens: number, common: number): Charge {
  const isCached = tokens >= prices.minCacheTokens;
  const cacheRead = common >= prices.minCacheTokens ? Math.min(common, tokens) : 0;
  const cacheWrite = isCached ? tokens - cacheRead : 0;
  const uncached = tokens - cacheRead - cacheWrite;
  const cost = (cacheRead * prices.cacheRead + cacheWrite * prices.cacheWrite + uncached * prices.input) / 1e6;
  return { cacheRead, cacheWrite, uncached, cost };
}
