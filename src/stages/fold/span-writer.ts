import type { TakeSpan } from "../../contract/span.ts";
import type { HeldLine } from "./held-line.ts";

/**
 * Hands spans on in source order. Lines of the current chunk that stay as they are need no call: whatever comes next
 * hands on all that lies before it in one piece.
 */
export class SpanWriter {
  private readonly take: TakeSpan;
  private chunk: Uint8Array = new Uint8Array(0);
  private chunkFrom = 0;
  /** Handed on up to here; the line this is in. */
  private done = 0;
  private line = 1;
  private begun = false;

  constructor(take: TakeSpan) {
    this.take = take;
  }

  beginChunk(bytes: Uint8Array, from: number, line: number): void {
    this.chunk = bytes;
    this.chunkFrom = from;
    if (this.begun) return;
    this.begun = true;
    this.done = from;
    this.line = line;
  }

  /** Hands on the chunk's bytes up to `to`, which stands in line `line`. */
  source(to: number, line: number): void {
    if (to <= this.done) return;
    this.put(this.chunk.subarray(this.done - this.chunkFrom, to - this.chunkFrom), to, line);
  }

  /** Source bytes that are no longer in the chunk, right after what was handed on. */
  put(bytes: Uint8Array, to: number, line: number): void {
    this.take({ kind: "source", bytes, from: this.done, to, line: this.line, breaks: -1, chars: -1 });
    this.done = to;
    this.line = line;
  }

  /** A line that is shown. */
  shown(line: HeldLine): void {
    if (line.rewritten) {
      const bytes = line.bytes.subarray(line.start, line.end);
      this.rewritten(bytes, line.from, line.to, line.number, line.hasBreak ? 1 : 0, line.chars);
    } else {
      this.shownClean(line.bytes, line.start, line.end, line.from, line.number);
    }
  }

  shownClean(bytes: Uint8Array, start: number, end: number, from: number, line: number): void {
    if (from < this.chunkFrom) this.put(bytes.subarray(start, end), from + end - start, line + 1);
  }

  rewritten(bytes: Uint8Array, from: number, to: number, line: number, breaks: number, chars: number): void {
    this.source(from, line);
    this.take({ kind: "rewritten", bytes, from, to, line, breaks, chars });
    this.done = to;
    this.line = line + breaks;
  }

  note(
    text: string,
    gap: { from: number; to: number; line: number; breaks: number; chars: number },
    counts: Counts,
  ): void {
    const { from, to, line, breaks, chars } = gap;
    this.source(from, line);
    this.take({ kind: "note", bytes: encoder.encode(text), from, to, line, breaks, chars, counts });
    this.done = to;
    this.line = line + breaks;
  }
}

/** What a note's lines count as. */
export type Counts = "folded" | "omitted";

const encoder = new TextEncoder();
