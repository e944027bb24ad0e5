import { BACKSPACE, BYTE_KIND, CARRIAGE_RETURN, CONTROL, ESCAPE, isDigit, LINE_FEED, SPACE, TAB } from "./line.ts";
import { hasFailureWord } from "./noise.ts";

/** A visible line longer than this is passed on as it stands. */
export const MAX_LINE_BYTES = 65_536;

/** An escape sequence longer than this is text. */
const MAX_SEQUENCE_BYTES = 4_096;

// Where in an escape sequence we are, after its ESC.
const OPENING = 1;
const CSI = 2;
const INTERMEDIATE = 3;
const STRING = 4;
/** An ESC stands in a string: it ends the string if a backslash follows, else a new sequence began with it. */
const STRING_ESCAPE = 5;
/** The reader is outside any sequence. */
const NONE = 0;
/** The sequence ended with this byte. */
const DONE = 6;
/** It was no sequence: what it took is text, and this byte is not part of it. */
const TEXT = 7;

/**
 * Says what an escape sequence becomes with one more byte: CSI, two-byte, charset selection, and the strings (OSC, DCS, APC, PM,
 * SOS) up to BEL or ST. A string that meets its line's end or another control code is text: a stray introducer hides nothing.
 */
function nextState(state: number, byte: number): number {
  const isFinal = byte >= 0x30 && byte <= 0x7e;
  const isIntermediate = byte >= 0x20 && byte <= 0x2f;
  switch (state) {
    case OPENING:
      if (byte === 0x5b) return CSI;
      if (byte === 0x5d || byte === 0x50 || byte === 0x58 || byte === 0x5e || byte === 0x5f) return STRING;
      return isIntermediate ? INTERMEDIATE : isFinal ? DONE : TEXT;
    case CSI:
      if (byte >= 0x20 && byte <= 0x3f) return CSI;
      return isFinal ? DONE : TEXT;
    case INTERMEDIATE:
      return isIntermediate ? INTERMEDIATE : isFinal ? DONE : TEXT;
    case STRING:
      if (byte === 0x07) return DONE;
      if (byte === ESCAPE) return STRING_ESCAPE;
      return (BYTE_KIND[byte]! & CONTROL) === 0 ? STRING : TEXT;
    default:
      return byte === 0x5c ? DONE : TEXT;
  }
}

/** What commands do in the row of the cursor, by their last letters and their number, which is 1 if they have none. */
const ROW_COMMANDS = new Map<string, (row: Row, number: number) => void>([
  ["G", (row, column) => row.moveTo(column - 1)],
  ["`", (row, column) => row.moveTo(column - 1)],
  ["C", (row, columns) => row.moveBy(columns)],
  ["D", (row, columns) => row.moveBy(-columns)],
  ["X", (row, columns) => row.eraseHere(columns)],
  ["P", (row, columns) => row.deleteHere(columns)],
  ["@", (row, columns) => row.insertHere(columns)],
]);

/**
 * What a terminal shows of one line. While the cursor stays at the end of the text (no codes, colours, titles, links) the
 * text is just copied; the first code that moves it takes the line to a row of cells. What is written after a carriage
 * return goes to a row of its own (`top`); when it is complete, `overwrites` says whether it is laid over the row before
 * it (`base`) or that one is kept, its CR with it.
 */
export class TerminalLine {
  /** The visible text once the line is finished; before that, what can no longer change. */
  bytes: Uint8Array = new Uint8Array(MAX_LINE_BYTES + MAX_SEQUENCE_BYTES + 8);
  /** The bytes of the line before: it may still be compared with this one. */
  private otherBytes: Uint8Array = new Uint8Array(this.bytes.length);
  length = 0;
  /** The line's break was read. */
  ended = false;
  private base = new Row();
  private top = new Row();
  private isOnRow = false;
  /** Spaces in `bytes` while the line is on a row. */
  private keptSpaces = 0;
  private state = NONE;
  private readonly sequence = new Uint8Array(MAX_SEQUENCE_BYTES);
  private sequenceLength = 0;
  /** A carriage return came and nothing was written since. */
  private returned = false;
  private endsInReturn = false;
  private erased = false;

  /** Starts a line in the buffer of the line before the last. */
  begin(): void {
    const { bytes } = this;
    this.bytes = this.otherBytes;
    this.otherBytes = bytes;
    this.length = 0;
    this.ended = false;
    this.isOnRow = false;
    this.state = NONE;
    this.returned = false;
    this.endsInReturn = false;
    this.erased = false;
  }

  /** About how much is visible so far. */
  private get visible(): number {
    return this.length + (this.isOnRow ? Math.max(this.base.length, this.top.length) : 0);
  }

