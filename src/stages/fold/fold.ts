import type { TakeSpan } from "../../contract/span.ts";
import { CARRIAGE_RETURN, CharCounter, LINE_FEED, Line, nextControl } from "./line.ts";
import { Runs, SpanWriter } from "./runs.ts";
import { MAX_LINE_BYTES, TerminalLine } from "./terminal-line.ts";

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
 * is handed on as it is, in large pieces. What comes out does not depend on how the source was cut into chunks. Of lines that
 * differ only in their numbers `shapeEnds` stay at each end, and those of which `stays` says so.
 */
export function startFold(take: TakeSpan, shapeEnds = 1, stays?: (line: Uint8Array) => boolean): Fold {
  return new Folding(take, shapeEnds, stays);
}

/** The reader is at the start of a line. */
const BETWEEN = 0;
/** The reader is inside a line that has control codes or did not end with its chunk. The terminal has its start. */
const ON_TERMINAL = 1;
/** The reader is inside a line that is too long to hold. The rest is handed on as it stands. */
const PASSING = 2;

class Folding implements Fold {
  private readonly out: SpanWriter;
  private readonly runs: Runs;
  private readonly counter = new CharCounter();
  private terminal: TerminalLine | null = null;
  private state = BETWEEN;
  private chunkFrom = 0;
  /** The line that is being read. */
  private lineFrom = -1;
  private lineNumber = 1;

  constructor(take: TakeSpan, shapeEnds: number, stays?: (line: Uint8Array) => boolean) {
    this.out = new SpanWriter(take);
    this.runs = new Runs(this.out, shapeEnds, stays);
  }

  add(chunk: Uint8Array, from: number, line: number): void {
    if (chunk.length === 0) return;
    // A plain view: code that sees one sort of array only, never a Buffer, runs faster.
    const bytes = new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.length);
    this.out.beginChunk(bytes, from, line);
    this.chunkFrom = from;
    if (this.lineFrom < 0) {
      this.lineFrom = from;
      this.lineNumber = line;
    }
    for (let at = 0; at < bytes.length; ) {
      if (this.state === BETWEEN) at = this.addPlain(bytes, at);
      else if (this.state === ON_TERMINAL) at = this.feedTerminal(bytes, at);
      else at = this.pass(bytes, at);
    }
    const held = this.runs.heldFrom();
    if (held !== null) this.out.source(held.from, held.number);
    else this.out.source(this.state === PASSING ? from + bytes.length : this.lineFrom, this.lineNumber);
    this.runs.leave(bytes);
    this.chunkFrom = from + bytes.length;
  }

  end(): void {
    // The last chunk's bytes are gone: what is still held lies in buffers of its own.
    this.out.beginChunk(new Uint8Array(0), this.chunkFrom, this.lineNumber);
    if (this.state === ON_TERMINAL) this.finishLine(this.terminal!, this.chunkFrom);
    this.runs.close();
  }

  /** Reads whole lines without control codes. The first other line is left to the terminal. */
  private addPlain(bytes: Uint8Array, from: number): number {
    let start = from;
    for (;;) {
      const stop = nextControl(bytes, start);
      const end = bytes[stop] === CARRIAGE_RETURN && bytes[stop + 1] === LINE_FEED ? stop + 2 : stop + 1;
      if (bytes[end - 1] !== LINE_FEED || stop - start > MAX_LINE_BYTES) break;
      this.runs.addPlain(bytes, start, end, this.chunkFrom + start, this.lineNumber++);
      start = end;
    }
    this.lineFrom = this.chunkFrom + start;
    if (start < bytes.length) {
      this.terminal ??= new TerminalLine();
      this.terminal.begin();
      this.runs.leave(this.terminal.bytes);
      this.state = ON_TERMINAL;
    }
    return start;
  }

  private feedTerminal(bytes: Uint8Array, start: number): number {
    const terminal = this.terminal!;
    const at = terminal.feed(bytes, start);
    this.counter.add(bytes.subarray(start, at));
    if (terminal.ended) {
      this.finishLine(terminal, this.chunkFrom + at);
      this.state = BETWEEN;
      this.lineFrom = this.chunkFrom + at;
      this.lineNumber++;
    } else if (terminal.tooLong) {
      this.passLine(terminal, this.chunkFrom + at);
    }
    return at;
  }

  /** The terminal has all of the line, which ends at `to`. */
  private finishLine(terminal: TerminalLine, to: number): void {
    this.runs.add(this.visibleLine(terminal, to));
  }

  /** More is visible than may be held: what there is so far is handed on as it would be shown, the rest as it stands. */
  private passLine(terminal: TerminalLine, to: number): void {
    this.runs.interrupt();
    this.out.shown(this.visibleLine(terminal, to));
    this.state = PASSING;
  }

  private visibleLine(terminal: TerminalLine, to: number): Line {
    terminal.finish();
    const line = new Line();
    line.breaks = terminal.ended ? 1 : 0;
    line.end = terminal.length;
    line.bytes = terminal.bytes;
    line.from = this.lineFrom;
    line.to = to;
    line.number = this.lineNumber;
    const chars = this.counter.end();
    // Codes only take bytes away, so if all bytes are there, nothing was changed.
    if (line.size !== to - line.from) line.rewrittenChars = chars;
    return line;
  }

  private pass(bytes: Uint8Array, start: number): number {
    const end = bytes.indexOf(LINE_FEED, start) + 1;
    if (end === 0) return bytes.length;
    this.state = BETWEEN;
    this.lineFrom = this.chunkFrom + end;
    this.lineNumber++;
    return end;
  }
}
