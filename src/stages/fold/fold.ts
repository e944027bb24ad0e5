import type { TakeSpan } from "../../contract/span.ts";
import { compareLines, DIFFERENT, IDENTICAL, SAME_SHAPE, type Text } from "./compare-lines.ts";
import { CARRIAGE_RETURN, CharCounter, LINE_FEED, Line, nextControl, SPACE, UNJUDGED } from "./line.ts";
import { hasFailingStatus, judgeShape, STAYS } from "./noise.ts";
import { MAX_LINE_BYTES, TerminalLine } from "./terminal-line.ts";

/** One output being folded. */
export interface Fold {
  /**
   * Contiguous chunks, cut anywhere: `from` is the source offset of their first byte, `line` the line (1-based) it is in.
   * The bytes are only read during the call. `isAscii` is true if they are known to be ASCII.
   */
  add(bytes: Uint8Array, from: number, line: number, isAscii?: boolean): void;
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
  private isAscii = false;
  /** The last two of several lines. */
  private readonly first: Text = new Line();
  private readonly second: Text = new Line();
  /** The line that is being read. */
  private lineFrom = -1;
  private lineNumber = 1;

  constructor(take: TakeSpan, shapeEnds: number, stays?: (line: Uint8Array) => boolean) {
    this.out = new SpanWriter(take);
    this.runs = new Runs(this.out, shapeEnds, stays);
  }