  /** True if more is visible than may be held. */
  get tooLong(): boolean {
    return this.visible > MAX_LINE_BYTES;
  }

  /** Takes bytes up to the line's end, or to where it grows too long; returns where it stopped. */
  feed(bytes: Uint8Array, start: number): number {
    let at = start;
    while (at < bytes.length && !this.ended) {
      const byte = bytes[at]!;
      if (this.state !== NONE) {
        if (this.step(byte)) at++;
      } else if ((BYTE_KIND[byte]! & CONTROL) === 0) {
        at = this.write(bytes, at);
      } else {
        this.takeControl(bytes[at++]!);
      }
      if (this.tooLong) break;
    }
    return at;
  }

  /** Completes `bytes` and `length`; the line feed, if there was one, stands after them. */
  finish(): void {
    if (this.state !== NONE) this.putSequence();
    if (this.isOnRow) {
      this.leaveRow();
      this.length = settleReturns(this.bytes, this.length);
    }
    if (!this.ended) return;
    if (this.endsInReturn) this.bytes[this.length++] = CARRIAGE_RETURN;
    this.bytes[this.length] = LINE_FEED;
  }

  /** Writes the byte at `start` and the text behind it, as far as it can go before the line may be too long. */
  private write(bytes: Uint8Array, start: number): number {
    this.endsInReturn = false;
    const row = this.isOnRow || this.returned ? this.row() : null;
    const stop = Math.min(bytes.length, start + MAX_LINE_BYTES + 1 - this.visible);
    let at = start + 1;
    if (row !== null) {
      while (at < stop && bytes[at]! >= SPACE) at++;
      row.write(bytes, start, at);
      return at;
    }
    const text = this.bytes;
    let { length } = this;
    text[length++] = bytes[start]!;
    for (; at < stop; at++) {
      const byte = bytes[at]!;
      if (byte < SPACE) break;
      text[length++] = byte;
    }
    this.length = length;
    return at;
  }

  private takeControl(byte: number): void {
    if (byte === LINE_FEED) {
      this.ended = true;
      return;
    }
    this.endsInReturn = byte === CARRIAGE_RETURN;
    const isEmpty = !this.isOnRow && this.length === 0;
    if (byte === CARRIAGE_RETURN) this.returned = !isEmpty;
    else if (byte === ESCAPE) this.startSequence();
    else if (byte === BACKSPACE && !this.returned && !isEmpty) this.row().moveBy(-1);
  }

  private startSequence(): void {
    this.state = OPENING;
    this.sequenceLength = 0;
  }

  /** Takes one byte of a sequence. Returns false if the byte is not part of it. */
  private step(byte: number): boolean {
    const { state } = this;
    const isFull = this.sequenceLength === MAX_SEQUENCE_BYTES;
    const next = nextState(state, byte);
    if (next === TEXT || (isFull && next !== STRING_ESCAPE)) {
      this.putSequence();
      if (state === STRING_ESCAPE) this.startSequence();
      return false;
    }
    this.state = next;
    if (next === STRING_ESCAPE) return true;
    this.sequence[this.sequenceLength++] = byte;
    if (next === DONE) {
      this.state = NONE;
      this.endsInReturn = false;
      this.apply();
    }
    return true;
  }

  /** What looked like a sequence is text after all. */
  private putSequence(): void {
    this.state = NONE;
    if (this.sequenceLength > 0) this.endsInReturn = false;
    for (let at = 0; at < this.sequenceLength; at++) this.write(this.sequence.subarray(at, at + 1), 0);
  }

  /** Does what a finished sequence says. */
  private apply(): void {
    const { sequence, sequenceLength } = this;
    // A private sequence, with one of `<=>?` in front, moves nothing.
    const isCommand = sequence[0] === 0x5b && (sequence[1]! < 0x3c || sequence[1]! > 0x3f);
    const last = String.fromCharCode(sequence[sequenceLength - 1]!);
    const isEmpty = !this.isOnRow && this.length === 0;
    if (!isCommand) {
      if (!isEmpty && sequenceLength === 1 && "DEM".includes(last)) this.leave();
      return;
    }
    let number = 0;
    for (let at = 1; isDigit(sequence[at]); at++) number = Math.min(10 * number + sequence[at]! - 0x30, 1_000_000);
    if (last === "K" || (last === "J" && number < 2)) this.erase(number, isEmpty);
    else if (isEmpty) return;
    else if (ROW_COMMANDS.has(last)) ROW_COMMANDS.get(last)!(this.row(), number || 1);
    else if ("ABEFHJLMSTdf".includes(last)) this.leave();
  }

