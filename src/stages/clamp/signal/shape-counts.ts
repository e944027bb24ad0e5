const SLOTS = 1 << 15;

/** How often lines of a shape came. Shapes share slots where they must: a count may be too high, never too low. */
export class ShapeCounts {
  /** Lines in all, and of how many shapes. */
  lines = 0;
  distinct = 0;
  readonly #counts = new Uint16Array(SLOTS);

  slot(shape: number): number {
    return (shape ^ (shape >>> 15)) & (SLOTS - 1);
  }

  /** How often the slot's shapes came before; counts one more. */
  add(slot: number): number {
    const count = this.#counts[slot] as number;
    this.lines++;
    if (count === 0) this.distinct++;
    if (count < 65_535) this.#counts[slot] = count + 1;
    return count;
  }

  of(slot: number): number {
    return this.#counts[slot] as number;
  }
}
