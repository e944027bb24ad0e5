import type { TakeSpan } from "../../contract/span.ts";
import { MAX_LINE_BYTES } from "./bounds.ts";
import { CARRIAGE_RETURN, LINE_FEED } from "./byte-class.ts";
import { ByteFinder } from "./byte-finder.ts";
import { CharCounter } from "./char-counter.ts";
import { Run } from "./run.ts";
import { SpanWriter } from "./span-writer.ts";
import { VisibleLine } from "./visible-line.ts";

/** One output being folded. */
export interface Fold {
  /** Contiguous chunks, cut anywhere: `from` is the source offset of their first byte, `line` the line (1-based) it is in. */
  add(bytes: Uint8Array, from: number, line: number): void;
  end(): void;
}

/**
 * Drops terminal codes and overwritten text and collapses runs of lines, each where that makes the text shorter; all else
 * is handed on as it is, in large pieces. What comes out does not depend on how the source was cut into chunks.
 */
export function startFold(take: TakeSpan): Fold {
  return new Folding(take);
}

/** Reading lines without control codes. */
const CLEAN = 0;
/** Inside a line that has some. */
const RESOLVING = 1;
/** Inside a line that is too long to hold. */
const PASSING = 2;

const NO_BYTES = new Uint8Array(0);

class Folding implements Fold {
  private readonly out: SpanWriter;
  private readonly run: Run;
  private readonly counter = new CharCounter();
  private readonly finder = new ByteFinder();
  private visible: VisibleLine | null = null;
  private mode = CLEAN;
  /** The line that is being read. */
  private lineFrom = 0;
  private lineNumber = 1;
  /** Its start, if an earlier chunk brought it and it is clean so far. */
  private carry: Uint8Array = new Uint8Array(256);
  private carried = 0;
  private chunkEnd = 0;

  constructor(take: TakeSpan) {
    this.out = new SpanWriter(take);
    this.run = new Run(this.out);
  }

  add(bytes: Uint8Array, from: number, line: number): void {
    if (bytes.length === 0) return;
    this.out.beginChunk(bytes, from, line);
    this.finder.begin(bytes);
    this.chunkEnd = from + bytes.length;
    if (this.mode === CLEAN && this.carried === 0) {
      this.lineFrom = from;
      this.lineNumber = line;
    }
    let at = 0;
    while (at < bytes.length) {
      if (this.mode === RESOLVING) at = this.resolve(bytes, at, from);
      else if (this.mode === PASSING) at = this.pass(bytes, at, from);
      else at = this.scan(bytes, at, from);
    }
    if (this.mode === CLEAN) this.passIfTooLong(bytes);
    const held = this.run.heldFrom();
    if (held !== null) this.out.source(held.from, held.line);
    else this.out.source(this.mode === PASSING ? this.chunkEnd : this.lineFrom, this.lineNumber);
    this.run.hold();
    if (this.mode === CLEAN) this.carryOver(bytes, from);
  }

  end(): void {
    // The last chunk's bytes are gone: what is still held lies in buffers of its own.
    this.out.beginChunk(NO_BYTES, this.chunkEnd, this.lineNumber);
    if (this.mode === CLEAN && this.carried > 0) {
      if (this.carry[this.carried - 1] === CARRIAGE_RETURN) this.startResolving();
      else this.addClean(this.carry, 0, this.carried, this.chunkEnd);
    }
    if (this.mode === RESOLVING) this.finishResolved(this.visible!, this.chunkEnd);
    this.run.close();
  }

  /** Clean lines, from the start of one or from where the last chunk left it. */
  private scan(bytes: Uint8Array, start: number, from: number): number {
    const end = bytes.length;
    let at = start;
    let lineStart = start;
    // A CR at the end of the last chunk is part of a line break only if a LF follows.
    if (this.carried > 0 && this.carry[this.carried - 1] === CARRIAGE_RETURN && bytes[at] !== LINE_FEED) {
      this.startResolving();
      return start;
    }
    for (;;) {
      at = this.finder.next(at);
      if (at === end) return end;
      if (bytes[at] === LINE_FEED) {
        at++;
        if (this.carried > 0) this.completeCarried(bytes, at, from);
        else this.addClean(bytes, lineStart, at, from + at);
        const repeats = this.run.addRepeats(bytes, at);
        if (repeats > 0) {
          at += repeats * this.run.repeatSize;
          this.lineFrom = from + at;
          this.lineNumber += repeats;
        }
        lineStart = at;
      } else if (bytes[at] === CARRIAGE_RETURN && (at + 1 === end || bytes[at + 1] === LINE_FEED)) {
        at++;
      } else {
        this.startResolving();
        return lineStart;
      }
    }
  }

