import { SPACE, TAB } from "./byte-class.ts";
import type { Cells } from "./cells.ts";

/** Writes bytes into cells, one code point each; a byte that is not UTF-8 gets a cell of its own. */
export class CellWriter {
  /** Spaces written since the line began. */
  spaces = 0;
  private value = 0;
  private missing = 0;

  put(cells: Cells, byte: number): void {
    if (this.missing > 0) {
      if ((byte & 0xc0) === 0x80) {
        this.value = ((this.value << 8) | byte) >>> 0;
        if (--this.missing === 0) cells.put(this.value);
        return;
      }
      this.flush(cells);
    }
    if (byte < 0x80) {
      if (byte === TAB) {
        cells.tab();
        return;
      }
      if (byte === SPACE) this.spaces++;
      cells.put(byte);
    } else if (byte >= 0xc2 && byte <= 0xf4) {
      this.value = byte;
      this.missing = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
    } else {
      cells.put(byte);
    }
  }

  /** Writes printable ASCII up to a byte of another sort or to `end`; returns where it stopped. */
  putPlain(cells: Cells, bytes: Uint8Array, start: number, end: number): number {
    let at = start;
    while (at < end && isPrintable(bytes[at]!)) {
      this.flush(cells);
      // Nearly always text is written at the row's end, where there is nothing to take care of.
      const { values } = cells;
      let column = cells.cursor;
      const stop = column === cells.length ? Math.min(end, at + values.length - column) : at;
      let spaces = 0;
      while (at < stop) {
        const byte = bytes[at]!;
        if (!isPrintable(byte)) break;
        if (byte === SPACE) spaces++;
        values[column++] = byte;
        at++;
      }
      this.spaces += spaces;
      if (column > cells.cursor) cells.length = cells.cursor = column;
      else this.put(cells, bytes[at++]!);
    }
    return at;
  }

  putAll(cells: Cells, bytes: Uint8Array, start: number, end: number): void {
    for (let at = start; at < end; at++) this.put(cells, bytes[at]!);
    this.flush(cells);
  }

  /** A sequence cut short becomes a cell as it is. */
  flush(cells: Cells): void {
    if (this.missing > 0) cells.put(this.value);
    this.missing = 0;
  }

  reset(): void {
    this.spaces = 0;
    this.missing = 0;
  }
}

function isPrintable(byte: number): boolean {
  return byte >= SPACE && byte < 0x80;
}
