import type { Extent } from "../../../contract/size.ts";
import type { Span } from "../../../contract/span.ts";
import type { Focus } from "../../../contract/strategy.ts";
import { Context, REACH, STRONG } from "./context.ts";
import { doubling } from "./context-features.ts";
import { evict } from "./evict.ts";
import type { Whole } from "./late-context.ts";
import { charsIn, copyBytes, levelOf } from "./line-bytes.ts";
import { SEEN_AT, START_SEEN_AT } from "./line-features.ts";
import { mayTell } from "./quick-look.ts";
import { LineReader } from "./read-lines.ts";
import { LineScan } from "./scan-line.ts";
import { ShapeCounts } from "./shape-counts.ts";
import { SkippedLines } from "./skipped-lines.ts";
import { StepList } from "./step-list.ts";
import {
  ENDS_INSIDE,
  FAILED_STEP,
  GOOD_STEP,
  IS_BLANK,
  IS_COMMAND,
  IS_FRAME,
  IS_HEADER,
  IS_WARNING,
  NOTE_FOLDED,
  NOTE_OMITTED,
  REWRITTEN,
  SOURCE,
  STARTS_INSIDE,
  UnitStore,
  WARNING_GAIN,
} from "./unit-store.ts";

/** Lines are held up to this many times the room. */
const HELD_ROOMS = 5;
/** Frames of a stack trace from which an output is taken for one of a failure. */
const FAILURE_FRAMES = 3;
/** Lines after one that caught the quick look's eye that are judged too. */
const JUDGED_AFTER = 24;
/** A warning that came less often is kept for an output in which nothing failed. */
const RARE = 3;
/** What a line that somebody is after gains. */
const FOCUS_GAIN = 6;

/** How an output is read. */
export interface Reading {
  /** About how many characters can be shown. */
  roomChars: number;
  /** Every line of the first so many bytes is judged; of the rest at most half as much, by a quick look, and the end. */
  fullBytes: number;
  focus?: Focus | undefined;
}

