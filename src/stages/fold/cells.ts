// One row of a terminal: what was written into which column. A cell holds one code point's bytes as a number (the first
// byte highest), or an invalid byte as it is, or one of the values below, which no bytes can give.
import { MAX_COLUMNS } from "./bounds.ts";
import { SPACE, TAB } from "./byte-class.ts";
import { Look } from "./look.ts";

/** Nothing was written here: what lies underneath shows through. */
const UNTOUCHED = 0xffffffff;
const ERASED = 0xfffffffe;
/** A column that the tab to its left reaches over. */
const REACHED = 0xfffffffd;

/** Codes that move many cells at once do nothing on a longer row: a few bytes must not cost much time. */
const MAX_EDIT_CELLS = 4 * MAX_COLUMNS;

export class Cells {
  values: Uint32Array = new Uint32Array(256).fill(UNTOUCHED);
  length = 0;
  cursor = 0;
  /** An erase code was used: whoever writes here redraws. */
  erased = false;
  /** Something was written over. */
  overwritten = false;
  /** Everything underneath from this column on was erased. */
  clearFrom: number = Number.POSITIVE_INFINITY;
  /** Every column has a code point in it that hides what lies underneath. */
  private solid = true;
  private readonly lookOfAll = new Look();
  private lookedAt = -1;

  reset(): void {
    this.values.fill(UNTOUCHED, 0, this.length);
    this.length = 0;
    this.cursor = 0;
    this.erased = false;
    this.overwritten = false;
    this.clearFrom = Number.POSITIVE_INFINITY;
    this.solid = true;
    this.lookedAt = -1;
  }

  put(value: number): void {
    const at = this.cursor++;
    if (at >= this.length) {
      if (at > this.length) this.solid = false;
      this.grow(at + 1);
    }
    const old = this.values[at]!;
    if (old !== UNTOUCHED) {
      this.overwritten = true;
      // A tab written over still reaches to its stop from the next column.
      if (old === TAB && this.values[at + 1] === REACHED) this.values[at + 1] = TAB;
    }
    this.values[at] = value;
  }

  tab(): void {
    this.solid = false;
    const stop = this.cursor - (this.cursor % 8) + 8;
    const fresh = this.cursor >= this.length || this.values[this.cursor] === UNTOUCHED;
    if (fresh) {
      if (stop > this.length) this.grow(stop);
      let at = this.cursor;
      this.values[at++] = TAB;
      while (at < stop && this.values[at] === UNTOUCHED) this.values[at++] = REACHED;
    }
    this.cursor = stop;
  }

  /** To a column from 0; never past a terminal's width unless the row is longer. */
  moveTo(column: number): void {
    this.cursor = Math.max(0, Math.min(column, Math.max(this.length, MAX_COLUMNS)));
  }

  eraseToEnd(): void {
    this.erased = true;
    this.clearFrom = Math.min(this.clearFrom, this.cursor);
    if (this.cursor < this.length) this.truncate(this.cursor);
  }

  eraseToCursor(): void {
    if (this.cursor < MAX_EDIT_CELLS) this.erase(0, this.cursor + 1);
  }

  eraseAll(): void {
    this.erased = true;
    this.clearFrom = 0;
    this.truncate(0);
  }

  erase(from: number, to: number): void {
    this.erased = true;
    this.solid = false;
    if (to > this.length) this.grow(to);
    this.values.fill(ERASED, from, to);
  }

  deleteHere(count: number): void {
    if (this.cursor >= this.length || this.length > MAX_EDIT_CELLS) return;
    const gone = Math.min(count, this.length - this.cursor);
    this.values.copyWithin(this.cursor, this.cursor + gone, this.length);
    this.truncate(this.length - gone);
    this.overwritten = true;
  }

