import type { Gap, Piece } from "../../contract/cut.ts";
import type { Extent, Total } from "../../contract/size.ts";
import type { Span } from "../../contract/span.ts";
import { GrowingBytes, LastBytes } from "../measure/held-bytes.ts";
import { newScan, scanBytes, scannedChars } from "../measure/scan.ts";
import { decode } from "./fit.ts";

/** A span that is held: its `length` bytes stand `at` bytes into what was rendered; a holder may have only part of them. */
export interface HeldSpan extends Omit<Span, "bytes"> {
  at: number;
  length: number;
}

/** The start or the end of what was rendered. */
export interface Region {
  bytes: Uint8Array;
  /** What was rendered before the region's first byte. */
  at: number;
  spans: HeldSpan[];
}

/** A span as the next after `last`, or null if it only lengthened it. */
function hold(span: Span, at: number, last: HeldSpan | undefined): HeldSpan | null {
  if (span.kind === "source" && last?.kind === "source" && last.to === span.from) {
    last.to = span.to;
    last.length += span.bytes.length;
    return null;
  }
  const { kind, from, to, line, breaks, chars, counts, bytes } = span;
  const held: HeldSpan = { kind, from, to, line, breaks, chars, at, length: bytes.length };
  if (counts !== undefined) held.counts = counts;
  return held;
}

/** Holds the first `capacity` bytes. */
export class StartHolder {
  readonly #held = new GrowingBytes();
  readonly #spans: HeldSpan[] = [];
  readonly #capacity: number;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  add(span: Span): void {
    const room = this.#capacity - this.#held.length;
    if (room <= 0) return;
    const held = hold(span, this.#held.length, this.#spans.at(-1));
    if (held !== null) this.#spans.push(held);
    this.#held.add(span.bytes.length > room ? span.bytes.subarray(0, room) : span.bytes);
  }

  region(): Region {
    return { bytes: this.#held.bytes, at: 0, spans: this.#spans };
  }
}

/** Holds the last `capacity` bytes. */
export class EndHolder {
  readonly #held: LastBytes;
  /** Bytes that were rendered so far. */
  #rendered = 0;
  #spans: HeldSpan[] = [];
  #gone = 0;

  constructor(capacity: number) {
    this.#held = new LastBytes(capacity);
  }

  add(span: Span): void {
    const held = hold(span, this.#rendered, this.#spans.at(-1));
    if (held !== null) this.#spans.push(held);
    this.#held.add(span.bytes);
    this.#rendered += span.bytes.length;
    this.#forget();
  }

  region(): Region {
    const { at, bytes } = this.#held;
    const spans = this.#spans.slice(this.#gone).filter((span) => span.at + span.length > at || span.at >= at);
    return { bytes, at, spans };
  }

  /** Lets go of spans that ended before what is held. */
  #forget(): void {
    const start = this.#held.at;
    while (this.#gone < this.#spans.length - 1) {
      const span = this.#spans[this.#gone] as HeldSpan;
      if (span.at + span.length > start) break;
      this.#gone++;
    }
    if (this.#gone > 1024) {
      this.#spans = this.#spans.slice(this.#gone);
      this.#gone = 0;
    }
  }
}

/** A stretch of a region that is shown, and where the source bytes it stands for went. */
export interface Shown {
  piece: Piece;
  /** Same-shape runs inside, said by notes of their own. */
  noted: Gap[];
  kept: Extent;
  folded: Extent;
  /** Everything the stretch stands for, in source units. */
  consumed: { bytes: number; chars: number; breaks: number };
}

/** A stretch of a region: its bytes [from, to). */
export interface Stretch {
  region: Region;
  from: number;
  to: number;
  /** The source line in which `from` stands. */
  firstLine: number;
  /** It reaches the output's end. */
  isEnd: boolean;
}

/** Accounts for the stretches of one cut. What was folded in a rewritten line counts once, also if two stretches show it. */
export class Accounts {
  readonly #total: Total;
  /** Source offsets of the rewritten lines that were counted. */
  readonly #counted = new Set<number>();

  constructor(total: Total) {
    this.#total = total;
  }

