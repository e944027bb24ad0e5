import type { FakeMinute } from "./fake-provider.ts";

const MINUTE_MS = 60_000;

/** Counts tokens over the last minute. `take` adds a request's, or says why it has no room; what is refused costs nothing. */
export function startMinute(limit: number, now: () => number): { take(tokens: number): FakeMinute | null } {
  let spent: { at: number; tokens: number }[] = [];
  return {
    take(requested) {
      const time = now();
      spent = spent.filter(({ at }) => at > time - MINUTE_MS);
      const used = spent.reduce((sum, { tokens }) => sum + tokens, 0);
      if (used + requested <= limit) {
        spent.push({ at: time, tokens: requested });
        return null;
      }
      return { limit, used, requested, retryMs: waitFor(used + requested - limit, time) };
    },
  };

  /** Until enough of what was spent is a minute old. */
  function waitFor(tokens: number, time: number): number {
    let freed = 0;
    for (const one of spent) {
      freed += one.tokens;
      if (freed >= tokens) return one.at + MINUTE_MS - time;
    }
    return MINUTE_MS;
  }
}
