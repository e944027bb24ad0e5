// One row of a terminal: what was written into which column. A cell holds one code point's bytes as a number (the first
// byte highest), or an invalid byte as it is, or one of the values below, which no bytes can give.
import { SPACE, TAB } from "./line.ts";

/** Nothing was written here: what lies underneath shows through. */
const UNTOUCHED = 0xffffffff;
const ERASED = 0xfffffffe;
/** The tab to the left reaches over this column. */
const REACHED = 0xfffffffd;

/** No terminal is wider: a cursor sent further right stops here unless the line is longer. */
const MAX_COLUMNS = 1_024;
/** Codes that move many cells at once do nothing on a longer row: a few bytes must not cost much time. */
const MAX_EDIT_CELLS = 4 * MAX_COLUMNS;

export class Row {
  cells: Uint32Array = new Uint32Array(256).fill(UNTOUCHED);
  length = 0;
  /** An erase code was used: whoever writes here redraws. */
  erased = false;
  /** Spaces written to this row, also before it was reset. */
  spacesWritten = 0;
  private cursor = 0;
  /** Something was written over. */
  private overwritten = false;
  /** Everything underneath from this column on was erased. */
  private clearFrom: number = Number.POSITIVE_INFINITY;
  /** The bytes so far of a character that is not complete, and how many are missing. */
  private value = 0;
  private missing = 0;

  reset(): void {
    this.cells.fill(UNTOUCHED, 0, this.length);
    this.length = 0;
    this.erased = false;
    this.cursor = 0;
    this.overwritten = false;
    this.clearFrom = Number.POSITIVE_INFINITY;
    this.missing = 0;
  }

  /** Writes bytes, one code point to a cell; a byte that is not UTF-8 gets a cell of its own. */
  write(bytes: Uint8Array, start: number, end: number): void {
    for (let at = start; at < end; at++) {
      const byte = bytes[at]!;
      if (this.missing > 0) {
        if ((byte & 0xc0) === 0x80) {
          this.value = ((this.value << 8) | byte) >>> 0;
          if (--this.missing === 0) this.put(this.value);
          continue;
        }
        this.flush();
      }
      if (byte === TAB) {
        this.tab();
      } else if (byte >= 0xc2 && byte <= 0xf4) {
        this.value = byte;
        this.missing = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
      } else {
        if (byte === SPACE) this.spacesWritten++;
        this.put(byte);
      }
    }
  }

  /** A character cut short becomes a cell as it is. */
  flush(): void {
    if (this.missing > 0) this.put(this.value);
    this.missing = 0;
  }

  /** Moves the cursor to a column, counted from 0. It never passes a terminal's width unless the row is longer. */
  moveTo(column: number): void {
    this.flush();
    this.cursor = Math.max(0, Math.min(column, Math.max(this.length, MAX_COLUMNS)));
  }

  moveBy(columns: number): void {
    this.flush();
    this.moveTo(this.cursor + columns);
  }

  /** Erases from the cursor on (0), up to the cursor (1) or the whole row (2). */
  erase(area: number): void {
    this.flush();
    if (area === 1) {
      if (this.cursor < MAX_EDIT_CELLS) this.eraseCells(0, this.cursor + 1);
    } else if (area === 0 || area === 2) {
      const from = area === 0 ? this.cursor : 0;
      this.erased = true;
      this.overwritten ||= area === 2;
      this.clearFrom = Math.min(this.clearFrom, from);
      this.truncate(from);
    }
  }

  eraseHere(count: number): void {
    this.flush();
    this.eraseCells(this.cursor, this.cursor + Math.min(count, MAX_COLUMNS));
  }

  deleteHere(count: number): void {
    this.flush();
    if (this.cursor >= this.length || this.length > MAX_EDIT_CELLS) return;
    const gone = Math.min(count, this.length - this.cursor);
    this.cells.copyWithin(this.cursor, this.cursor + gone, this.length);
    this.truncate(this.length - gone);
  }

