import { type ByteSet, bytesOf, DIGIT } from "./byte-set.ts";

/** A secret is known by its first 16 KiB; once known, it is covered for as long as its shape goes on. */
export const MAX_SECRET_BYTES = 16 * 1024;
/** How much is looked at in one go: bounds the queue of candidates and what is copied. */
export const WINDOW_BYTES = 64 * 1024;
/** Bytes kept of what went before, so that a word's border can be judged at a chunk's start. */
export const BEHIND_BYTES = 32;

const SHA = bytesOf("sha");
const UNDERSCORE = 95;
const DASH = 45;
const REPLACED = 93;
const BACKSLASH = 92;
const PERCENT = 37;
const ESCAPE = 27;
const BRACKET = 91;
/** No code that a terminal knows is longer; so much is there at a chunk's start too. */
const MAX_CODE_BYTES = BEHIND_BYTES - 4;

/** What a search went over: every byte from the first place to before the last. */
export interface Stretch {
  from: number;
  to: number;
}

/** The part of a stream that is not decided yet. Places count from its first byte, also backwards into what went before. */
export class Window {
  bytes: Uint8Array = new Uint8Array(0);
  /** No more bytes will come. */
  final = false;
  /** Before this bytes are no context for what follows: they are replaced, or stand before what is. */
  contextFrom = -BEHIND_BYTES;
  /** How many bytes of the stream stand before the window. */
  start = 0;
  private readonly behind = new Uint8Array(BEHIND_BYTES);
  private behindLength = 0;
  /** Holds the undecided bytes in its middle; grows by appending, so that small chunks cost little. */
  private buffer = new Uint8Array(0);
  private bufferFrom = 0;
  private bufferTo = 0;
  private readonly searched = new Map<object, Stretch>();

  get end(): number {
    return this.bytes.length;
  }

  /** Appends the next bytes. They are not copied if everything before them is decided. */
  append(chunk: Uint8Array): void {
    const kept = this.bufferTo - this.bufferFrom;
    if (kept === 0) {
      this.bytes = chunk;
      return;
    }
    if (this.bufferTo + chunk.length > this.buffer.length) {
      const needed = kept + chunk.length;
      const target = needed * 2 > this.buffer.length ? new Uint8Array(needed * 2) : this.buffer;
      target.set(this.buffer.subarray(this.bufferFrom, this.bufferTo));
      this.buffer = target;
      this.bufferFrom = 0;
      this.bufferTo = kept;
    }
    this.buffer.set(chunk, this.bufferTo);
    this.bufferTo += chunk.length;
    this.bytes = this.buffer.subarray(this.bufferFrom, this.bufferTo);
  }

  /** Forgets the first bytes and copies the rest: the chunk they came in is the caller's. */
  drop(count: number): void {
    const { bytes, behind } = this;
    const keep = Math.min(this.behindLength, Math.max(0, BEHIND_BYTES - count));
    behind.copyWithin(0, this.behindLength - keep, this.behindLength);
    behind.set(bytes.subarray(Math.max(0, count - BEHIND_BYTES), count), keep);
    this.behindLength = keep + Math.min(count, BEHIND_BYTES);
    this.contextFrom = Math.max(this.contextFrom - count, -BEHIND_BYTES);
    this.start += count;
    if (this.bufferTo > this.bufferFrom) {
      this.bufferFrom += count;
      if (this.bufferFrom === this.bufferTo) this.bufferFrom = this.bufferTo = 0;
      return;
    }
    const rest = bytes.length - count;
    if (rest > this.buffer.length) this.buffer = new Uint8Array(rest * 2);
    this.buffer.set(bytes.subarray(count));
    this.bufferFrom = 0;
    this.bufferTo = rest;
  }

  /** The byte at a place, which may be one that went before; -1 where there is none. */
  byteAt(at: number): number {
    return at < this.contextFrom ? REPLACED : this.sourceAt(at);
  }

  /** The same, replaced or not: a secret that touches another may show itself by what both have. */
  sourceAt(at: number): number {
    if (at >= 0) return this.bytes[at] ?? -1;
    return this.behind[this.behindLength + at] ?? -1;
  }

  /**
   * The stretch that searches of a kind went over up to now, if `at` is in it, else a new one that begins there. Whoever
   * searches begins at its end and moves that on: many looks into one stretch, or a stretch that comes in small chunks,
   * are read once. Counted from the stream's start.
   */
  search(kind: object, at: number): Stretch {
    const from = at + this.start;
    let stretch = this.searched.get(kind);
    if (stretch === undefined) this.searched.set(kind, (stretch = { from, to: from }));
    else if (from < stretch.from || from > stretch.to) stretch.from = stretch.to = from;
    return stretch;
  }

  /** Returns where the run of a set's bytes from `at` on stops. Each asker has a stretch of its own. */
  runEnd(set: ByteSet, at: number, asker: object = set): number {
    const { bytes, start } = this;
    const stretch = this.search(asker, at);
    let stop = stretch.to - start;
    while (stop < bytes.length && set[bytes[stop] as number] === 1) stop++;
    stretch.to = stop + start;
    return stop;
  }

  /** Returns true if no word of these bytes goes on at `at`: an escape, a percent code or a terminal code before it is no part of one. */
  wordStarts(at: number, word: ByteSet): boolean {
    const last = this.byteAt(at - 1);
    if (last < 0 || word[last] === 0) return !this.endsDigestName(at - 1);
    // Two in a row divide the parts of a name.
    if ((last === UNDERSCORE || last === DASH) && this.byteAt(at - 2) === last && word[DASH] === 1) return true;
    if (this.byteAt(at - 2) === BACKSLASH || this.byteAt(at - 3) === PERCENT) return true;
    if (this.byteAt(at - 6) === BACKSLASH && this.byteAt(at - 5) === 117) return true;
    return this.endsTerminalCode(at - 2);
  }

  /** `sha256=`, `sha512-`: what follows is a digest, whatever it looks like. */
  private endsDigestName(at: number): boolean {
    return SHA.every((byte, index) => this.byteAt(at - 6 + index) === byte) && DIGIT[this.byteAt(at - 1)] === 1;
  }

  private endsTerminalCode(at: number): boolean {
    let place = at;
    for (let byte = this.byteAt(place); isParameter(byte) && at - place < MAX_CODE_BYTES; ) byte = this.byteAt(--place);
    if (this.byteAt(place) !== BRACKET) return false;
    const before = this.byteAt(place - 1);
    // As a byte, or as a log spells it: \u001b, \x1B, \033.
    return before === ESCAPE || before === 98 || before === 66 || before === 51;
  }
}

function isParameter(byte: number): boolean {
  return (byte >= 48 && byte <= 57) || byte === 59;
}