  add({ region, from, to, firstLine, isEnd }: Stretch): Shown {
    const shown: Shown = {
      piece: {
        text: decode(region.bytes.subarray(from, to)),
        source: [0, 0],
        lines: [firstLine, firstLine],
        startsInside: from > 0 && region.bytes[from - 1] !== 10,
        endsInside: to < region.bytes.length && region.bytes[to - 1] !== 10,
      },
      noted: [],
      kept: { bytes: 0, lines: 0 },
      folded: { bytes: 0, lines: 0 },
      consumed: { bytes: 0, chars: 0, breaks: 0 },
    };
    let endsOpen = false;
    for (const span of region.spans) {
      const start = span.at - region.at;
      const low = Math.max(from, start);
      const high = Math.min(to, start + span.length);
      if (high < low || (high === low && !(span.length === 0 && isInside(low, from, to, region)))) continue;
      if (span.kind === "note") {
        this.#countNote(shown, span);
        continue;
      }
      const bytes = region.bytes.subarray(low, high);
      const scan = newScan();
      scanBytes(scan, bytes);
      shown.kept.bytes += bytes.length;
      shown.kept.lines += scan.breaks;
      if (bytes.length > 0) endsOpen = !scan.atLineStart;
      shown.consumed.bytes += bytes.length;
      shown.consumed.breaks += scan.breaks;
      if (span.kind === "source") shown.consumed.chars += scannedChars(scan);
      else this.#countRewritten(shown, span, scannedChars(scan), region);
    }
    if (endsOpen) shown.kept.lines++;
    const foldedLines = shown.noted.reduce((sum, gap) => sum + gap.lines, shown.folded.lines);
    if (foldedLines > 0) shown.piece.foldedLines = foldedLines;
    const { lines } = shown.piece;
    lines[1] = isEnd
      ? this.#total.lines
      : Math.min(this.#total.lines, firstLine + shown.consumed.breaks - (endsInBreak(region, to) ? 1 : 0));
    return shown;
  }

  #countNote(shown: Shown, span: HeldSpan): void {
    const bytes = span.to - span.from;
    const lines = sourceLines(span, this.#total);
    shown.consumed.bytes += bytes;
    shown.consumed.chars += span.chars;
    shown.consumed.breaks += span.breaks;
    if (span.counts === "omitted") {
      const toLine = span.line + lines - 1;
      shown.noted.push({ fromLine: span.line, toLine, lines, bytes, chars: span.chars, noted: true });
    } else {
      shown.folded.bytes += bytes;
      shown.folded.lines += lines;
    }
  }

  #countRewritten(shown: Shown, span: HeldSpan, chars: number, region: Region): void {
    const isCounted = this.#counted.has(span.from);
    const folded = isCounted ? 0 : span.to - span.from - span.length;
    const foldedChars = isCounted ? 0 : foldedCharsOf(span, chars, region);
    this.#counted.add(span.from);
    shown.folded.bytes += folded;
    shown.consumed.bytes += folded;
    shown.consumed.chars += chars + foldedChars;
    if (span.length === 0) shown.folded.lines += sourceLines(span, this.#total);
  }
}

function isInside(at: number, from: number, to: number, region: Region): boolean {
  return at >= from && (at < to || (at === to && to === region.bytes.length));
}

function endsInBreak(region: Region, to: number): boolean {
  return to > 0 && region.bytes[to - 1] === 10;
}

/** Source lines of whole-line spans; only the source's last may lack its break. */
function sourceLines(span: HeldSpan, total: Total): number {
  return span.breaks + (span.to === total.bytes && total.lines > total.breaks ? 1 : 0);
}

/** Characters that were folded in a rewritten line. If part of what it became is no longer held, the most there can be. */
function foldedCharsOf(span: HeldSpan, shownChars: number, region: Region): number {
  const start = span.at - region.at;
  const isHeld = start >= 0 && start + span.length <= region.bytes.length;
  if (!isHeld) return Math.max(0, Math.min(span.to - span.from - span.length, span.chars - shownChars));
  const scan = newScan();
  scanBytes(scan, region.bytes.subarray(start, start + span.length));
  return span.chars - scannedChars(scan);
}
