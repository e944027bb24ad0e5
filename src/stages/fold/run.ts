import { MAX_SHAPE_LINE_BYTES, MIN_RUN_LINES } from "./bounds.ts";
import { compareLines, DIFFERENT, IDENTICAL, SAME_SHAPE } from "./compare-lines.ts";
import { Gap, repeatNote, shapeNote } from "./gap.ts";
import { HeldLine } from "./held-line.ts";
import { judgeShape, lineStays, UNJUDGED } from "./judge-shape.ts";
import type { SpanWriter } from "./span-writer.ts";

/** Stands for a verdict while a run is open. */
export const NOT_ALONE = -1;

const NO_RUN = 0;
/** Too short yet to tell what it will be: its lines after the first are held. */
const UNDECIDED = 1;
const REPEATS = 2;
const SHAPE = 3;

/**
 * Collapses runs of lines. The first line of a run is always shown. Identical lines after it become one note; of lines of
 * the same shape the last is shown too, and only those collapse that show a tick (progress or status): others are data.
 * A line with a failure word is only ever left out as an exact repeat.
 */
export class Run {
  private readonly out: SpanWriter;
  private state = NO_RUN;
  /** The line before, or null after a line too long to compare. In a run of repeats it is the first. */
  private previous: HeldLine | null = null;
  private readonly held: HeldLine[] = [];
  private allRepeat = true;
  private readonly gap = new Gap();
  private readonly free: HeldLine[] = [];

  constructor(out: SpanWriter) {
    this.out = out;
  }

  /** A line to fill in and `add`. */
  fresh(): HeldLine {
    return this.free.pop() ?? new HeldLine();
  }

  /** A line without control codes. What is known of its shape, or NOT_ALONE if a run is open now. */
  addClean(bytes: Uint8Array, start: number, end: number, from: number, number: number): number {
    const line = this.fresh();
    line.set(bytes, start, end, from, from + end - start, number);
    this.add(line);
    return this.state === NO_RUN ? line.verdict : NOT_ALONE;
  }

  /** The line before was this one, and shown; no run is open. */
  setPrevious(bytes: Uint8Array, start: number, end: number, from: number, number: number, verdict: number): void {
    this.previous ??= this.fresh();
    this.previous.set(bytes, start, end, from, from + end - start, number);
    this.previous.verdict = verdict;
  }

  /** In a run of repeats: how many more whole ones follow in the chunk. Takes them all at once. */
  addRepeats(bytes: Uint8Array, start: number): number {
    const { previous } = this;
    if (this.state !== REPEATS || previous === null || previous.rewritten || !previous.hasBreak) return 0;
    const { bytes: same, start: from, size } = previous;
    let count = 0;
    let at = start;
    for (; at + size <= bytes.length; at += size, count++) {
      let index = 0;
      while (index < size && bytes[at + index] === same[from + index]) index++;
      if (index < size) break;
    }
    this.gap.addCopies(previous, count);
    return count;
  }

  /** The size of each line of a run of repeats. */
  get repeatSize(): number {
    return this.previous!.size;
  }

  add(line: HeldLine): void {
    const relation = this.relate(line);
    switch (this.state) {
      case NO_RUN:
        if (relation === DIFFERENT) break;
        this.state = UNDECIDED;
        this.allRepeat = true;
        this.join(line, relation);
        return;
      case UNDECIDED:
        if (relation === DIFFERENT) break;
        this.join(line, relation);
        return;
      case REPEATS:
        if (relation !== IDENTICAL) break;
        // The same bytes have the same chars: count them once.
        if (!line.rewritten && !this.previous!.rewritten && line.hasBreak) line.chars = this.previous!.chars;
        this.gap.add(line);
        this.free.push(line);
        return;
      case SHAPE:
        if (relation === DIFFERENT) break;
        this.gap.add(this.previous!);
        this.replacePrevious(line);
        return;
    }
    this.close();
    this.out.shown(line);
    this.replacePrevious(line);
  }

