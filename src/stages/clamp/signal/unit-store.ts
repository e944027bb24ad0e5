/** What a unit is: a line of the source, one that folding changed, or our words for lines that are not shown. */
export const SOURCE = 0;
export const REWRITTEN = 1;
export const NOTE_FOLDED = 2;
export const NOTE_OMITTED = 3;

export const IS_BLANK = 1;
export const IS_FRAME = 2;
export const IS_HEADER = 4;
export const IS_COMMAND = 8;
export const FAILED_STEP = 16;
export const GOOD_STEP = 32;
export const STARTS_INSIDE = 64;
export const ENDS_INSIDE = 128;
/** A warning of a shape that is rare so far. */
export const IS_WARNING = 256;
/** Somebody is after it. */
export const IS_FOCUSED = 512;
/** It begins with a word for a failure, alone or in a name. */
export const IS_VERDICT = 1024;
/** The last good run has no line of its sort. */
export const IS_NEW = 4096;
/** That run has lines like it, with other names in them. */
export const IS_NEWLY_NAMED = 8192;
/** What a new line gains while the output comes; at the end it depends on how many are new. */
export const HELD_NEW_GAIN = 3;
/** It says what went wrong; the frames of its trace are shown only with it. */
export const IS_MESSAGE = 2048;
/** What a warning gains where nothing failed; until that is known it must not be let go. */
export const WARNING_GAIN = 2;

const FIRST_UNITS = 1024;
/** Bytes up to so many are copied one by one: that is faster than to make a view of them. */
const SHORT_BYTES = 96;

/** Lines (or parts of very long ones) that may be shown, in order; each is a row of these columns. */
export class UnitStore {
  length = 0;
  bytes = new Uint8Array(16_384);
  bytesLength = 0;
  /** Rendered characters held. */
  chars = 0;
  sequence = new Int32Array(FIRST_UNITS);
  byteAt = new Int32Array(FIRST_UNITS);
  byteLength = new Int32Array(FIRST_UNITS);
  /** Source range in bytes, its first line and its breaks. */
  from = new Float64Array(FIRST_UNITS);
  to = new Float64Array(FIRST_UNITS);
  line = new Float64Array(FIRST_UNITS);
  breaks = new Int32Array(FIRST_UNITS);
  /** Source characters before it, and its own. */
  sourceCharsBefore = new Float64Array(FIRST_UNITS);
  sourceChars = new Int32Array(FIRST_UNITS);
  /** Characters that showing it takes. */
  shownChars = new Int32Array(FIRST_UNITS);
  /** Characters rendered before it. */
  charsBefore = new Float64Array(FIRST_UNITS);
  kind = new Uint8Array(FIRST_UNITS);
  flags = new Uint16Array(FIRST_UNITS);
  /** Which words of the focus it has. */
  words = new Int32Array(FIRST_UNITS);
  level = new Uint8Array(FIRST_UNITS);
  indent = new Uint8Array(FIRST_UNITS);
  /** Bytes before its text, as a log puts them there. */
  prefix = new Uint8Array(FIRST_UNITS);
  shapeSlot = new Uint16Array(FIRST_UNITS);
  startSlot = new Uint16Array(FIRST_UNITS);
  sortSlot = new Uint16Array(FIRST_UNITS);
  textHash = new Int32Array(FIRST_UNITS);
  template = new Int32Array(FIRST_UNITS);
  /** The number of the stack trace that it is part of; 0 for none. */
  trace = new Int32Array(FIRST_UNITS);
  failedBefore = new Uint8Array(FIRST_UNITS);
  /** Strong lines before it. */
  strongBefore = new Int32Array(FIRST_UNITS);
  lineScore = new Float32Array(FIRST_UNITS);
  /** The score without what is only known at the end. */
  score = new Float32Array(FIRST_UNITS);

  /** One more unit: source[start, end). It is then row `length - 1`. */
  push(source: Uint8Array, start: number, end: number): number {
    if (this.length === this.sequence.length) this.#grow();
    const byteLength = end - start;
    this.#makeRoom(this.bytesLength + byteLength);
    if (byteLength > SHORT_BYTES) this.bytes.set(source.subarray(start, end), this.bytesLength);
    else for (let at = start, to = this.bytesLength; at < end; ) this.bytes[to++] = source[at++] as number;
    const row = this.length++;
    this.byteAt[row] = this.bytesLength;
    this.byteLength[row] = byteLength;
    this.bytesLength += byteLength;
    return row;
  }

