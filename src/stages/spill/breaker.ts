/** Stops trying what keeps failing, and tries again after a pause. */
export interface Breaker {
  /** False while the pause lasts. */
  allows(): boolean;
  succeeded(): void;
  failed(): void;
}

/** Opens after `failures` in a row, for `pauseMs`. The clock is handed in. */
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