  /** Ends the run, if there is one: what follows cannot be part of it. */
  close(): void {
    if (this.state === UNDECIDED) this.release();
    if (this.state === REPEATS) this.out.note(repeatNote(this.gap.lines), this.gap, "folded");
    if (this.state === SHAPE) {
      this.out.note(shapeNote(this.gap), this.gap, "omitted");
      this.out.shown(this.previous!);
    }
    this.state = NO_RUN;
  }

  /** As `close`; and the next line is compared with nothing. */
  interrupt(): void {
    this.close();
    if (this.previous !== null) this.free.push(this.previous);
    this.previous = null;
  }

  /** Where the first line that is held back begins, and its number; null if none is. */
  heldFrom(): { from: number; line: number } | null {
    if (this.state === NO_RUN) return null;
    if (this.state === UNDECIDED) return { from: this.held[0]!.from, line: this.held[0]!.number };
    return this.gap;
  }

  /** The buffers that lines lie in are about to be used for something else. */
  hold(): void {
    this.previous?.hold();
    for (const line of this.held) line.hold();
  }

  private relate(line: HeldLine): number {
    const { previous } = this;
    if (previous === null) return DIFFERENT;
    const { textEnd } = line;
    if (line.size > MAX_SHAPE_LINE_BYTES && previous.textEnd - previous.start !== textEnd - line.start)
      return DIFFERENT;
    const relation = compareLines(previous.bytes, previous.start, previous.textEnd, line.bytes, line.start, textEnd);
    if (relation === DIFFERENT) return DIFFERENT;
    // The same for all lines of a shape: looked up once in a run.
    line.verdict = previous.verdict;
    if (relation === IDENTICAL) return IDENTICAL;
    if (line.size > MAX_SHAPE_LINE_BYTES) return DIFFERENT;
    if (this.state === REPEATS) return SAME_SHAPE;
    if (line.verdict === UNJUDGED) line.verdict = previous.verdict = judgeShape(previous.text, line.text);
    return lineStays(line.verdict, line.bytes, line.start, textEnd) ? DIFFERENT : SAME_SHAPE;
  }

  private join(line: HeldLine, relation: number): void {
    const { held, gap } = this;
    line.repeats = relation === IDENTICAL;
    this.allRepeat &&= line.repeats;
    // The gap holds what is left out if the run is one of a shape: all but the first line and the last.
    if (held.length === 0) {
      gap.reset();
      this.free.push(this.previous!);
    } else {
      gap.add(this.previous!);
    }
    held.push(line);
    this.previous = line;
    if (this.allRepeat) {
      if (held.length < MIN_RUN_LINES && line.size <= MAX_SHAPE_LINE_BYTES) return;
      if (repeatNote(held.length).length >= gap.size + line.size) return;
      gap.add(line);
      this.decide(REPEATS);
    } else if (held.length + 1 >= MIN_RUN_LINES && shapeNote(gap).length < gap.size) {
      this.decide(SHAPE);
    }
  }

  private decide(state: number): void {
    this.state = state;
    for (const line of this.held) if (line !== this.previous) this.free.push(line);
    this.held.length = 0;
  }

  private fill(first: number, end: number): void {
    this.gap.reset();
    for (let index = first; index < end; index++) this.gap.add(this.held[index]!);
  }

  /** The run came to nothing as a whole; repeats among its lines still become notes where that is shorter. */
  private release(): void {
    const { held, gap } = this;
    for (let index = 0; index < held.length; ) {
      let end = index;
      while (end < held.length && held[end]!.repeats) end++;
      if (end === index) {
        this.out.shown(held[index++]!);
        continue;
      }
      this.fill(index, end);
      const note = repeatNote(gap.lines);
      if (note.length < gap.size) this.out.note(note, gap, "folded");
      else for (let each = index; each < end; each++) this.out.shown(held[each]!);
      index = end;
    }
    for (const line of held) if (line !== this.previous) this.free.push(line);
    held.length = 0;
  }

  private replacePrevious(line: HeldLine): void {
    if (this.previous !== null) this.free.push(this.previous);
    this.previous = line;
  }
}
