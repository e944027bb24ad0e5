/** Summaries by what they were made of. The same one is made once, also if it is asked for twice at a time. */
export class SummaryCache {
  readonly #made = new Map<string, Promise<string>>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  get(key: string, make: () => Promise<string>): Promise<string> {
    const known = this.#made.get(key);
    const made = known ?? make();
    // The one that was used last goes last.
    this.#made.delete(key);
    this.#made.set(key, made);
    // A failure is not kept: the next one may succeed.
    if (known === undefined) made.catch(() => this.#made.get(key) === made && this.#made.delete(key));
    for (const oldest of this.#made.keys()) {
      if (this.#made.size <= this.#max) break;
      this.#made.delete(oldest);
    }
    return made;
  }
}
