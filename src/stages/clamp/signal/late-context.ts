import { CONTEXT_AT, doubling, LATE_GROUP } from "./context-features.ts";
import type { ShapeCounts } from "./shape-counts.ts";
import type { UnitStore } from "./unit-store.ts";
import { CONTEXT_WEIGHTS } from "./weights.ts";

/** What is known of an output once it ended. */
export interface Whole {
  units: number;
  chars: number;
  /** Sequence numbers of lines that end a step that failed, and of those that end one that went well. */
  failed: Int32Array;
  good: Int32Array;
  /** Lines of each level or a higher one. */
  ranks: Int32Array;
  strong: number;
  shapes: ShapeCounts;
  starts: ShapeCounts;
}

/** Looks at lines once the output ended; rows are to be asked for in order. */
export class LateContext {
  readonly features = new Uint16Array(16);
  count = 0;
  readonly #whole: Whole;
  #nextFailed = 0;
  #nextGood = 0;

  constructor(whole: Whole) {
    this.#whole = whole;
  }

  look(store: UnitStore, row: number): number {
    const { units, chars, failed, good, ranks, strong, shapes, starts } = this.#whole;
    const sequence = store.sequence[row] as number;
    while (this.#nextFailed < failed.length && (failed[this.#nextFailed] as number) < sequence) this.#nextFailed++;
    while (this.#nextGood < good.length && (good[this.#nextGood] as number) < sequence) this.#nextGood++;
    const nextFailed = this.#nextFailed < failed.length ? (failed[this.#nextFailed] as number) : -1;
    const nextGood = this.#nextGood < good.length ? (good[this.#nextGood] as number) : -1;
    const own = store.level[row] as number;
    this.count = 0;
    let group = LATE_GROUP;
    const put = (step: number) => {
      this.features[this.count++] = (CONTEXT_AT[group++] as number) + step;
    };
    const charsLeft = chars - (store.charsBefore[row] as number);
    put(Math.min(12, Math.max(0, 32 - Math.clz32(Math.min(charsLeft, 1 << 30) >> 7))));
    put(doubling(units - 1 - sequence, 10));
    put(Math.min(9, Math.floor((10 * sequence) / units)));
    put(nextFailed === -1 ? 11 : doubling(nextFailed - sequence, 10));
    put(
      nextFailed === -1 && nextGood === -1
        ? 0
        : nextFailed === -1 || (nextGood !== -1 && nextGood < nextFailed)
          ? 1
          : 2,
    );
    put(doubling(shapes.of(store.shapeSlot[row] as number) - 1, 7));
    put(doubling(starts.of(store.startSlot[row] as number) - 1, 7));
    put(Math.min(8, (32 - Math.clz32(ranks[own] as number)) >> 1));
    put(Math.min(4, (32 - Math.clz32(strong)) >> 1) * 8 + (own >> 2));
    put(Math.min(2, store.failedBefore[row] as number) * 8 + (own >> 2));
    let score = 0;
    for (let at = 0; at < this.count; at++) score += CONTEXT_WEIGHTS[this.features[at] as number] as number;
    return score;
  }
}