  private erase(area: number, isEmpty: boolean): void {
    // At the end of the text there is nothing to erase, but the code tells that the line is being redrawn.
    if (!this.isOnRow && !this.returned && (area === 0 || isEmpty)) this.erased = true;
    else if (!isEmpty) this.row().erase(area);
  }

  /** The cursor goes to another row. */
  private leave(): void {
    this.row();
    this.leaveRow();
  }

  /** The row that is written to. */
  private row(): Row {
    if (!this.isOnRow) {
      this.isOnRow = true;
      this.base.reset();
      this.top.reset();
      this.base.spacesWritten = this.top.spacesWritten = this.keptSpaces = 0;
      this.top.write(this.bytes, 0, this.length);
      this.top.flush();
      this.top.erased = this.erased;
      this.length = 0;
    }
    if (this.returned) this.settle();
    this.returned = false;
    return this.top;
  }

  /** What was written since the last carriage return is complete: it is laid over the row before it, or follows it. */
  private settle(): void {
    const { base, top } = this;
    top.flush();
    if (base.length > 0 && overwrites(base, top)) {
      base.overlay(top);
    } else {
      if (base.length > 0 && this.keep()) this.bytes[this.length++] = CARRIAGE_RETURN;
      this.base = top;
      this.top = base;
    }
    this.top.reset();
  }

  /** The cursor goes to another row: what stands here can no longer be written over, so it is kept. */
  private leaveRow(): void {
    this.settle();
    this.keep();
    this.base.reset();
  }

  /** Appends the base row to what is kept; false if nothing of it is visible. */
  private keep(): boolean {
    const room = this.length + 4 * this.base.length + 8;
    if (room > this.bytes.length) {
      const larger = new Uint8Array(Math.max(room, 2 * this.bytes.length));
      larger.set(this.bytes.subarray(0, this.length));
      this.bytes = larger;
    }
    // Spaces that were written and are not shown any more may stand for columns that the cursor passed over.
    const written = this.base.spacesWritten + this.top.spacesWritten;
    const spare = written - this.keptSpaces - this.base.spaces() - this.top.spaces();
    const start = this.length;
    this.length = this.base.render(this.bytes, start, spare);
    for (let at = start; at < this.length; at++) if (this.bytes[at] === SPACE) this.keptSpaces++;
    return this.length > start;
  }
}

/** Returns true if `top`, written after a carriage return, replaces what it covers of `base`. */
function overwrites(base: Row, top: Row): boolean {
  if (top.length === 0 || top.erased || base.erased) return true;
  const width = base.width();
  const topWidth = top.width();
  if (width === 0 || (topWidth > 0 && isRedraw(base, top, width))) return true;
  const covered = top.length >= width;
  // A short stretch over a long one must not cost the long one's length each time.
  const old = textOf(base, Math.max(64, 2 * top.length));
  if (topWidth === 0) return covered && !hasFailureWord(old);
  const fresh = textOf(top, topWidth);
  const letters = lettersOf(old);
  const freshLetters = lettersOf(fresh);
  const marked = MARK.test(old) || timesIn(old) > 1;
  if (letters === freshLetters) {
    if (letters !== "" || marked || MARK.test(fresh) || timesIn(fresh) > 1) return true;
    const numbers = Math.max(numbersIn(old), numbersIn(fresh));
    return numbers > 0 ? numbers === 1 : width <= 3 && topWidth <= 3;
  }
  const padded = covered && topWidth < width && top.cells[topWidth] === SPACE;
  if (!padded) {
    if (!marked) return false;
    const shorter = Math.min(letters.length, freshLetters.length);
    if (letters === "" ? !covered : 2 * sharedEnds(letters, freshLetters) < shorter) return false;
  }
  return !hasFailureWord(old) || hasFailureWord(fresh);
}

function isRedraw(base: Row, top: Row, width: number): boolean {
  const end = Math.min(width, top.length);
  for (let at = 0; at < end; at++) {
    const value = top.cells[at]!;
    const old = base.cells[at]!;
    if (value !== old && !isBlank(old) && (value === SPACE || !isBlank(value))) return false;
  }
  return true;
}

const decoder = new TextDecoder();
let rendered = new Uint8Array(1024);

/** Returns the first columns of a row. */
function textOf(row: Row, columns: number): string {
  const size = 4 * Math.min(columns, row.length);
  if (size > rendered.length) rendered = new Uint8Array(2 * size);
  return decoder.decode(rendered.subarray(0, row.render(rendered, 0, row.length, columns)));
}

