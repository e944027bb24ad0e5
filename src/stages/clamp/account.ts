import type { Gap, Piece } from "../../contract/cut.ts";
import type { Extent, Total } from "../../contract/size.ts";
import { newScan, scanBytes, scannedChars } from "../measure/scan.ts";
import { decode } from "./fit.ts";
import type { HeldSpan, Region } from "./held-spans.ts";

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

/**
 * Accounts for region bytes [from, to). `firstLine` is the source line in which `from` stands. A rewritten line that is
 * shown in two stretches counts what was folded in it once: `seen` holds the source offsets counted so far. `isEnd`: it is
 * the output's end.
 */
export function accountFor(
  region: Region,
  from: number,
  to: number,
  firstLine: number,
  total: Total,
  seen: Set<number>,
  isEnd: boolean,
): Shown {
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
      countNote(shown, span, total);
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
    else countRewritten(shown, span, scannedChars(scan), region, total, seen);
  }
  if (endsOpen) shown.kept.lines++;
  const { lines } = shown.piece;
  lines[1] = isEnd
    ? total.lines
    : Math.min(total.lines, firstLine + shown.consumed.breaks - (endsInBreak(region, to) ? 1 : 0));
  return shown;
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

function countNote(shown: Shown, span: HeldSpan, total: Total): void {
  const bytes = span.to - span.from;
  const lines = sourceLines(span, total);
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

function countRewritten(
  shown: Shown,
  span: HeldSpan,
  chars: number,
  region: Region,
  total: Total,
  seen: Set<number>,
): void {
  const folded = seen.has(span.from) ? 0 : span.to - span.from - span.length;
  const foldedChars = seen.has(span.from) ? 0 : foldedCharsOf(span, chars, region);
  seen.add(span.from);
  shown.folded.bytes += folded;
  shown.consumed.bytes += folded;
  shown.consumed.chars += chars + foldedChars;
  if (span.length === 0) shown.folded.lines += sourceLines(span, total);
}

/** Chars that were folded in a rewritten line; where part of what it renders to is no longer held, at most that many. */
function foldedCharsOf(span: HeldSpan, shownChars: number, region: Region): number {
  const start = span.at - region.at;
  const isHeld = start >= 0 && start + span.length <= region.bytes.length;
  if (!isHeld) return Math.max(0, Math.min(span.to - span.from - span.length, span.chars - shownChars));
  const scan = newScan();
  scanBytes(scan, region.bytes.subarray(start, start + span.length));
  return span.chars - scannedChars(scan);
}
