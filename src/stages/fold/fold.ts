import type { TakeSpan } from "../../contract/span.ts";
import { MAX_LINE_BYTES } from "./bounds.ts";
import { CARRIAGE_RETURN, LINE_FEED } from "./byte-class.ts";
import { Carry } from "./carry.ts";
import { CharCounter } from "./char-counter.ts";
import { compareLines, DIFFERENT, IDENTICAL, SAME_SHAPE } from "./compare-lines.ts";
import { STAYS, UNJUDGED } from "./judge-shape.ts";
import { LinePasser } from "./line-passer.ts";
import { NOT_ALONE, Run } from "./run.ts";
import { afterShortRepeats } from "./short-repeats.ts";
import { SpanWriter } from "./span-writer.ts";
import { StopFinder } from "./stop-finder.ts";
import { colouredLineEnd, stripColours } from "./strip-colours.ts";
import { VisibleLine } from "./visible-line.ts";

/** One output being folded. */
export interface Fold {
  /**
   * Contiguous chunks, cut anywhere: `from` is the source offset of their first byte, `line` the line (1-based) it is in.
   * The bytes are only read during the call.
   */
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
  private readonly stops = new StopFinder();
  private readonly passer = new LinePasser();
  private visible: VisibleLine | null = null;
  private mode = CLEAN;
  /** The line that is being read. */
  private lineFrom = 0;
  private lineNumber = 1;
  /** Its start, if an earlier chunk brought it and it is clean so far. */
  private readonly carry = new Carry();
  private chunkEnd = 0;

  constructor(take: TakeSpan) {
    this.out = new SpanWriter(take);
    this.run = new Run(this.out);
  }

