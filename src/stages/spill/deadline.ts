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

/** Waits at most `deadlineMs` for a promise, so that a store that hangs does not hang an agent. */
export async function within<T>(promise: Promise<T>, deadlineMs: number, what: string): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took longer than ${deadlineMs} ms`)), deadlineMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
