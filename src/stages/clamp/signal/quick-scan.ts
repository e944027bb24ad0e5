// A look that costs a fraction of scanning a line: does it hold four letters of a word that tells of failures?
import { newScan, scanBytes, scannedChars } from "../../measure/scan.ts";
import { WordFinder } from "../focus/find-words.ts";
import { doubling } from "./context.ts";
import { BASE } from "./line-features.ts";
import type { LineScan } from "./scan-line.ts";
import type { ShapeCounts } from "./unit-store.ts";
import { HELD_NEW_GAIN, IS_FOCUSED, IS_NEW, IS_WARNING, WARNING_GAIN } from "./unit-store.ts";
import { LEVELS } from "./weights.ts";

/** The words' letters, lower case. */
export const QUICK_WORDS: readonly string[] =
  "erro fail exce pani fata abor asse trac segf kill warn exit cras cann unab refu deni unde inva meou caus crit err! brok".split(
    " ",
  );

export const quick = new WordFinder(QUICK_WORDS);
// The words of "segmentation fault", "out of memory", "no space left" and "not found" are too common for a log's middle.
const thorough = new WordFinder([...QUICK_WORDS, "segm", "memo", "spac", "foun"]);

/** True if bytes[start, end) may tell of a failure. */
export function mayTell(bytes: Uint8Array, start: number, end: number): boolean {
  return quick.find(bytes, start, end) < end;
}

/** True if bytes[start, end) may tell of a failure, also by words that are common elsewhere. */
export function mayTellAtAll(bytes: Uint8Array, start: number, end: number): boolean {
  return thorough.find(bytes, start, end) < end;
}

/** A run of whole lines: where it ends, its line breaks and its UTF-16 units. */
interface LineRun {
  end: number;
  breaks: number;
  chars: number;
}

/** The run of whole lines from `start` on, which begins a line, that end up to `to` and are not over `longest`. */
export function wholeLines(bytes: Uint8Array, start: number, to: number, longest: number): LineRun {
  const last = to > start ? bytes.lastIndexOf(10, to - 1) + 1 : start;
  const end = hasShortLines(bytes, start, last, longest)
    ? Math.max(start, last)
    : beforeLongLine(bytes, start, last, longest);
  const scan = newScan();
  scanBytes(scan, bytes.subarray(start, end));
  return { end, breaks: scan.breaks, chars: scannedChars(scan) };
}

/** True if a few looks tell that no line is longer than `longest`. */
function hasShortLines(bytes: Uint8Array, start: number, end: number, longest: number): boolean {
  const step = longest >> 1;
  for (let at = start; at + step <= end; at += step) if (bytes.indexOf(10, at) >= at + step) return false;
  return true;
}

/** Where the first line begins that is longer than `longest`; `end`, which ends a line, if none is. */
function beforeLongLine(bytes: Uint8Array, start: number, end: number, longest: number): number {
  for (let at = start; at < end; ) {
    const next = bytes.indexOf(10, at) + 1;
    if (next - at > longest) return at;
    at = next;
  }
  return end;
}

/** How many lines are judged before and after one that the quick look found. */
export interface Around {
  before: number;
  after: number;
}

/** A level from which a line that holds a failure word is taken for one that tells of a failure. */
const TELLING = 10;
const TELLING_AROUND: Around = { before: 20, after: 24 };
/** Warnings that are still rare are kept, in case that nothing failed. */
const RARE_STARTS = 16;
const WARNING_AROUND: Around = { before: 2, after: 2 };

/** What a line that somebody is after gains, and what is judged around it. */
const FOCUS_GAIN = 6;
export const AROUND_FOCUS: Around = { before: 2, after: 2 };

/** What a line gains for what it is, beside its score. */
export function gainOf(flags: number): number {
  return (
    ((flags & IS_FOCUSED) !== 0 ? FOCUS_GAIN : 0) +
    ((flags & IS_WARNING) !== 0 ? WARNING_GAIN : 0) +
    ((flags & IS_NEW) !== 0 ? HELD_NEW_GAIN : 0)
  );
}

/** A warning that came less often is kept for an output in which nothing failed. */
export const RARE = 3;

/** What to judge around the line just scanned, which holds a failure word; null if it is one of many dull ones. */
export function lookAround(scan: LineScan, shapes: ShapeCounts, starts: ShapeCounts): Around | null {
  if (scan.blank) return null;
  const shape = shapes.slot(scan.shape);
  const start = starts.slot(scan.startShape);
  const seen = shapes.of(shape);
  const startSeen = starts.of(start);
  scan.putNew(BASE.seen + doubling(seen, 6));
  scan.putNew(BASE.startSeen + doubling(startSeen, 7));
  if (scan.exit !== 0 || levelOf(scan.score) >= TELLING) return TELLING_AROUND;
  if (scan.isWarning && seen < RARE && startSeen < RARE_STARTS) return WARNING_AROUND;
  shapes.add(shape);
  starts.add(start);
  return null;
}

/** The level that a score reaches. */
export function levelOf(score: number): number {
  let low = 0;
  let high = 31;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (score >= (LEVELS[middle] as number)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** UTF-16 units of a stretch. */
export function charsIn(bytes: Uint8Array, start: number, end: number): number {
  const scan = newScan();
  scanBytes(scan, bytes.subarray(start, end));
  return scannedChars(scan);
}

/** After the bytes that are judged in full, at most this share of as many are judged, and a share of what passed. */
const LOOKED_FIRST = 0.1;
const LOOKED_SHARE = 0.002;
/** Looking at a line that then is not judged costs this share of judging it. */
const GLANCE_SHARE = 0.5;
/** So many bytes over that bound may be looked at before lines go by unseen. */
const BURST_BYTES = 8192;

/** Bounds how much of a very long output is looked at. If nearly every line could tell of a failure, only some are judged. */
export class ScanBudget {
  readonly #firstBytes: number;
  #looked = 0;
  #waitUntil = 0;

  constructor(fullBytes: number) {
    this.#firstBytes = fullBytes * LOOKED_FIRST;
  }

  /** So many bytes were judged when `passed` had gone by. */
  judged(bytes: number, passed: number): void {
    this.#looked += bytes;
    const above = this.#looked - this.#firstBytes;
    if (above - passed * LOOKED_SHARE > BURST_BYTES) this.#waitUntil = Math.floor(above / LOOKED_SHARE);
  }

  /** So many bytes were looked at, and their lines were not judged. */
  glanced(bytes: number, passed: number): void {
    this.judged(bytes * GLANCE_SHARE, passed);
  }

  /** How many bytes go by unseen when `passed` have gone by; none if it is not above 0. */
  waits(passed: number): number {
    return this.#waitUntil - passed;
  }
}
