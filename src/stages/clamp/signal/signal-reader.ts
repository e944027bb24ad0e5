import type { Extent } from "../../../contract/size.ts";
import type { Span } from "../../../contract/span.ts";
import { decode } from "../fit.ts";
import { WordFinder } from "../focus/find-words.ts";
import { WordCounts } from "../focus/word-counts.ts";
import { Context, doubling, LIVELY, REACH, STRONG, type Whole } from "./context.ts";
import { TraceFinder } from "./find-traces.ts";
import { FailureNames } from "./hidden.ts";
import { evict, heldChars, heldCost, type Reading } from "./judge.ts";
import { BASE } from "./line-features.ts";
import {
  AROUND_FOCUS,
  type Around,
  charsIn,
  gainOf,
  levelOf,
  lookAround,
  mayTell,
  QUICK_WORDS,
  quick,
  RARE,
  ScanBudget,
  wholeLines,
} from "./quick-scan.ts";
import { type Line, LineReader, MAX_UNIT_BYTES, SkippedLines } from "./read-lines.ts";
import { LineScan } from "./scan-line.ts";
import {
  FAILED_STEP,
  GOOD_STEP,
  IS_BLANK,
  IS_COMMAND,
  IS_FOCUSED,
  IS_FRAME,
  IS_HEADER,
  IS_NEW,
  IS_NEWLY_NAMED,
  IS_VERDICT,
  IS_WARNING,
  NOTE_FOLDED,
  NOTE_OMITTED,
  REWRITTEN,
  ShapeCounts,
  SOURCE,
  UnitStore,
} from "./unit-store.ts";

/** An output with so many frames of a stack trace is taken for one of a failure. */
const FAILURE_FRAMES = 3;

