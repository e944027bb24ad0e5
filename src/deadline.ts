/** A deadline is waited for in parts. While this process itself is busy, only one of them passes. */
const PARTS = 10;

/** Waits at most `deadlineMs` for a promise, so that a store that hangs does not hang an agent. */
export function within<T>(promise: Promise<T>, deadlineMs: number, what: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const wait = (parts: number): NodeJS.Timeout => setTimeout(() => next(parts - 1), deadlineMs / PARTS);
    const next = (parts: number) => {
      if (parts > 0) timer = wait(parts);
      else reject(new Error(`${what} took longer than ${deadlineMs} ms`));
    };
    let timer = wait(PARTS);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** Settles when the work does, or rejects when the signal aborts, even if the work ignores the signal. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop);
    const left = <V>(settle: (value: V) => void) => {
      return (value: V) => {
        signal.removeEventListener("abort", stop);
        settle(value);
      };
    };
    work.then(left(resolve), left(reject));
  });
}

/** A signal that aborts after a time or with another signal, whichever comes first. `done` releases both. */
interface Stop {
  signal: AbortSignal;
  done(): void;
}

/** Starts the timer and returns the signal. `late` is the reason if the time is over. */
export function stopAfter(deadlineMs: number, other: AbortSignal | undefined, late?: string): Stop {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(late === undefined ? undefined : new Error(late)), deadlineMs);
  const abort = () => controller.abort(other?.reason);
  if (other?.aborted) abort();
  other?.addEventListener("abort", abort);
  return {
    signal: controller.signal,
    done() {
      clearTimeout(timer);
      other?.removeEventListener("abort", abort);
    },
  };
}

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

/** Lets so many callers go on at a time. The others wait in order. */
export interface Turns {
  /**
   * Resolves to false if a turn was free, to true if the caller had to wait for one. Rejects if the signal aborts before it
   * is the caller's turn.
   */
  take(signal?: AbortSignal): Promise<boolean>;
  give(): void;
}

/** Makes turns for `most` callers at a time. */
export function newTurns(most: number): Turns {
  const waiting = new Set<() => void>();
  let free = most;
  return {
    async take(signal) {
      signal?.throwIfAborted();
      if (free > 0) {
        free -= 1;
        return false;
      }
      await new Promise<void>((resolve, reject) => {
        const start = () => {
          signal?.removeEventListener("abort", stop);
          resolve();
        };
        const stop = () => {
          waiting.delete(start);
          reject(signal?.reason);
        };
        waiting.add(start);
        signal?.addEventListener("abort", stop, { once: true });
      });
      return true;
    },
    give() {
      const [next] = waiting;
      if (next === undefined) free += 1;
      else {
        waiting.delete(next);
        next();
      }
    },
  };
}
