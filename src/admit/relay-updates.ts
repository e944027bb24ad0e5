/** A tool's partial results on their way to the agent. */
export interface UpdateRelay {
  take(update: unknown, ...rest: unknown[]): void;
  /** Delivers the last one, if it is still waiting, and stops. */
  end(): Promise<void>;
}

/**
 * Clamps partial results, at most one each `intervalMs`: within it the latest replaces the one before, and the last is
 * always delivered. Null if there is nobody to tell.
 */
export function relayUpdates(
  onUpdate: unknown,
  clamp: (update: unknown) => Promise<unknown>,
  intervalMs: number,
): UpdateRelay | null {
  if (typeof onUpdate !== "function") return null;
  const listener = onUpdate as (...args: unknown[]) => unknown;
  let waiting: unknown[] | null = null;
  let timer: ReturnType<typeof setTimeout> | null = null;
  let ended = false;
  let sentAtMs = Number.NEGATIVE_INFINITY;
  let delivery: Promise<void> = Promise.resolve();

  function deliver(): void {
    timer = null;
    const args = waiting;
    if (args === null) return;
    waiting = null;
    sentAtMs = performance.now();
    delivery = delivery.then(async () => {
      const [update, ...rest] = args;
      // An agent's listener must neither break its tool nor hold it up.
      await clamp(update)
        .then((clamped) => void (async () => listener(clamped, ...rest))().catch(() => {}))
        .catch(() => {});
    });
  }

  return {
    take(...args) {
      if (ended) return;
      waiting = args;
      if (timer !== null) return;
      const waitMs = sentAtMs + intervalMs - performance.now();
      if (waitMs <= 0) deliver();
      else timer = setTimeout(deliver, waitMs);
    },
    async end() {
      if (timer !== null) clearTimeout(timer);
      ended = true;
      deliver();
      await delivery;
    },
  };
}
