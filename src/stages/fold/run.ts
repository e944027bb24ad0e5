import { MAX_SHAPE_LINE_BYTES, MIN_RUN_LINES } from "./bounds.ts";
import { LINE_FEED } from "./byte-class.ts";
import { compareLines, DIFFERENT, IDENTICAL, SAME_SHAPE } from "./compare-lines.ts";
import { hasFailingStatus, hasStatus } from "./failing-status.ts";
import { hasFailureWord } from "./failure-words.ts";
import { Gap, repeatNote, shapeNote } from "./gap.ts";
import { HeldLine } from "./held-line.ts";
import type { SpanWriter } from "./span-writer.ts";

const NO_RUN = 0;
/** Too short yet to tell what it will be: its lines after the first are held. */
const UNDECIDED = 1;
const REPEATS = 2;
const SHAPE = 3;

/**
 * Collapses runs of lines. The first line of a run is always shown. Identical lines after it become one note; of lines of
 * the same shape the last is shown too. A line with a failure word is only ever left out as an exact repeat.
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

  /** A line without control codes: as `add`, but a line unlike the one before costs next to nothing. */
  addClean(bytes: Uint8Array, start: number, end: number, from: number, number: number): void {
    const { previous } = this;
    const to = from + end - start;
    if (this.state === NO_RUN && previous !== null && end > start) {
      const textEnd = bytes[end - 1] === LINE_FEED ? end - 1 : end;
      const before = previous.textEnd;
      if (compareLines(previous.bytes, previous.start, before, bytes, start, textEnd) === DIFFERENT) {
        this.out.shownClean(bytes, start, end, from, number);
        previous.set(bytes, start, end, from, to, number);
        return;
      }
    }
    const line = this.fresh();
    line.set(bytes, start, end, from, to, number);
    this.add(line);
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
    line.failure = previous.failure;
    line.status = previous.status;
    if (relation === IDENTICAL) return IDENTICAL;
    if (line.size > MAX_SHAPE_LINE_BYTES) return DIFFERENT;
    if (this.state === REPEATS) return SAME_SHAPE;
    // Both are the same for all lines of a shape: looked up once in a run.
    if (line.failure === undefined || line.status === undefined) {
      line.failure = hasFailureWord(line.bytes, line.start, textEnd);
      line.status = hasStatus(line.bytes, line.start, textEnd);
      previous.failure = line.failure;
      previous.status = line.status;
    }
    const failing = line.failure || (line.status && hasFailingStatus(line.bytes, line.start, textEnd));
    return failing ? DIFFERENT : SAME_SHAPE;
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