  add(chunk: Uint8Array, from: number, line: number, isAscii = false): void {
    if (chunk.length === 0) return;
    this.isAscii = this.runs.isAscii = isAscii;
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

  /** Reads whole lines without control codes before their ends. The first other line is left to the terminal. */
  private addPlain(bytes: Uint8Array, from: number): number {
    let start = from;
    let jumpFrom = from;
    for (;;) {
      const stop = nextControl(bytes, start);
      let end = stop + (bytes[stop] === CARRIAGE_RETURN ? 2 : 1);
      if (bytes[end - 1] !== LINE_FEED || stop - start > MAX_LINE_BYTES) break;
      this.runs.addPlain(bytes, start, end, this.chunkFrom + start, this.lineNumber++);
      const isShort = end - start <= SHORT_LINE_BYTES;
      start = end;
      if (!isShort || start < jumpFrom) continue;
      while (this.runs.mayJump && (end = this.jump(bytes, start)) > start) start = end;
      // Where lines could not be passed over, the next ones are read one by one.
      jumpFrom = start + SHORTEST_NOTE;
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

  /**
   * Passes over short lines that together are no longer than a note, so that no note can stand for them; returns their end.
   * For lines of one letter this takes a tenth of the time.
   */
  private jump(bytes: Uint8Array, start: number): number {
    const { first, second } = this;
    let breaks = 0;
    let end = start;
    for (let at = start; at < bytes.length && at < start + SHORTEST_NOTE; at++) {
      const byte = bytes[at]!;
      if (byte >= SPACE) continue;
      if (byte !== LINE_FEED) break;
      breaks++;
      first.start = second.start;
      first.end = second.end;
      second.start = end;
      second.end = at;
      end = at + 1;
    }
    first.bytes = second.bytes = bytes;
    // A run that came this far ends between the last two lines.
    if (breaks < FEWEST_JUMPED || compareLines(first, second) !== DIFFERENT) return start;
    this.runs.interrupt();
    this.lineNumber += breaks - 1;
    this.runs.addPlain(bytes, second.start, end, this.chunkFrom + second.start, this.lineNumber++);
    return end;
  }

  private feedTerminal(bytes: Uint8Array, start: number): number {
    const terminal = this.terminal!;
    const at = terminal.feed(bytes, start);
    this.counter.add(bytes, start, at, this.isAscii);
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

/** No note is shorter. */
const SHORTEST_NOTE = repeatNote(1).length;
/** At least so many of such lines are passed over at once. */
const FEWEST_JUMPED = 3;
const SHORT_LINE_BYTES = SHORTEST_NOTE / FEWEST_JUMPED;

/** A line longer than this is not compared by shape: a run holds a few lines back until it is long enough. */
const MAX_SHAPE_LINE_BYTES = 8_192;

/** Lines of one shape before the middle is left out; repeats before a run is settled as one of repeats. */
const MIN_RUN_LINES = 8;

/** A number stands out if it is at least this many times as large as any before it. */
const FAR = 10;

const NO_RUN = 0;
/** The run is too short to tell what it will be. Its lines after the first are held. */
const UNDECIDED = 1;
const REPEATS = 2;
const SHAPE = 3;

/**
 * Collapses runs of lines. The first line of a run is always shown. Identical lines after it become one note. If the lines
 * have one shape, the last is shown too, and they collapse only if they show a tick (progress or status): others are data.
 * A line with a failure word is only ever left out as an exact repeat.
 */
class Runs {
  private readonly out: SpanWriter;
  private state = NO_RUN;
  /** The line before, or null after a line that is too long to compare. In a run of repeats it is any of them. */
  private previous: Line | null = null;
  /** The lines of an undecided run after the first. */
  private held: Line[] = [];
  /** The lines of a decided run that its note stands for. */
  private gap = new Gap([]);
  /** The newest lines of a run of one shape, which are shown. */
  private tail: Line[] = [];
  /** The numbers of a line, and the largest of each on the lines of its shape. */
  private readonly numbers: number[] = [];
  private largest: number[] = [];
  /** The chunk is known to be ASCII. */
  isAscii = false;
  /** A line that nobody holds any more. */
  private spare = new Line();
  /** Lines that are shown at each end of a run of one shape. */
  private readonly ends: number;

  private readonly stays: ((line: Uint8Array) => boolean) | undefined;

  constructor(out: SpanWriter, ends: number, stays?: (line: Uint8Array) => boolean) {
    this.out = out;
    this.ends = ends;
    this.stays = stays;
  }

  /** Takes a line that stands in the chunk as it is shown. Its line feed stands before `end`. */
  addPlain(bytes: Uint8Array, start: number, end: number, from: number, number: number): void {
    const line = this.spare;
    line.bytes = bytes;
    line.start = start;
    line.end = end - 1;
    line.breaks = 1;
    line.from = from;
    line.to = from + end - start;
    line.number = number;
    line.rewrittenChars = -1;
    line.isAscii = this.isAscii;
    line.verdict = UNJUDGED;
    const { previous } = this;
    this.add(line);
    this.spare = this.state === NO_RUN && previous !== null ? previous : new Line();
  }

  add(line: Line): void {
    const relation = this.relate(line);
    if (relation === DIFFERENT || (this.state === REPEATS && relation !== IDENTICAL)) {
      this.close();
      this.out.shown(line);
    } else if (this.state === REPEATS) {
      this.gap.add(line);
    } else if (this.state === SHAPE) {
      this.tail.push(line);
      if (this.tail.length > this.ends) this.gap.add(this.tail.shift()!);
    } else {
      this.state = UNDECIDED;
      line.repeats = relation === IDENTICAL;
      this.held.push(line);
      this.decide(line);
    }
    this.previous = line;
  }

  /** Ends the run, if there is one: what follows cannot be part of it. */
  close(): void {
    if (this.state === UNDECIDED) this.release();
    if (this.state === REPEATS) this.out.note(repeatNote(this.gap.lines), this.gap, "folded");
    if (this.state === SHAPE) {
      this.out.note(shapeNote(this.gap), this.gap, "omitted");
      for (const line of this.tail) this.out.shown(line);
      this.tail = [];
    }
    this.state = NO_RUN;
  }

  /** Does what `close` does, and compares the next line with nothing. */
  interrupt(): void {
    this.close();
    this.previous = null;
    this.largest = [];
  }

  /** True if lines may be passed over that no note can stand for: no run has begun, and nobody asks for each line. */
  get mayJump(): boolean {
    return this.state === NO_RUN && this.stays === undefined;
  }

  /** Returns where the first line that is held back begins, and its number; null if none is held. */
  heldFrom(): { from: number; number: number } | null {
    if (this.state === NO_RUN) return null;
    return this.state === UNDECIDED ? this.held[0]! : { from: this.gap.from, number: this.gap.line };
  }

  /** The buffer `chunk` is about to be used for something else. */
  leave(chunk: Uint8Array): void {
    this.previous?.leave(chunk);
    for (const line of this.held) line.leave(chunk);
    for (const line of this.tail) line.leave(chunk);
  }

  private relate(line: Line): number {
    const { previous } = this;
    if (previous === null) return DIFFERENT;
    const isLong = line.size > MAX_SHAPE_LINE_BYTES;
    if (isLong && previous.end - previous.start !== line.end - line.start) return DIFFERENT;
    const relation = compareLines(previous, line);
    if (relation === DIFFERENT) {
      this.largest = [];
      return DIFFERENT;
    }
    // It is the same for all lines of a shape, so it is looked up once in a run.
    line.verdict = previous.verdict;
    if (relation === IDENTICAL) {
      // One copy will do for both.
      line.bytes = previous.bytes;
      line.start = previous.start;
      line.end = previous.end;
      return IDENTICAL;
    }
    if (isLong) return DIFFERENT;
    if (this.state === REPEATS) return SAME_SHAPE;
    if (line.verdict === UNJUDGED) line.verdict = previous.verdict = judgeShape(previous, line);
    const isWanted = this.stays?.(line.bytes.subarray(line.start, line.end)) === true;
    if (isWanted || line.verdict === STAYS) return DIFFERENT;
    readNumbers(line, this.numbers);
    return hasFailingStatus(line, this.numbers) || this.standsOut() ? DIFFERENT : SAME_SHAPE;
  }

  /** Returns true if one of the line's numbers is far over those of earlier lines of its shape. Else remembers its numbers. */
  private standsOut(): boolean {
    const { largest, numbers } = this;
    // A few lines do not tell what is usual.
    const isTold = this.state === SHAPE || this.held.length >= MIN_RUN_LINES;
    let isFar = false;
    for (let count = 0; count < numbers.length; count++) {
      const value = numbers[count]!;
      const most = largest[count] ?? 0;
      if (value > FAR * most + FAR && isTold) isFar = true;
      else if (value > most) largest[count] = value;
    }
    return isFar;
  }

  /** Settles what an undecided run is, once it is long enough for a note shorter than the lines it stands for. */
  private decide(last: Line): void {
    const { held } = this;
    if (held.every((line) => line.repeats)) {
      if (held.length < MIN_RUN_LINES && last.size <= MAX_SHAPE_LINE_BYTES) return;
      if (repeatNote(held.length).length >= sizeOf(held)) return;
      this.state = REPEATS;
      this.gap = new Gap(held);
    } else {
      if (held.length + 1 < Math.max(MIN_RUN_LINES, 2 * this.ends + 1)) return;
      const left = held.slice(this.ends - 1, -this.ends);
      const gap = new Gap(left);
      if (shapeNote(gap).length >= sizeOf(left)) return;
      for (const line of held.slice(0, this.ends - 1)) this.out.shown(line);
      this.tail = held.slice(-this.ends);
      this.state = SHAPE;
      this.gap = gap;
    }
    this.held = [];
  }

  /** The run came to nothing as a whole; repeats among its lines still become notes where that is shorter. */
  private release(): void {
    let repeats: Line[] = [];
    const settle = () => {
      if (repeats.length === 0) return;
      const note = repeatNote(repeats.length);
      if (note.length < sizeOf(repeats)) this.out.note(note, new Gap(repeats), "folded");
      else for (const line of repeats) this.out.shown(line);
      repeats = [];
    };
    for (const line of this.held) {
      if (line.repeats) {
        repeats.push(line);
      } else {
        settle();
        this.out.shown(line);
      }
    }
    settle();
    this.held = [];
  }
}

/** Puts the numbers of a line, each a row of digits, into `numbers`. */
function readNumbers({ bytes, start, end }: Line, numbers: number[]): void {
  numbers.length = 0;
  for (let at = start; at < end; at++) {
    // What is no digit comes to more than 9.
    let digit = (bytes[at]! - 48) >>> 0;
    if (digit > 9) continue;
    let value = 0;
    for (; digit <= 9; digit = ++at < end ? (bytes[at]! - 48) >>> 0 : 10) value = value * 10 + digit;
    numbers.push(value);
  }
}

function sizeOf(lines: Line[]): number {
  return lines.reduce((size, line) => size + line.size, 0);
}

function repeatNote(lines: number): string {
  return `[previous line repeated ${lines} more ${lines === 1 ? "time" : "times"}]\n`;
}

function shapeNote(gap: Gap): string {
  return `[${gap.lines} lines like these omitted: lines ${gap.line}-${gap.line + gap.lines - 1}]\n`;
}

/** Counts the whole lines that a note stands for. */
class Gap {
  from = 0;
  to = 0;
  line = 0;
  lines = 0;
  breaks = 0;
  chars = 0;

  constructor(lines: Line[]) {
    for (const line of lines) this.add(line);
  }

  /** Adds the line after the last one. */
  add(line: Line): void {
    if (this.lines === 0) {
      this.from = line.from;
      this.line = line.number;
    }
    this.to = line.to;
    this.lines++;
    this.breaks += line.breaks;
    this.chars += line.chars;
  }
}

/**
 * Hands spans on in source order. Lines of the current chunk that stay as they are need no call: whatever comes next
 * hands on all that lies before it in one piece.
 */
class SpanWriter {
  private readonly take: TakeSpan;
  private chunk: Uint8Array = new Uint8Array(0);
  private chunkFrom = 0;
  /** The source is handed on up to this offset, which is in this line. */
  private done = -1;
  private line = 1;

  constructor(take: TakeSpan) {
    this.take = take;
  }

  beginChunk(bytes: Uint8Array, from: number, line: number): void {
    this.chunk = bytes;
    this.chunkFrom = from;
    if (this.done >= 0) return;
    this.done = from;
    this.line = line;
  }

  /** Hands on the chunk's bytes up to `to`, which stands in line `line`. */
  source(to: number, line: number): void {
    if (to <= this.done) return;
    const bytes = this.chunk.subarray(this.done - this.chunkFrom, to - this.chunkFrom);
    this.put({ kind: "source", bytes, from: this.done, to, line: this.line, breaks: -1, chars: -1 }, line);
  }

  /** Hands on a line that is shown, or the start of one. */
  shown(line: Line): void {
    const { from, to, number, breaks, rewrittenChars: chars } = line;
    if (chars >= 0) {
      this.source(from, number);
      this.put({ kind: "rewritten", bytes: line.shown, from, to, line: number, breaks, chars }, number + breaks);
    } else if (from < this.chunkFrom) {
      this.put({ kind: "source", bytes: line.shown, from, to, line: number, breaks: -1, chars: -1 }, number + breaks);
    }
  }

  note(text: string, gap: Gap, counts: "folded" | "omitted"): void {
    const { from, to, line, breaks, chars } = gap;
    this.source(from, line);
    this.put({ kind: "note", bytes: encoder.encode(text), from, to, line, breaks, chars, counts }, line + breaks);
  }

  private put(span: Parameters<TakeSpan>[0], nextLine: number): void {
    this.take(span);
    this.done = span.to;
    this.line = nextLine;
  }
}

const encoder = new TextEncoder();
