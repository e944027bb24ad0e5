import { BEHIND_BYTES } from "./bounds.ts";
import { type ByteSet, WORD } from "./byte-set.ts";

const REPLACED = 93;
const BACKSLASH = 92;
const PERCENT = 37;
const ESCAPE = 27;
const BRACKET = 91;

/** Slots of the rules that look for themselves; those of programs come after them. */
export const FINDER_SLOTS = { quoted: 0, plain: 1, authority: 2, line: 3, keyWord: 4, label: 5 } as const;

/** The bytes of a stream that are not decided yet. Places count from the first of them. */
export class View {
  bytes: Uint8Array = new Uint8Array(0);
  /** No more bytes will come. */
  final = false;
  /** Before this bytes are no context for what follows: they are replaced, or stand before what is. */
  contextFrom = -BEHIND_BYTES;
  private readonly behind = new Uint8Array(BEHIND_BYTES);
  private behindLength = 0;
  private walkedFrom = 0;
  private walked = -1;
  private knownFrom = 0;
  private knownTo = -1;
  private readonly runFrom: Int32Array;
  private readonly runTo: Int32Array;

  constructor(slots: number) {
    this.runFrom = new Int32Array(slots).fill(1);
    this.runTo = new Int32Array(slots);
  }

  get end(): number {
    return this.bytes.length;
  }

  /** The byte at a place, which may be one that went before; -1 where there is none. */
  byteAt(at: number): number {
    if (at < this.contextFrom) return REPLACED;
    if (at >= 0) return this.bytes[at] ?? -1;
    return this.behind[this.behindLength + at] ?? -1;
  }

  /**
   * Where the run of a set's bytes from `at` on stops. A slot remembers its last run, so that many looks into the same
   * run, or a run that comes in small chunks, are read once.
   */
  runEnd(slot: number, set: ByteSet, at: number): number {
    const { bytes } = this;
    let stop = at;
    if (at >= (this.runFrom[slot] as number) && at <= (this.runTo[slot] as number)) stop = this.runTo[slot] as number;
    else this.runFrom[slot] = at;
    while (stop < bytes.length && set[bytes[stop] as number] === 1) stop++;
    this.runTo[slot] = stop;
    return stop;
  }

  /** How far a value that begins at `from` is known to go on, from an earlier look at it or at one that holds it. */
  walkedTo(from: number): number {
    if (from >= this.walkedFrom && from <= this.walked) return this.walked;
    this.walkedFrom = from;
    this.walked = from;
    return from;
  }

  /** Remembers that the value walked along last goes on up to `at`. */
  walk(at: number): void {
    this.walked = at;
  }

  /** Remembers that these bytes are replaced. */
  know(from: number, to: number): void {
    this.knownFrom = from;
    this.knownTo = to;
  }

  /** True if the last bytes that were known hold these: nested values cost no second judgement. */
  isKnown(from: number, to: number): boolean {
    return from >= this.knownFrom && to <= this.knownTo;
  }

  /** True if no word goes on at `at`: an escape, a percent code or a terminal code before it is not part of a word. */
  wordStarts(at: number): boolean {
    const last = this.byteAt(at - 1);
    if (last < 0 || WORD[last] === 0) return true;
    if (this.byteAt(at - 2) === BACKSLASH || this.byteAt(at - 3) === PERCENT) return true;
    if (this.byteAt(at - 6) === BACKSLASH && this.byteAt(at - 5) === 117) return true;
    return this.endsTerminalCode(at - 2);
  }

  private endsTerminalCode(at: number): boolean {
    let place = at;
    for (let byte = this.byteAt(place); (byte >= 48 && byte <= 57) || byte === 59; ) byte = this.byteAt(--place);
    if (this.byteAt(place) !== BRACKET) return false;
    const before = this.byteAt(place - 1);
    // As a byte, or as a log spells it: \u001b, \x1B, \033.
    return before === ESCAPE || before === 98 || before === 66 || before === 51;
  }

  /** Forgets the first bytes; places count from the next one on. */
  drop(count: number): void {
    if (count === 0) return;
    const { bytes, behind } = this;
    if (count >= BEHIND_BYTES) {
      behind.set(bytes.subarray(count - BEHIND_BYTES, count));
      this.behindLength = BEHIND_BYTES;
    } else {
      const keep = Math.min(this.behindLength, BEHIND_BYTES - count);
      behind.copyWithin(0, this.behindLength - keep, this.behindLength);
      behind.set(bytes.subarray(0, count), keep);
      this.behindLength = keep + count;
    }
    for (let slot = 0; slot < this.runFrom.length; slot++) {
      this.runFrom[slot] = Math.max((this.runFrom[slot] as number) - count, -1);
      this.runTo[slot] = Math.max((this.runTo[slot] as number) - count, -2);
    }
    this.walkedFrom = Math.max(this.walkedFrom - count, -1);
    this.walked = Math.max(this.walked - count, -2);
    this.knownFrom = Math.max(this.knownFrom - count, -1);
    this.knownTo = Math.max(this.knownTo - count, -2);
    this.contextFrom = Math.max(this.contextFrom - count, -BEHIND_BYTES);
  }
}
