import type { SearchOutcome } from "../contract/searcher.ts";

/** Looks through bytes one after another; `end` is called in any case. */
export interface Scan {
  /** False when it was stopped before it got through. */
  add(bytes: Uint8Array): Promise<boolean> | boolean;
  found(): Omit<SearchOutcome, "reachedLine"> & { reachedLine: number };
  end(): Promise<void> | void;
}