  #makeRoom(needed: number): void {
    if (needed <= this.bytes.length) return;
    const larger = new Uint8Array(Math.max(needed, Math.ceil(this.bytes.length * 1.5)));
    larger.set(this.bytes.subarray(0, this.bytesLength));
    this.bytes = larger;
  }

  /** Keeps only the rows for which `keeps` says so. */
  retain(keeps: Uint8Array): void {
    const rows = new Int32Array(this.length);
    let count = 0;
    let bytesTo = 0;
    for (let row = 0; row < this.length; row++) {
      if (keeps[row] === 0) {
        this.chars -= this.shownChars[row] as number;
        continue;
      }
      const at = this.byteAt[row] as number;
      const length = this.byteLength[row] as number;
      if (at !== bytesTo) this.bytes.copyWithin(bytesTo, at, at + length);
      this.byteAt[row] = bytesTo;
      bytesTo += length;
      rows[count++] = row;
    }
    // One loop for each type of column: a loop over mixed types is many times slower.
    moveInt32(
      [this.sequence, this.byteAt, this.byteLength, this.breaks, this.sourceChars, this.shownChars],
      rows,
      count,
    );
    moveInt32([this.textHash, this.trace, this.strongBefore, this.words, this.template], rows, count);
    moveFloat64([this.from, this.to, this.line, this.sourceCharsBefore, this.charsBefore], rows, count);
    moveUint8([this.kind, this.level, this.indent, this.prefix, this.failedBefore], rows, count);
    moveUint16([this.flags, this.shapeSlot, this.startSlot, this.sortSlot], rows, count);
    moveFloat32([this.lineScore, this.score], rows, count);
    this.length = count;
    this.bytesLength = bytesTo;
  }

  #grow(): void {
    const size = this.sequence.length * 2;
    const larger = <T extends { set(from: T): void }>(make: new (size: number) => T, column: T): T => {
      const grown = new make(size);
      grown.set(column);
      return grown;
    };
    this.sequence = larger(Int32Array, this.sequence);
    this.byteAt = larger(Int32Array, this.byteAt);
    this.byteLength = larger(Int32Array, this.byteLength);
    this.from = larger(Float64Array, this.from);
    this.to = larger(Float64Array, this.to);
    this.line = larger(Float64Array, this.line);
    this.breaks = larger(Int32Array, this.breaks);
    this.sourceCharsBefore = larger(Float64Array, this.sourceCharsBefore);
    this.sourceChars = larger(Int32Array, this.sourceChars);
    this.shownChars = larger(Int32Array, this.shownChars);
    this.charsBefore = larger(Float64Array, this.charsBefore);
    this.kind = larger(Uint8Array, this.kind);
    this.flags = larger(Uint16Array, this.flags);
    this.words = larger(Int32Array, this.words);
    this.level = larger(Uint8Array, this.level);
    this.indent = larger(Uint8Array, this.indent);
    this.prefix = larger(Uint8Array, this.prefix);
    this.shapeSlot = larger(Uint16Array, this.shapeSlot);
    this.startSlot = larger(Uint16Array, this.startSlot);
    this.sortSlot = larger(Uint16Array, this.sortSlot);
    this.textHash = larger(Int32Array, this.textHash);
    this.template = larger(Int32Array, this.template);
    this.trace = larger(Int32Array, this.trace);
    this.strongBefore = larger(Int32Array, this.strongBefore);
    this.failedBefore = larger(Uint8Array, this.failedBefore);
    this.lineScore = larger(Float32Array, this.lineScore);
    this.score = larger(Float32Array, this.score);
  }
}

function moveInt32(columns: Int32Array[], rows: Int32Array, count: number): void {
  for (const column of columns) for (let to = 0; to < count; to++) column[to] = column[rows[to] as number] as number;
}

function moveFloat64(columns: Float64Array[], rows: Int32Array, count: number): void {
  for (const column of columns) for (let to = 0; to < count; to++) column[to] = column[rows[to] as number] as number;
}

function moveUint8(columns: Uint8Array[], rows: Int32Array, count: number): void {
  for (const column of columns) for (let to = 0; to < count; to++) column[to] = column[rows[to] as number] as number;
}

function moveUint16(columns: Uint16Array[], rows: Int32Array, count: number): void {
  for (const column of columns) for (let to = 0; to < count; to++) column[to] = column[rows[to] as number] as number;
}

function moveFloat32(columns: Float32Array[], rows: Int32Array, count: number): void {
  for (const column of columns) for (let to = 0; to < count; to++) column[to] = column[rows[to] as number] as number;
}

const SLOTS = 1 << 15;

/** Lines of a sort that came no more often are rare. */
export const MOST_RARE = 2;

/** How often lines of a shape came. Shapes share slots where they must: a count may be too high, never too low. */
export class ShapeCounts {
  /** Lines in all, and how many shapes are rare. */
  lines = 0;
  rare = 0;
  readonly #counts = new Uint16Array(SLOTS);

  slot(shape: number): number {
    return (shape ^ (shape >>> 15)) & (SLOTS - 1);
  }

  /** How often the slot's shapes came before; counts one more. */
  add(slot: number): number {
    const count = this.#counts[slot] as number;
    this.lines++;
    if (count === 0) this.rare++;
    else if (count === MOST_RARE) this.rare--;
    if (count < 65_535) this.#counts[slot] = count + 1;
    return count;
  }

  of(slot: number): number {
    return this.#counts[slot] as number;
  }
}
