const HOUR_MS = 3_600_000;

interface Spent {
  atMs: number;
  chars: number;
}

/** What calls of the last hour took together: over a cap no further call is made. */
export class HourlyCaps {
  readonly #maxCalls: number;
  readonly #maxChars: number;
  readonly #now: () => number;
  #spent: Spent[] = [];
  #chars = 0;

  constructor(maxCalls: number, maxChars: number, now: () => number) {
    this.#maxCalls = maxCalls;
    this.#maxChars = maxChars;
    this.#now = now;
  }

  /** Takes a call of this size, or throws. What is given back tells how long the answer was. */
  take(chars: number): (answerChars: number) => void {
    const nowMs = this.#now();
    const gone = this.#spent.filter(({ atMs }) => nowMs - atMs >= HOUR_MS);
    if (gone.length > 0) {
      this.#chars -= gone.reduce((sum, one) => sum + one.chars, 0);
      this.#spent = this.#spent.filter(({ atMs }) => nowMs - atMs < HOUR_MS);
    }
    if (this.#spent.length >= this.#maxCalls) throw new Error(`over ${this.#maxCalls} calls in an hour`);
    if (this.#chars + chars > this.#maxChars) throw new Error(`over ${this.#maxChars} characters in an hour`);
    const spent = { atMs: nowMs, chars };
    this.#spent.push(spent);
    this.#chars += chars;
    return (answerChars) => {
      spent.chars += answerChars;
      this.#chars += answerChars;
    };
  }
}