/** Reads an output line by line, judges each, and holds on to those that may be worth showing. */
export class SignalReader {
  readonly store = new UnitStore();
  readonly scan = new LineScan();
  readonly context = new Context();
  /** Told of each line once it was scanned; for learning the weights. */
  onUnit?: () => void;
  /** Something in it says that something failed. */
  tellsFailure = false;
  /** What only a quick look was taken at. */
  readonly unscanned: Extent = { bytes: 0, lines: 0 };
  readonly #lines = new LineReader((bytes, start, end, from, line, startsInside) =>
    this.#source(bytes, start, end, from, line, startsInside),
  );
  readonly #shapes = new ShapeCounts();
  readonly #starts = new ShapeCounts();
  readonly #failed = new StepList();
  readonly #good = new StepList();
  readonly #levels = new Int32Array(32);
  readonly #reading: Reading;
  #skipped: SkippedLines | null = null;
  #bytes = 0;
  #units = 0;
  #chars = 0;
  #sourceChars = 0;
  #frames = 0;
  #strong = 0;
  /** Bytes beyond the first ones that were judged. */
  #looked = 0;
  /** Lines that are still judged after one that caught the eye. */
  #judgeMore = 0;
  /** Rows before this one have their score. */
  #judged = 0;

  constructor(reading: Reading) {
    this.#reading = reading;
  }

  add(span: Span): void {
    if (span.kind === "source") return this.#lines.add(span);
    this.#lines.flush();
    this.#lines.begin();
    const { bytes, from, line, breaks, chars, to } = span;
    const kind = span.kind === "rewritten" ? REWRITTEN : span.counts === "omitted" ? NOTE_OMITTED : NOTE_FOLDED;
    this.#take(bytes, 0, bytes.length, kind, from, to, line, breaks, chars, 0);
  }

  /** Judges the last lines and says what is known of the whole. */
  end(): Whole {
    this.#lines.flush();
    this.#takeSkipped(Number.POSITIVE_INFINITY);
    while (this.#judged < this.store.length) this.#judge(this.#judged++);
    const ranks = new Int32Array(32);
    for (let level = 31, lines = 0; level >= 0; level--) ranks[level] = lines += this.#levels[level] as number;
    return {
      units: this.#units,
      chars: this.#chars,
      failed: this.#failed.all(),
      good: this.#good.all(),
      ranks,
      strong: ranks[STRONG] as number,
      shapes: this.#shapes,
      starts: this.#starts,
    };
  }

  #source(bytes: Uint8Array, start: number, end: number, from: number, line: number, startsInside: boolean): void {
    const hasBreak = bytes[end - 1] === 10;
    const flags = (startsInside ? STARTS_INSIDE : 0) | (hasBreak ? 0 : ENDS_INSIDE);
    this.#take(bytes, start, end, SOURCE, from, from + end - start, line, hasBreak ? 1 : 0, -1, flags);
  }

  #take(
    bytes: Uint8Array,
    start: number,
    end: number,
    kind: number,
    from: number,
    to: number,
    line: number,
    breaks: number,
    chars: number,
    inside: number,
  ): void {
    this.#bytes += end - start;
    if (this.#bytes <= this.#reading.fullBytes) {
      this.#push(bytes, start, end, kind, from, to, line, breaks, chars, inside);
      return;
    }
    if (this.#judgeMore > 0) this.#judgeMore--;
    else if (this.#looked > this.#reading.fullBytes / 2 || !mayTell(bytes, start, end)) {
      this.#skipped ??= new SkippedLines(Math.max(4096, Math.min(this.#reading.roomChars, 65_536)));
      this.#skipped.add(bytes, start, end, kind, from, to, line, breaks, chars, inside);
      this.#units++;
      this.#chars += end - start;
      this.#sourceChars += chars === -1 ? end - start : chars;
      this.unscanned.bytes += to - from;
      this.unscanned.lines += breaks;
      return;
    } else {
      this.#takeSkipped(REACH);
      this.#judgeMore = JUDGED_AFTER;
    }
    this.#looked += end - start;
    this.#push(bytes, start, end, kind, from, to, line, breaks, chars, inside);
  }

  /** Judges the newest of the lines that were skipped after all. */
  #takeSkipped(most: number): void {
    const skipped = this.#skipped;
    if (skipped === null) return;
    const count = Math.min(most, skipped.length);
    this.#units -= count;
    skipped.drain(most, (bytes, start, end, about) => {
      const [kind, from, to, line, breaks, chars, inside] = about as unknown as number[] as [
        number,
        number,
        number,
        number,
        number,
        number,
        number,
      ];
      this.#chars -= end - start;
      this.#sourceChars -= chars === -1 ? end - start : chars;
      this.unscanned.bytes -= to - from;
      this.unscanned.lines -= breaks;
      this.#push(bytes, start, end, kind, from, to, line, breaks, chars, inside);
    });
  }

  #push(
    bytes: Uint8Array,
    start: number,
    end: number,
    kind: number,
    from: number,
    to: number,
    line: number,
    breaks: number,
    chars: number,
    inside: number,
  ): void {
    const { store, scan } = this;
    const row = store.push(end - start);
    const at = store.byteAt[row] as number;
    const held = store.bytes;
    copyBytes(bytes, start, end, held, at);
    const stop = at + end - start;
    scan.scan(held, at, held[stop - 1] === 10 ? stop - 1 : stop);
    let flags = inside;
    let level = 0;
    store.shapeSlot[row] = store.startSlot[row] = 0;
    if (scan.blank) flags |= IS_BLANK;
    else if (kind <= REWRITTEN) {
      const shape = this.#shapes.slot(scan.shape);
      const startShape = this.#starts.slot(scan.startShape);
      const seen = this.#shapes.add(shape);
      scan.put(SEEN_AT + doubling(seen, 6));
      if (scan.isWarning && seen < RARE) flags |= IS_WARNING;
      scan.put(START_SEEN_AT + doubling(this.#starts.add(startShape), 7));
      store.shapeSlot[row] = shape;
      store.startSlot[row] = startShape;
      if (this.#reading.focus?.matches(held.subarray(at, held[stop - 1] === 10 ? stop - 1 : stop)))
        scan.score += FOCUS_GAIN;
      level = levelOf(scan.score);
      flags |= this.#marks();
    }
    const shown = scan.wide ? charsIn(held, at, stop) : end - start;
    store.sequence[row] = this.#units++;
    store.from[row] = from;
    store.to[row] = to;
    store.line[row] = line;
    store.breaks[row] = breaks;
    store.sourceCharsBefore[row] = this.#sourceChars;
    store.sourceChars[row] = chars === -1 ? shown : chars;
    store.shownChars[row] = shown;
    store.charsBefore[row] = this.#chars;
    store.kind[row] = kind;
    store.flags[row] = flags;
    store.level[row] = level;
    store.indent[row] = scan.indent > 255 ? 255 : scan.indent;
    store.textHash[row] = scan.textHash;
    store.lineScore[row] = scan.score;
    store.strongBefore[row] = this.#strong;
    if (level >= STRONG) this.#strong++;
    this.onUnit?.();
    this.#levels[level] = (this.#levels[level] as number) + 1;
    this.#chars += shown;
    this.#sourceChars += store.sourceChars[row] as number;
    store.chars += shown;
    if (row - REACH >= this.#judged) this.#judge(this.#judged++);
    const { roomChars } = this.#reading;
    if (store.chars + 32 * store.length > 2 * HELD_ROOMS * roomChars) {
      evict(store, roomChars, HELD_ROOMS * roomChars, this.#judged);
      this.#judged = store.length - REACH;
    }
  }

  /** What the line just scanned is, beside its score. */
  #marks(): number {
    const { scan } = this;
    let flags = 0;
    if (scan.isHeader) flags |= IS_HEADER;
    if (scan.isCommand) flags |= IS_COMMAND;
    if (scan.isFrame) {
      flags |= IS_FRAME;
      this.#frames++;
    }
    if (scan.exit === 1) {
      flags |= FAILED_STEP;
      this.#failed.add(this.#units);
    } else if (scan.exit === 2) {
      flags |= GOOD_STEP;
      this.#good.add(this.#units);
    }
    if (scan.tellsFailure || this.#frames === FAILURE_FRAMES) this.tellsFailure = true;
    return flags;
  }

  #judge(row: number): void {
    const { store } = this;
    const seen = (store.flags[row] as number) & IS_BLANK ? 0 : this.#shapes.of(store.shapeSlot[row] as number) - 1;
    const focused = this.#reading.focus !== undefined && (store.lineScore[row] as number) > FOCUS_GAIN;
    store.score[row] = this.context.look(store, row, store.length, seen) + (focused ? FOCUS_GAIN : 0);
    if (((store.flags[row] as number) & IS_WARNING) !== 0)
      store.score[row] = (store.score[row] as number) + WARNING_GAIN;
  }
}
