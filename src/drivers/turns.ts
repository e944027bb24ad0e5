/** Lets a limited number of tasks run at the same time. The others wait in order. */
export class Turns {
  readonly #waiting = new Set<() => void>();
  #free: number;

  constructor(most: number) {
    this.#free = most;
  }

  async take<T>(task: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    if (this.#free > 0) this.#free--;
    else await this.#wait(signal);
    try {
      return await task();
    } finally {
      const [next] = this.#waiting;
      if (next === undefined) this.#free++;
      else next();
    }
  }

  #wait(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting.delete(start);
        signal?.removeEventListener("abort", stop);
      };
      const start = () => {
        leave();
        resolve();
      };
      const stop = () => {
        leave();
        reject(signal?.reason);
      };
      this.#waiting.add(start);
      signal?.addEventListener("abort", stop);
    });
  }
}
