/** A line that only one of two runs has, and how many lines of its sort there are. */
export interface ChangedLine {
  line: number;
  text: string;
  count: number;
  /** How much it tells by itself: natural logarithm of a line's worth. */
  score: number;
}

/** A line that both runs have, with other counts in it. */
export interface MovedCount {
  line: number;
  /** What moved: `12 failed -> 3 failed`. */
  counts: string[];
}

/** How a run differs from one before it. The lists are bounded and in the order of the lines; `total` counts all. */
export interface RunChanges {
  moved: MovedCount[];
  added: ChangedLine[];
  gone: ChangedLine[];
  total: { moved: number; added: number; gone: number; same: number };
}
