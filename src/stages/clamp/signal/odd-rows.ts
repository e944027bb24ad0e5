import { failingStatus, hasStatus } from "../../fold/failing-status.ts";
import type { ShapeCounts } from "./shape-counts.ts";
import { IS_BLANK, REWRITTEN, type UnitStore } from "./unit-store.ts";

/** From so many lines on, with so many lines to each shape, an output is of one piece: a line of another shape is odd. */
const LEAST_LINES = 200;
const LINES_OF_SHAPE = 50;
/** A shape, or a status, that comes more often is not odd. */
const MOST_OF_SHAPE = 2;
const MOST_OF_STATUS = 5;
/** Rows that are asked whether they have an HTTP status, and the share that must. */
const ASKED = 64;
const WITH_STATUS = 0.5;

/** Says which rows stand out from an output that is else of one piece: by their shape, or by an HTTP status that failed. */
export function oddFinder(store: UnitStore, shapes: ShapeCounts): (row: number) => boolean {
  const isAlike = shapes.lines >= LEAST_LINES && shapes.distinct * LINES_OF_SHAPE <= shapes.lines;
  const statuses = hasStatuses(store) ? new Map<number, number>() : null;
  if (statuses !== null)
    for (let row = 0; row < store.length; row++) {
      const status = statusOf(store, row);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  return (row) => {
    const isLine = (store.kind[row] as number) <= REWRITTEN && ((store.flags[row] as number) & IS_BLANK) === 0;
    if (!isLine) return false;
    if (isAlike && shapes.of(store.shapeSlot[row] as number) <= MOST_OF_SHAPE) return true;
    if (statuses === null) return false;
    const status = statusOf(store, row);
    return status !== 0 && (statuses.get(status) as number) <= MOST_OF_STATUS;
  };
}

function hasStatuses(store: UnitStore): boolean {
  if (store.length < LEAST_LINES) return false;
  let found = 0;
  for (let asked = 0; asked < ASKED; asked++) {
    const row = Math.floor((asked * store.length) / ASKED);
    const at = store.byteAt[row] as number;
    if (hasStatus(store.bytes, at, at + (store.byteLength[row] as number))) found++;
  }
  return found >= ASKED * WITH_STATUS;
}

function statusOf({ bytes, byteAt, byteLength }: UnitStore, row: number): number {
  const at = byteAt[row] as number;
  return failingStatus(bytes, at, at + (byteLength[row] as number));
}
