import { classifyUnits, firstWideClass, runOf, tokenClasses } from "./token-classes.ts";
import { joinWeights, placeWeights } from "./token-weights.ts";

/** Weights are whole numbers of this share of a token, so that sums are the same in any order. */
export const unitsPerToken = 1024;

/** Row of the start: no run is open. */
export const startRow = 0;

/** Columns of a row: a power of two, at least the number of classes. */
const width = 64;

/**
 * For each row (class of the open run and place in it) and each class of the unit that comes: the next row in the
 * upper half, the weight of the unit in the lower. Forward reads a text from its start, backward from its end; both
 * give the same sum, since a run weighs by its length only and a join by the two classes.
 */
type Cells = Int32Array;

let classes: Uint8Array | undefined;
let forward: Cells | undefined;
let backward: Cells | undefined;

/** The class of every unit; made on first use, like the cells. */
export const unitClasses = (): Uint8Array => (classes ??= classifyUnits());
export const forwardCells = (): Cells => (forward ??= makeCells(joinWeight));
export const backwardCells = (): Cells => (backward ??= makeCells((open, next) => joinWeight(next, open)));

function makeCells(join: (open: number, next: number) => number): Cells {
  const runs = tokenClasses.map(runOf);
  const firstRows: number[] = [];
  let rows = 1;
  for (const { places } of tokenClasses) {
    firstRows.push(rows * width);
    rows += places;
  }
  const cells = new Int32Array(rows * width);
  for (let next = 0; next < tokenClasses.length; next++) {
    const places = tokenClasses[next]?.places ?? 1;
    const firstRow = firstRows[next] ?? 0;
    const weights = placeWeights[next] ?? [];
    const opened = (firstRow << 16) | (weights[0] ?? 0);
    cells[startRow + next] = opened;
    for (let open = 0; open < tokenClasses.length; open++) {
      const joined = join(open, next);
      const from = firstRows[open] ?? 0;
      const to = firstRows[open + 1] ?? cells.length;
      const continues = runs[open] === runs[next];
      for (let row = from, place = 1; row < to; row += width, place++) {
        const last = Math.min(place, places - 1);
        const cell = continues ? ((firstRow + last * width) << 16) | (weights[last] ?? 0) : opened;
        cells[row + next] = cell + joined;
      }
    }
  }
  return cells;
}

function joinWeight(left: number, right: number): number {
  if (left === right && left >= firstWideClass) return 0;
  return joinWeights[Math.min(left, firstWideClass)]?.[Math.min(right, firstWideClass)] ?? 0;
}