/** Reads an output line by line, judges each, and holds on to those that may be worth showing. */
export class SignalReader {
  readonly store = new UnitStore();
  readonly scan = new LineScan();
  readonly context = new Context();
  /** Told of each line that was scanned; for learning the weights. */
  onUnit?: () => void;
  /** True if some line says that something failed. */
  tellsFailure = false;
  /** How much of the output got only a quick look. */
  readonly unscanned: Extent = { bytes: 0, lines: 0 };
  readonly #lines = new LineReader(
    (line) => this.#take(line),
    (span, start, line) => this.#skim(span, start, line),
  );
  readonly shapes = new ShapeCounts();
  /** How rare the words of the focus are. */
  readonly words: WordCounts | null;
  readonly failures = new FailureNames();
  readonly starts = new ShapeCounts();
  readonly sorts = new ShapeCounts();
  readonly #failed = new StepList();
  readonly #good = new StepList();
  readonly #traces = new TraceFinder();
  readonly #levels = new Int32Array(32);
  readonly #reading: Reading;
  #mostCost: number;
  readonly #skipped: SkippedLines;
  readonly #budget: ScanBudget;
  #bytes = 0;
  #units = 0;
  #chars = 0;
  #sourceChars = 0;
  #frames = 0;
  #added = 0;
  #strong = 0;
  /** The newest line that is lively. */
  #lively = Number.NEGATIVE_INFINITY;
  /** Runs of lines may be skipped at once: those without words that were asked for, or that tell of failures. */
  #maySkim = true;
  #asked: WordFinder | null = null;
  #telling = quick;
  /** The words of the focus that are looked for past the lines that are all judged. */
  #sought = 0;
  /** How many more lines are judged after one that the quick look found. */
  #judgeMore = 0;
  /** Rows before this one have their score. */
  #judged = 0;

  constructor(reading: Reading) {
    this.#reading = reading;
    this.words = reading.focus === undefined ? null : new WordCounts(reading.focus);
    this.#mostCost = 2 * heldChars(reading.roomChars);
    this.#budget = new ScanBudget(reading.fullBytes);
    this.#skipped = new SkippedLines(Math.max(2 * MAX_UNIT_BYTES, Math.min(reading.roomChars, 65_536)));
  }

  add(span: Span): void {
    if (span.kind === "source") return this.#lines.add(span);
    this.#lines.flush();
    this.#lines.begin();
    const { bytes, from, line, breaks, chars, to } = span;
    const kind = span.kind === "rewritten" ? REWRITTEN : span.counts === "omitted" ? NOTE_OMITTED : NOTE_FOLDED;
    this.#take({ bytes, start: 0, end: bytes.length, kind, from, to, line, breaks, chars, inside: 0 });
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
      shapes: this.shapes,
      starts: this.starts,
      sorts: this.sorts,
      words: this.words,
      added: this.#added,
      counted: this.failures.counted,
    };
  }

  #take(line: Line): void {
    const { bytes, start, end } = line;
    const at = this.#bytes;
    this.#bytes += end - start;
    const { fullBytes } = this.#reading;
    if (at < fullBytes) {
      this.#push(line);
      if (this.#bytes >= fullBytes) this.#beginSkimming();
      return;
    }
    if (this.#judgeMore > 0) this.#judgeMore--;
    else {
      const around = this.#lookAround(at, bytes, start, end);
      if (around === null) {
        if (line.chars === -1) line.chars = charsIn(bytes, start, end);
        this.#skipped.add(line);
        this.#skip(1, end - start, line.chars, line.to - line.from, line.breaks);
        this.#lines.skims = this.#maySkim;
        return;
      }
      this.#takeSkipped(around.before);
      this.#judgeMore = around.after;
    }
    this.#lines.skims = this.#judgeMore === 0 && this.#maySkim;
    this.#budget.judged(end - start, this.#bytes);
    this.#push(line);
  }

  /** Takes a quick look at a line. Returns how many lines around it are judged, or null if not even the line is. */
  #lookAround(at: number, bytes: Uint8Array, start: number, end: number): Around | null {
    const stop = bytes[end - 1] === 10 ? end - 1 : end;
    if (((this.#reading.focus?.find(bytes.subarray(start, stop)) ?? 0) & this.#sought) !== 0) return AROUND_FOCUS;
    if (this.#budget.waits(at) > 0 || !mayTell(bytes, start, end)) return null;
    this.scan.scan(bytes, start, stop);
    const around = lookAround(this.scan, this.shapes, this.starts);
    if (around === null) this.#budget.glanced(end - start, this.#bytes);
    return around;
  }

  /** All lines that are judged have come: from now on a quick look decides. Words that stand in many of them are not looked for. */
  #beginSkimming(): void {
    const { focus } = this.#reading;
    if (focus !== undefined) {
      this.#sought = (this.words?.telling ?? 0) | (focus.keeps ?? 0);
      const starts = focus.starts?.filter((_, word) => (this.#sought & (1 << word)) !== 0).flat();
      this.#maySkim = starts?.every((start) => start.length === 4) ?? false;
      this.#asked = new WordFinder(starts ?? []);
      this.#telling = new WordFinder([...QUICK_WORDS, ...(starts ?? [])]);
    }
    this.#lines.skims = this.#maySkim;
  }

  /** Skips whole lines of a span, from `start` on, in which the quick look finds nothing. */
  #skim(span: Span, start: number, line: number): { end: number; breaks: number } {
    const { bytes } = span;
    // If too much was looked at, lines are passed over unseen for a while.
    const waits = this.#budget.waits(this.#bytes);
    const end = waits > 0 ? Math.min(bytes.length, start + waits) : bytes.length;
    const words = waits > 0 ? this.#asked : this.#telling;
    const run = wholeLines(bytes, start, words?.find(bytes, start, end) ?? end, MAX_UNIT_BYTES);
    if (run.breaks === 0) return run;
    const length = run.end - start;
    this.#bytes += length;
    this.#skipped.addRun(span, start, run.end, line + run.breaks);
    this.#skip(run.breaks, length, run.chars, length, run.breaks);
    return run;
  }

  #skip(units: number, shown: number, chars: number, bytes: number, breaks: number): void {
    this.#units += units;
    this.#chars += shown;
    this.#sourceChars += chars;
    this.unscanned.bytes += bytes;
    this.unscanned.lines += breaks;
  }

  /** Judges the newest of the lines that were skipped. */
  #takeSkipped(most: number): void {
    const lines = this.#skipped.newest(most);
    for (const one of lines) {
      if (one.chars === -1) one.chars = charsIn(one.bytes, one.start, one.end);
      this.#budget.judged(one.end - one.start, this.#bytes);
      this.#skip(-1, one.start - one.end, -one.chars, one.from - one.to, -one.breaks);
    }
    for (const one of lines) {
      if (one.kind === SOURCE) one.chars = -1;
      this.#push(one);
    }
    this.#skipped.clear();
  }

  #push({ bytes, start, end, kind, from, to, line, breaks, chars, inside }: Line): void {
    const { store, scan } = this;
    const row = store.push(bytes, start, end);
    const at = store.byteAt[row] as number;
    const held = store.bytes;
    const stop = at + end - start;
    scan.scan(held, at, held[stop - 1] === 10 ? stop - 1 : stop);
    let flags = inside;
    let level = 0;
    let words = 0;
    const { focus, known } = this.#reading;
    store.shapeSlot[row] = store.startSlot[row] = store.sortSlot[row] = 0;
    if (scan.blank) flags |= IS_BLANK;
    else if (kind <= REWRITTEN) {
      const shape = this.shapes.slot(scan.shape);
      const startShape = this.starts.slot(scan.startShape);
      const seen = this.shapes.add(shape);
      scan.putNew(BASE.seen + doubling(seen, 6));
      if (scan.isWarning && seen < RARE) flags |= IS_WARNING;
      scan.putNew(BASE.startSeen + doubling(this.starts.add(startShape), 7));
      const sort = this.sorts.slot(scan.sort);
      this.sorts.add(sort);
      store.sortSlot[row] = sort;
      store.shapeSlot[row] = shape;
      store.startSlot[row] = startShape;
      const text = known === undefined ? "" : decode(held.subarray(at, Math.min(stop, at + MAX_KNOWN_BYTES)));
      const novelty = known?.novelty(text, scan.template) ?? 0;
      if (novelty > 0) {
        flags |= novelty === 1 ? IS_NEW : IS_NEWLY_NAMED;
        this.#added += novelty;
      }
      if (focus !== undefined) {
        words = focus.find(held.subarray(at, held[stop - 1] === 10 ? stop - 1 : stop));
        this.words?.add(words);
        if ((focus.isSoft ? words & (focus.keeps ?? 0) : words) !== 0) {
          flags |= IS_FOCUSED;
          scan.score += gainOf(IS_FOCUSED);
        }
      }
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
    store.words[row] = words;
    store.level[row] = level;
    store.indent[row] = scan.indent > 255 ? 255 : scan.indent;
    store.prefix[row] = scan.prefix > 255 ? 255 : scan.prefix;
    store.textHash[row] = scan.textHash;
    store.template[row] = scan.isStamped ? scan.template : 0;
    store.lineScore[row] = scan.score;
    store.strongBefore[row] = this.#strong;
    this.#traces.see(store, row, scan);
    if (level >= STRONG) this.#strong++;
    if (level >= STRONG || scan.tellsFailure) this.failures.see(held.subarray(at, stop));
    if (level >= LIVELY) this.#lively = store.sequence[row] as number;
    this.onUnit?.();
    this.#levels[level] = (this.#levels[level] as number) + 1;
    this.#chars += shown;
    this.#sourceChars += store.sourceChars[row] as number;
    store.chars += shown;
    if (row - REACH >= this.#judged) this.#judge(this.#judged++);
    if (heldCost(store) > this.#mostCost) {
      this.#mostCost = evict(this, this.#reading.roomChars, this.#judged);
      this.#judged = store.length - REACH;
    }
  }

  /** Returns what the line that was just scanned is, beside its score. */
  #marks(): number {
    const { scan } = this;
    let flags = 0;
    if (scan.isHeader) flags |= IS_HEADER;
    if (scan.isCommand) flags |= IS_COMMAND;
    if (scan.isVerdict) flags |= IS_VERDICT;
    if (scan.isFrame) flags |= IS_FRAME;
    if (scan.isFrame) this.#frames++;
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
    const seen = (store.flags[row] as number) & IS_BLANK ? 0 : this.shapes.of(store.shapeSlot[row] as number) - 1;
    const quiet = (store.sequence[row] as number) - this.#lively > REACH;
    store.score[row] = this.context.look(store, row, store.length, seen, quiet) + gainOf(store.flags[row] as number);
  }
}

/** So much of a line is compared with those of another run. */
const MAX_KNOWN_BYTES = 2048;

/** Held from each end of the list. */
const HELD = 1024;

/** Remembers where steps ended: the first and the last of them. */
class StepList {
  readonly #first: number[] = [];
  readonly #last: number[] = [];

  add(sequence: number): void {
    if (this.#first.length < HELD) this.#first.push(sequence);
    else {
      this.#last.push(sequence);
      if (this.#last.length === 2 * HELD) this.#last.splice(0, HELD);
    }
  }

  all(): Int32Array {
    return Int32Array.from([...this.#first, ...this.#last]);
  }
}