  insertHere(count: number): void {
    if (this.cursor >= this.length || this.length > MAX_EDIT_CELLS) return;
    this.solid = false;
    const room = Math.min(count, MAX_COLUMNS);
    const end = this.length;
    this.grow(end + room);
    this.values.copyWithin(this.cursor + room, this.cursor, end);
    this.values.fill(ERASED, this.cursor, this.cursor + room);
  }

  /** True if this row, laid over `base`, leaves nothing of it to be seen. */
  hides(base: Cells): boolean {
    const width = Math.min(base.width(), this.clearFrom);
    return width === 0 || (this.solid && width <= this.length);
  }

  /** As the row would be after it was laid over one that it hides. */
  trim(): void {
    this.overwritten = true;
    const width = this.width();
    if (width < this.length) this.truncate(width);
  }

  /** Its first `width` columns, which must be all up to the last visible one, in short. */
  look(width: number): Look {
    if (this.lookedAt !== width) this.lookOfAll.take(this.values, width);
    this.lookedAt = width;
    return this.lookOfAll;
  }

  /** Lays `top` over this row, as if it had been written after a carriage return. */
  overlay(top: Cells): void {
    if (top.clearFrom < this.length) this.truncate(top.clearFrom);
    for (let at = 0; at < top.length; at++) {
      const value = top.values[at]!;
      if (value === UNTOUCHED) continue;
      const tab = value === TAB || value === REACHED;
      if (tab && at < this.length && !isGap(this.values[at]!)) continue;
      this.cursor = at;
      this.put(value);
    }
    this.erased = top.erased;
    this.lookedAt = -1;
    // Blanks at the end go: what was written over is shown without them, and `width` stays cheap.
    const width = this.width();
    if (width < this.length) this.truncate(width);
  }

  /** The columns up to the last one with something visible in it. */
  width(): number {
    let end = this.length;
    while (end > 0 && isBlank(this.values[end - 1]!)) end--;
    return end;
  }

  /** How many of the cells are spaces. */
  spaces(): number {
    let count = 0;
    for (let at = 0; at < this.length; at++) if (this.values[at] === SPACE) count++;
    return count;
  }

  /**
   * Writes the row (or its first columns) to `out` from `start` and returns its end. Columns that nothing was written to come out as spaces, as
   * far as the source had spaces to spare: what is shown must be made of the source's own bytes.
   */
  render(out: Uint8Array, start: number, spareSpaces: number, columns: number = this.length): number {
    let end = Math.min(columns, this.overwritten ? this.width() : this.length);
    while (end > 0 && isGap(this.values[end - 1]!)) end--;
    let at = start;
    let spare = spareSpaces;
    let gap = 0;
    for (let index = 0; index < end; index++) {
      const value = this.values[index]!;
      if (value === REACHED) continue;
      if (isGap(value)) {
        gap++;
        continue;
      }
      if (gap > 0) {
        const shown = Math.min(gap, spare);
        out.fill(SPACE, at, at + shown);
        at += shown;
        spare -= shown;
        gap = 0;
      }
      if (value > 0xffffff) out[at++] = value >>> 24;
      if (value > 0xffff) out[at++] = (value >>> 16) & 0xff;
      if (value > 0xff) out[at++] = (value >>> 8) & 0xff;
      out[at++] = value & 0xff;
    }
    return at;
  }

  private truncate(length: number): void {
    this.values.fill(UNTOUCHED, length, this.length);
    this.length = length;
    this.overwritten = true;
  }

  private grow(length: number): void {
    if (length > this.values.length) {
      const larger = new Uint32Array(Math.max(length, this.values.length * 2)).fill(UNTOUCHED, this.length);
      larger.set(this.values.subarray(0, this.length));
      this.values = larger;
    }
    this.length = length;
  }
}

/** Nothing there to see, nor a blank that somebody wrote. */
function isGap(value: number): boolean {
  return value === UNTOUCHED || value === ERASED;
}

/** Nothing there to see. */
export function isBlank(value: number): boolean {
  return value >= REACHED || value === SPACE || value === TAB;
}