  private addClean(bytes: Uint8Array, start: number, end: number, to: number): void {
    if (end - start > MAX_LINE_BYTES) {
      this.run.interrupt();
    } else {
      this.run.addClean(bytes, start, end, this.lineFrom, this.lineNumber);
    }
    this.lineFrom = to;
    this.lineNumber++;
  }

  /** The line that earlier chunks began ends before `end` of this one. */
  private completeCarried(bytes: Uint8Array, end: number, from: number): void {
    const size = this.carried + end;
    if (size > MAX_LINE_BYTES) {
      this.passCarried();
    } else {
      this.appendToCarry(bytes, 0, end);
      this.carried = 0;
    }
    this.addClean(this.carry, 0, size, from + end);
  }

  private passCarried(): void {
    this.run.interrupt();
    if (this.carried > 0) {
      this.out.put(this.carry.subarray(0, this.carried), this.lineFrom + this.carried, this.lineNumber);
    }
    this.carried = 0;
  }

  private passIfTooLong(bytes: Uint8Array): void {
    const size = this.chunkEnd - this.lineFrom - (bytes[bytes.length - 1] === CARRIAGE_RETURN ? 1 : 0);
    if (size <= MAX_LINE_BYTES) return;
    this.passCarried();
    this.mode = PASSING;
  }

  private carryOver(bytes: Uint8Array, from: number): void {
    this.appendToCarry(bytes, Math.max(0, this.lineFrom - from), bytes.length);
  }

  private appendToCarry(bytes: Uint8Array, start: number, end: number): void {
    const size = this.carried + end - start;
    if (size > this.carry.length) {
      const larger = new Uint8Array(Math.max(size, 2 * this.carry.length));
      larger.set(this.carry.subarray(0, this.carried));
      this.carry = larger;
    }
    this.carry.set(bytes.subarray(start, end), this.carried);
    this.carried = size;
  }

  /** The line has control codes: it is read again from its start, or from where this chunk goes on with it. */
  private startResolving(): void {
    this.visible ??= new VisibleLine();
    this.visible.begin();
    this.visible.feed(this.carry, 0, this.carried);
    this.counter.add(this.carry, 0, this.carried);
    this.carried = 0;
    this.mode = RESOLVING;
  }

  private resolve(bytes: Uint8Array, start: number, from: number): number {
    const visible = this.visible!;
    const at = visible.feed(bytes, start, bytes.length);
    this.counter.add(bytes, start, at);
    if (visible.ended) {
      this.finishResolved(visible, from + at);
      this.mode = CLEAN;
      this.lineFrom = from + at;
      this.lineNumber++;
    } else if (visible.tooLong) {
      this.passResolved(visible, from, from + at);
    }
    return at;
  }

  private finishResolved(visible: VisibleLine, to: number): void {
    visible.finish();
    const chars = this.counter.end();
    const line = this.run.fresh();
    line.set(visible.bytes, 0, visible.length, this.lineFrom, to, this.lineNumber);
    // Codes only ever take bytes away: with all bytes there, nothing was changed.
    if (visible.length !== to - this.lineFrom) {
      line.rewritten = true;
      line.chars = chars;
    }
    line.hold();
    this.run.add(line);
  }

  /** More is visible than may be held: what there is so far is handed on as it would be shown, the rest as it stands. */
  private passResolved(visible: VisibleLine, from: number, to: number): void {
    visible.finish();
    const chars = this.counter.end();
    const bytes = visible.bytes.subarray(0, visible.length);
    this.run.interrupt();
    if (visible.length !== to - this.lineFrom) this.out.rewritten(bytes, this.lineFrom, to, this.lineNumber, 0, chars);
    else if (this.lineFrom < from) this.out.put(bytes, to, this.lineNumber);
    this.mode = PASSING;
  }

  private pass(bytes: Uint8Array, start: number, from: number): number {
    const at = bytes.indexOf(LINE_FEED, start);
    if (at < 0) return bytes.length;
    this.mode = CLEAN;
    this.lineFrom = from + at + 1;
    this.lineNumber++;
    return at + 1;
  }
}