  add(bytes: Uint8Array, from: number, line: number): void {
    if (bytes.length === 0) return;
    this.out.beginChunk(bytes, from, line);
    this.stops.begin(bytes);
    this.passer.begin(bytes);
    this.chunkEnd = from + bytes.length;
    if (this.mode === CLEAN && this.carry.length === 0) {
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
    if (this.mode === CLEAN && this.carry.length > 0) {
      if (this.carry.endsInReturn) this.startResolving();
      else this.addClean(this.carry.bytes, 0, this.carry.length, this.chunkEnd);
    }
    if (this.mode === RESOLVING) this.finishResolved(this.visible!, this.chunkEnd);
    this.run.close();
  }

  /** Clean lines, from the start of one or from where the last chunk left it. */
  private scan(bytes: Uint8Array, start: number, from: number): number {
    const { stops, passer } = this;
    const end = bytes.length;
    let at = start;
    let lineStart = start;
    // A CR at the end of the last chunk is part of a line break only if a LF follows.
    if (this.carry.endsInReturn && bytes[at] !== LINE_FEED) {
      this.startResolving();
      return start;
    }
    // Where the line before begins, while no run is open and it need not be held; and what its shape was found to be.
    let before = -1;
    let verdict = UNJUDGED;
    for (;;) {
      let nextEnd = 0;
      if (before >= 0 && at === lineStart && verdict === UNJUDGED) {
        this.lineNumber += passer.pass(before, lineStart);
        before = passer.before;
        at = lineStart = passer.start;
        nextEnd = passer.nextEnd;
      }
      at = nextEnd > 0 ? nextEnd - 1 : stops.next(at);
      if (at === end) break;
      if (bytes[at] === LINE_FEED) {
        at++;
        if (before >= 0 && at - lineStart <= MAX_LINE_BYTES) {
          const relation = compareLines(bytes, before, lineStart - 1, bytes, lineStart, at - 1);
          if (relation === DIFFERENT || (relation === SAME_SHAPE && verdict === STAYS)) {
            this.lineNumber++;
            if (relation === DIFFERENT) verdict = UNJUDGED;
            before = lineStart;
            lineStart = at;
            continue;
          }
          const after = relation === IDENTICAL ? afterShortRepeats(bytes, lineStart, at) : 0;
          if (after > 0) {
            this.lineNumber += (after - lineStart) / (at - lineStart) + 1;
            verdict = UNJUDGED;
            before = after;
            at = lineStart = stops.next(after) + 1;
            continue;
          }
        }
        this.catchUp(bytes, before, lineStart, from, verdict);
        before = -1;
        if (this.carry.length > 0) {
          this.completeCarried(bytes, at, from);
        } else {
          verdict = this.addClean(bytes, lineStart, at, from + at);
          if (verdict !== NOT_ALONE) before = lineStart;
        }
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
        this.catchUp(bytes, before, lineStart, from, verdict);
        before = -1;
        const lineEnd = this.carry.length > 0 ? -1 : colouredLineEnd(bytes, at, stops);
        if (lineEnd < 0 || lineEnd - lineStart > MAX_LINE_BYTES) {
          this.startResolving();
          return lineStart;
        }
        this.addColoured(bytes, lineStart, lineEnd, from + lineEnd);
        at = lineStart = lineEnd;
      }
    }
    this.catchUp(bytes, before, lineStart, from, verdict);
    return end;
  }

  /** Tells the run of lines that were passed over: the last begins at `before`, the line being read at `lineStart`. */
  private catchUp(bytes: Uint8Array, before: number, lineStart: number, from: number, verdict: number): void {
    if (before < 0) return;
    this.run.setPrevious(bytes, before, lineStart, from + before, this.lineNumber - 1, verdict);
    this.lineFrom = from + lineStart;
  }

  /** What is known of the line's shape; NOT_ALONE if it is part of a run or the next line is not to be compared with it. */
  private addClean(bytes: Uint8Array, start: number, end: number, to: number): number {
    let verdict = NOT_ALONE;
    if (end - start > MAX_LINE_BYTES) this.run.interrupt();
    else verdict = this.run.addClean(bytes, start, end, this.lineFrom, this.lineNumber);
    this.lineFrom = to;
    this.lineNumber++;
    return verdict;
  }

  private addColoured(bytes: Uint8Array, start: number, end: number, to: number): void {
    const line = this.run.fresh();
    const visible = line.room(end - start);
    const length = stripColours(bytes, start, end, visible);
    line.set(visible, 0, Math.abs(length), this.lineFrom, to, this.lineNumber);
    line.rewritten = true;
    if (length < 0) this.counter.add(bytes, start, end);
    line.chars = length < 0 ? this.counter.end() : end - start;
    this.run.add(line);
    this.lineFrom = to;
    this.lineNumber++;
  }

  /** The line that earlier chunks began ends before `end` of this one. */
  private completeCarried(bytes: Uint8Array, end: number, from: number): void {
    const size = this.carry.length + end;
    if (size > MAX_LINE_BYTES) {
      this.passCarried();
    } else {
      this.carry.append(bytes, 0, end);
      this.carry.length = 0;
    }
    this.addClean(this.carry.bytes, 0, size, from + end);
  }

  private passCarried(): void {
    this.run.interrupt();
    if (this.carry.length > 0) {
      this.out.put(this.carry.bytes.subarray(0, this.carry.length), this.lineFrom + this.carry.length, this.lineNumber);
    }
    this.carry.length = 0;
  }

  private passIfTooLong(bytes: Uint8Array): void {
    const size = this.chunkEnd - this.lineFrom - (bytes[bytes.length - 1] === CARRIAGE_RETURN ? 1 : 0);
    if (size <= MAX_LINE_BYTES) return;
    this.passCarried();
    this.mode = PASSING;
  }

  private carryOver(bytes: Uint8Array, from: number): void {
    this.carry.append(bytes, Math.max(0, this.lineFrom - from), bytes.length);
  }

  /** The line has control codes: it is read again from its start, or from where this chunk goes on with it. */
  private startResolving(): void {
    this.visible ??= new VisibleLine();
    this.visible.begin();
    this.visible.feed(this.carry.bytes, 0, this.carry.length);
    this.counter.add(this.carry.bytes, 0, this.carry.length);
    this.carry.length = 0;
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
