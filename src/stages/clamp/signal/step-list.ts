/** Held from each end of the list. */
const HELD = 1024;

/** Where steps ended: the first and the last of them, however many there were. */
export class StepList {
  readonly #first: number[] = [];
  readonly #last: number[] = [];

  add(sequence: number): void {
    if (this.#first.length < HELD) this.#first.push(sequence);
    else {
      this.#last.push(sequence);
      if (this.#last.length === 2 * HELD) this.#last.splice(0, HELD);
    }
  }

  all(): Int32Array {
    return Int32Array.from([...this.#first, ...this.#last]);
  }
}
