/** Stops trying an action that keeps failing, and tries again after a pause. */
export interface Breaker {
  /** Returns false while the pause lasts. */
  allows(): boolean;
  succeeded(): void;
  failed(): void;
}

/** Makes a breaker that pauses for `pauseMs` after `failures` failures in a row. `now` is the clock. */
export function newBreaker(failures: number, pauseMs: number, now: () => number): Breaker {
  let inARow = 0;
  let closedAgainAtMs = Number.NEGATIVE_INFINITY;
  return {
    allows: () => now() >= closedAgainAtMs,
    succeeded() {
      inARow = 0;
      closedAgainAtMs = Number.NEGATIVE_INFINITY;
    },
    failed() {
      inARow++;
      if (inARow >= failures) closedAgainAtMs = now() + pauseMs;
    },
  };
}
