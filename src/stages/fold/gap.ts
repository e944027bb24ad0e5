import { CharCounter } from "./char-counter.ts";
import type { HeldLine } from "./held-line.ts";

const counter = new CharCounter();

/** Whole lines that a note stands for. */
export class Gap {
  from = 0;
  to = 0;
  line = 0;
  lines = 0;
  breaks = 0;
  chars = 0;
  /** Bytes that would be shown without the note. */
  size = 0;

  reset(): void {
    this.lines = 0;
    this.breaks = 0;
    this.chars = 0;
    this.size = 0;
  }

  /** Adds the line after the last one. */
  add(line: HeldLine): void {
    if (this.lines === 0) {
      this.from = line.from;
      this.line = line.number;
    }
    this.to = line.to;
    this.lines++;
    if (line.hasBreak) this.breaks++;
    this.size += line.size;
    if (line.chars < 0) {
      counter.add(line.bytes, line.start, line.end);
      line.chars = counter.end();
    }
    this.chars += line.chars;
  }

  /** Adds whole clean lines with the same bytes as `line`, right after the last one. */
  addCopies(line: HeldLine, count: number): void {
    this.to += count * line.size;
    this.lines += count;
    this.breaks += count;
    this.size += count * line.size;
    this.chars += count * line.chars;
  }
}

/** No note is shorter. */
export const MIN_NOTE_BYTES = 37;

/** The note for exact repeats. */
export function repeatNote(lines: number): string {
  return `[previous line repeated ${lines} more ${lines === 1 ? "time" : "times"}]\n`;
}

/** The note for lines of the same shape. */
export function shapeNote(gap: Gap): string {
  return `[${gap.lines} lines like these omitted: lines ${gap.line}-${gap.line + gap.lines - 1}]\n`;
}
