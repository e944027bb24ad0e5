import type { UnitStore } from "./unit-store.ts";

/** Sums of shares are not exact. */
const SURELY = 1e-9;

/** The rows that may still be chosen while a price on room is looked for, as columns. */
export class LiveRows {
  length: number;
  /** The row of the store that each is. */
  readonly rows: Int32Array;
  readonly sequence: Int32Array;
  /** Bit 0: keeping it is best after the one before was kept; bit 1: omitting it is best after that one was kept. */
  readonly #came: Uint8Array;
  readonly #values: Float64Array;
  readonly #shares: Float64Array;
  readonly #pinned: Uint8Array;
  readonly #units: number;

  constructor(store: UnitStore, values: Float64Array, shares: Float64Array, pinned: Uint8Array, units: number) {
    const { length } = store;
    this.length = length;
    this.rows = new Int32Array(length);
    for (let row = 0; row < length; row++) this.rows[row] = row;
    this.sequence = store.sequence.slice(0, length);
    this.#came = new Uint8Array(length);
    this.#values = values.slice(0, length);
    this.#shares = shares.slice();
    this.#pinned = pinned.slice();
    this.#units = units;
  }

  /** Marks the best choice where a whole budget costs `price`, and a gap a share of that. */
  choose(price: number, gapShare: number, kept: Uint8Array): void {
    const { length, sequence } = this;
    const came = this.#came;
    const values = this.#values;
    const shares = this.#shares;
    const pinned = this.#pinned;
    const gapPrice = price * gapShare;
    let before = sequence[0] as number;
    let keep = (before === 0 ? 0 : -gapPrice) + ((values[0] as number) - price * (shares[0] as number));
    let omit = pinned[0] === 1 ? Number.NEGATIVE_INFINITY : -gapPrice;
    // None stands before the first.
    came[0] = 0;
    for (let at = 1; at < length; at++) {
      const here = sequence[at] as number;
      const afterGap = keep - gapPrice;
      const fromKept = here === before + 1 ? keep : afterGap;
      const gain = (values[at] as number) - price * (shares[at] as number);
      let bits = 0;
      if (fromKept >= omit) {
        keep = fromKept + gain;
        bits = 1;
      } else keep = omit + gain;
      if (afterGap >= omit) {
        omit = afterGap;
        bits |= 2;
      }
      if (pinned[at] === 1) omit = Number.NEGATIVE_INFINITY;
      came[at] = bits;
      before = here;
    }
    let isKept = (before === this.#units - 1 ? keep : keep - gapPrice) >= omit;
    for (let at = length - 1; at >= 0; at--) {
      kept[at] = isKept ? 1 : 0;
      isKept = ((came[at] as number) & (isKept ? 1 : 2)) !== 0;
    }
  }

  /**
   * Lets go of rows that are not chosen at `price` or any higher one: stretches of rows that each cost more than they
   * are worth, and together more than the gap they would close.
   */
  drop(price: number, gapShare: number): void {
    let length = 0;
    for (let at = 0; at < this.length; ) {
      const from = at;
      let worth = 0;
      let share = 0;
      while (at < this.length && this.#isDull(at, price)) {
        worth += this.#values[at] as number;
        share += this.#shares[at++] as number;
      }
      const isLost = price * (share - gapShare) > worth * (1 + SURELY);
      if (at > from && isLost && (length > 0 || at < this.length)) continue;
      const to = at === from ? ++at : at;
      for (let row = from; row < to; row++) this.#move(row, length++);
    }
    this.length = length;
  }

  /** Writes a choice of these as one of the store's rows. */
  copy(kept: Uint8Array, chosen: Uint8Array): void {
    chosen.fill(0);
    for (let at = 0; at < this.length; at++) chosen[this.rows[at] as number] = kept[at] as number;
  }

  #isDull(at: number, price: number): boolean {
    return this.#pinned[at] === 0 && (this.#values[at] as number) < price * (this.#shares[at] as number) * (1 - SURELY);
  }

  #move(from: number, to: number): void {
    this.rows[to] = this.rows[from] as number;
    this.sequence[to] = this.sequence[from] as number;
    this.#values[to] = this.#values[from] as number;
    this.#shares[to] = this.#shares[from] as number;
    this.#pinned[to] = this.#pinned[from] as number;
  }
}
