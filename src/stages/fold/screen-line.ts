import { MAX_COLUMNS, MAX_LINE_BYTES } from "./bounds.ts";
import { CARRIAGE_RETURN, SPACE } from "./byte-class.ts";
import { CellWriter } from "./cell-writer.ts";
import { Cells } from "./cells.ts";
import { overwrites } from "./overwrites.ts";
import { settleReturns } from "./settle-returns.ts";

/**
 * A line on which the cursor moves. What is written after a carriage return goes to a row of its own (`top`); when it is
 * complete, `overwrites` says whether it is laid over the row before it (`base`) or that one is kept, its CR with it.
 */
export class ScreenLine {
  /** Rows that are kept, then, when finished, all of the line. */
  bytes: Uint8Array = new Uint8Array(1024);
  private kept = 0;
  private keptSpaces = 0;
  private base = new Cells();
  private top = new Cells();
  private readonly writer = new CellWriter();

  /** Starts with text that stands there already, the cursor after it. */
  begin(text: Uint8Array, length: number, erased: boolean): void {
    this.kept = 0;
    this.keptSpaces = 0;
    this.base.reset();
    this.top.reset();
    this.writer.reset();
    this.writer.putAll(this.top, text, 0, length);
    this.top.erased = erased;
  }

  /** How much is held, about. */
  get size(): number {
    return this.kept + Math.max(this.base.length, this.top.length);
  }

  put(byte: number): void {
    this.writer.put(this.top, byte);
  }

  /** Writes ASCII text up to a byte of another sort, or as far as it can go before the line may be too long. */
  putPlain(bytes: Uint8Array, start: number, end: number): number {
    return this.writer.putPlain(this.top, bytes, start, Math.min(end, start + MAX_LINE_BYTES + 1 - this.size));
  }

  moveTo(column: number): void {
    this.writer.flush(this.top);
    this.top.moveTo(column);
  }

  moveBy(columns: number): void {
    this.writer.flush(this.top);
    this.top.moveTo(this.top.cursor + columns);
  }

  /** 0: from the cursor on; 1: up to it; 2: the whole row. */
  erase(area: number): void {
    this.writer.flush(this.top);
    if (area === 0) this.top.eraseToEnd();
    else if (area === 1) this.top.eraseToCursor();
    else if (area === 2) this.top.eraseAll();
  }

  eraseHere(count: number): void {
    this.writer.flush(this.top);
    this.top.erase(this.top.cursor, this.top.cursor + Math.min(count, MAX_COLUMNS));
  }

  deleteHere(count: number): void {
    this.writer.flush(this.top);
    this.top.deleteHere(count);
  }

  insertHere(count: number): void {
    this.writer.flush(this.top);
    this.top.insertHere(count);
  }

  returnCarriage(): void {
    this.settle();
    this.top.reset();
  }

  /** The cursor goes to another row: what stands here can no longer be written over, so it is kept. */
  leaveRow(): void {
    this.returnCarriage();
    this.keep();
    this.base.reset();
  }

  /** Writes the line to `bytes` and returns its end; there is room for a line break after it. */
  finish(): number {
    this.returnCarriage();
    this.keep();
    return settleReturns(this.bytes, this.kept);
  }

  private settle(): void {
    this.writer.flush(this.top);
    if (this.base.length > 0) {
      if (overwrites(this.base, this.top)) {
        if (this.top.hides(this.base)) {
          this.swap();
          this.base.trim();
        } else {
          this.base.overlay(this.top);
        }
        return;
      }
      if (this.keep()) this.bytes[this.kept++] = CARRIAGE_RETURN;
    }
    this.swap();
  }

  private swap(): void {
    const { base } = this;
    this.base = this.top;
    this.top = base;
  }

  /** Appends the base row to what is kept; false if nothing of it is visible. */
  private keep(): boolean {
    const room = this.kept + 4 * this.base.length + 8;
    if (room > this.bytes.length) {
      const larger = new Uint8Array(Math.max(room, 2 * this.bytes.length));
      larger.set(this.bytes.subarray(0, this.kept));
      this.bytes = larger;
    }
    // Spaces that were written and are not shown any more may stand for columns that the cursor passed over.
    const spare = this.writer.spaces - this.keptSpaces - this.base.spaces() - this.top.spaces();
    const start = this.kept;
    this.kept = this.base.render(this.bytes, start, spare);
    for (let at = start; at < this.kept; at++) if (this.bytes[at] === SPACE) this.keptSpaces++;
    return this.kept > start;
  }
}
