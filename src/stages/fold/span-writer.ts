import type { TakeSpan } from "../../contract/span.ts";
import type { Line } from "./line.ts";

/** Counts the whole lines that a note stands for. */
export class Gap {
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
export class SpanWriter {
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
