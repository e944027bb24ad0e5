/** A signal that is aborted after a time or with another signal, whichever comes first. `done` lets go of both. */
export interface Stop {
  signal: AbortSignal;
  done(): void;
}

/** Starts the time. */
export function stopAfter(deadlineMs: number, other: AbortSignal | undefined): Stop {
  const controller = new AbortController();
  const abort = () => controller.abort();
  const timer = setTimeout(abort, deadlineMs);
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