/** Matches everything but letters: also numbers with a unit behind them, and the symbols of spinners and bars. */
const NO_LETTERS =
  /\d+(?:[a-z]{1,3}(?![a-z]))?|[^a-z\d\u0080-\uffff]+|[\u2000-\u2bff]+|[\ud83c-\ud83f][\udc00-\udfff]/gi;

function lettersOf(text: string): string {
  return text.replace(NO_LETTERS, "").toLowerCase();
}

/** Matches a percentage, n/m, n of m, or a bar. */
const MARK = /\d ?%|\d\/\d|\d of \d|[\u2500-\u25ff\u2800-\u28ff]|###|===|>>>/;

/** Counts clock times; `--:--:--` counts as two. */
function timesIn(text: string): number {
  return text.match(/(?<!:.)\d(?=:\d)|-(?=:-)/g)?.length ?? 0;
}

function numbersIn(text: string): number {
  return text.match(/\d+/g)?.length ?? 0;
}

/** Counts the letters that two texts have in common at their start and their end. */
function sharedEnds(first: string, second: string): number {
  const shorter = Math.min(first.length, second.length);
  let start = 0;
  while (start < shorter && first[start] === second[start]) start++;
  let end = 0;
  while (start + end < shorter && first.at(-1 - end) === second.at(-1 - end)) end++;
  return start + end;
}

/**
 * Resolves stretches joined by CR until no neighbours overwrite one another, so that folding the result again changes
 * nothing: a stretch kept at first may turn out to be overwritten by what its successor became. It changes `bytes` in
 * place and returns the new end.
 */
function settleReturns(bytes: Uint8Array, end: number): number {
  if (!bytes.subarray(0, end).includes(CARRIAGE_RETURN)) return end;
  const top = new Row();
  const base = new Row();
  const merged = new Uint8Array(end);
  // Where each settled stretch begins in `bytes`; its CR stands just before the next one.
  const starts: number[] = [];
  let written = 0;
  // Bounds the time that crafted input can take; ordinary input needs a small part of it.
  let work = 64 * end;
  for (let at = 0; at <= end; ) {
    let next = bytes.indexOf(CARRIAGE_RETURN, at);
    if (next < 0 || next > end) next = end;
    let size = next - at;
    merged.set(bytes.subarray(at, next));
    at = next + 1;
    while (starts.length > 0 && size > 0 && work > 0) {
      const baseStart = starts.at(-1)!;
      work -= written - baseStart + size;
      fill(base, bytes, baseStart, written);
      fill(top, merged, 0, size);
      if (!overwrites(base, top)) break;
      base.overlay(top);
      size = base.render(merged, 0, 0);
      starts.pop();
      written = Math.max(0, baseStart - 1);
    }
    if (size === 0) continue;
    if (starts.length > 0) bytes[written++] = CARRIAGE_RETURN;
    starts.push(written);
    bytes.set(merged.subarray(0, size), written);
    written += size;
  }
  return written;
}

function fill(row: Row, bytes: Uint8Array, start: number, end: number): void {
  row.reset();
  row.write(bytes, start, end);
  row.flush();
}

// One row of a terminal: what was written into which column. A cell holds one code point's bytes as a number (the first
// byte highest), or an invalid byte as it is, or one of the values below, which no bytes can give.

/** Nothing was written here: what lies underneath shows through. */
const UNTOUCHED = 0xffffffff;
const ERASED = 0xfffffffe;
/** The tab to the left reaches over this column. */
const REACHED = 0xfffffffd;

/** No terminal is wider: a cursor sent further right stops here unless the line is longer. */
const MAX_COLUMNS = 1_024;
/** Codes that move many cells at once do nothing on a longer row: a few bytes must not cost much time. */
const MAX_EDIT_CELLS = 4 * MAX_COLUMNS;

class Row {
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
    const isAppended = this.missing === 0 && this.cursor === this.length;
    for (let at = isAppended ? this.append(bytes, start, end) : start; at < end; at++) {
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

  /** Writes ASCII text at the row's end, up to the first other byte: nearly all that is written. */
  private append(bytes: Uint8Array, start: number, end: number): number {
    let to = this.length;
    this.grow(to + end - start);
    const { cells } = this;
    let at = start;
    for (; at < end; at++) {
      const byte = bytes[at]!;
      if (byte < SPACE || byte >= 0x80) break;
      if (byte === SPACE) this.spacesWritten++;
      cells[to++] = byte;
    }
    this.length = this.cursor = to;
    return at;
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

/** Returns true if the cell shows nothing and nobody wrote a blank to it. */
function isGap(value: number): boolean {
  return value === UNTOUCHED || value === ERASED;
}

/** Returns true if the cell shows nothing. */
function isBlank(value: number): boolean {
  return value >= REACHED || value === SPACE || value === TAB;
}