  insertHere(count: number): void {
    this.flush();
    if (this.cursor >= this.length || this.length > MAX_EDIT_CELLS) return;
    const room = Math.min(count, MAX_COLUMNS);
    const end = this.length;
    this.grow(end + room);
    this.cells.copyWithin(this.cursor + room, this.cursor, end);
    this.cells.fill(ERASED, this.cursor, this.cursor + room);
  }

  /** Lays `top` over this row, as if it had been written after a carriage return. */
  overlay(top: Row): void {
    this.truncate(this.width() === 0 ? 0 : top.clearFrom);
    for (let at = 0; at < top.length; at++) {
      const value = top.cells[at]!;
      if (value === UNTOUCHED) continue;
      const isTab = value === TAB || value === REACHED;
      if (isTab && at < this.length && !isGap(this.cells[at]!)) continue;
      this.cursor = at;
      this.put(value);
    }
    this.erased = top.erased;
    // If something was written over, the row is shown without blanks at its end.
    this.truncate(this.width());
  }

  /** Returns the number of columns up to the last one that has something visible. */
  width(): number {
    let end = this.length;
    while (end > 0 && isBlank(this.cells[end - 1]!)) end--;
    return end;
  }

  /** Counts the cells that are spaces. */
  spaces(): number {
    let count = 0;
    for (let at = 0; at < this.length; at++) if (this.cells[at] === SPACE) count++;
    return count;
  }

  /**
   * Writes the row (or its first columns) to `out` from `start` and returns its end. Columns that nothing was written to
   * come out as spaces, as far as the source had spaces to spare: what is shown must be made of the source's own bytes.
   */
  render(out: Uint8Array, start: number, spareSpaces: number, columns: number = this.length): number {
    let end = Math.min(columns, this.overwritten ? this.width() : this.length);
    while (end > 0 && isGap(this.cells[end - 1]!)) end--;
    let at = start;
    let spare = spareSpaces;
    for (let index = 0; index < end; index++) {
      const value = this.cells[index]!;
      if (value === REACHED) continue;
      if (isGap(value)) {
        if (spare-- > 0) out[at++] = SPACE;
        continue;
      }
      if (value > 0xffffff) out[at++] = value >>> 24;
      if (value > 0xffff) out[at++] = (value >>> 16) & 0xff;
      if (value > 0xff) out[at++] = (value >>> 8) & 0xff;
      out[at++] = value & 0xff;
    }
    return at;
  }

  private put(value: number): void {
    const at = this.cursor++;
    if (at >= this.length) this.grow(at + 1);
    const { cells } = this;
    const old = cells[at]!;
    if (old !== UNTOUCHED) {
      this.overwritten = true;
      // A tab written over still reaches to its stop from the next column.
      if (old === TAB && cells[at + 1] === REACHED) cells[at + 1] = TAB;
    }
    cells[at] = value;
  }

  private tab(): void {
    const stop = this.cursor - (this.cursor % 8) + 8;
    if (this.cursor >= this.length || this.cells[this.cursor] === UNTOUCHED) {
      if (stop > this.length) this.grow(stop);
      let at = this.cursor;
      this.cells[at++] = TAB;
      while (at < stop && this.cells[at] === UNTOUCHED) this.cells[at++] = REACHED;
    }
    this.cursor = stop;
  }

  private eraseCells(from: number, to: number): void {
    this.erased = true;
    if (to > this.length) this.grow(to);
    this.cells.fill(ERASED, from, to);
  }

  private truncate(length: number): void {
    if (length >= this.length) return;
    this.cells.fill(UNTOUCHED, length, this.length);
    this.length = length;
    this.overwritten = true;
  }

  private grow(length: number): void {
    if (length > this.cells.length) {
      const larger = new Uint32Array(Math.max(length, this.cells.length * 2)).fill(UNTOUCHED, this.length);
      larger.set(this.cells.subarray(0, this.length));
      this.cells = larger;
    }
    this.length = length;
  }
}

/** True if the cell shows nothing and nobody wrote a blank to it. */
function isGap(value: number): boolean {
  return value === UNTOUCHED || value === ERASED;
}

/** True if the cell shows nothing. */
export function isBlank(value: number): boolean {
  return value >= REACHED || value === SPACE || value === TAB;
}
