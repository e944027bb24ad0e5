import type { Cut, ExplainedBlock, Gap } from "../../contract/cut.ts";
import type { Limits, Unit } from "../../contract/limits.ts";
import type { Total } from "../../contract/size.ts";
import type { Span } from "../../contract/span.ts";
import type { Cutter, Sieve, Strategy, StrategyRequest } from "../../contract/strategy.ts";
import type { TokenCounter } from "../../contract/token-counter.ts";
import { messageOf } from "../../errors.ts";
import { type Fold, startFold } from "../fold/fold.ts";
import { measureText } from "../measure/estimate-tokens.ts";
import { GrowingBytes } from "../measure/held-bytes.ts";
import { newScan, SAMPLE_BYTES, scanBytes, scannedChars, scannedLines } from "../measure/scan.ts";
import { budgetOf, capacityBytes, decode, isReplaced, overBudget } from "./fit.ts";
import { namedLines } from "./focus/word-counts.ts";
import { headTail } from "./strategies/edges.ts";

/** How one output is to be clamped. */
export interface ClampRequest extends StrategyRequest {
  strategy: Strategy;
  /** Drop terminal codes and repeats, should the output be over a limit. */
  fold: boolean;
  /** An output of fewer characters is not cut for its lines alone. */
  shortChars?: number | undefined;
}

/** The limits of an output of so many characters. */
export function limitsFor(
  { limits, shortChars = 0 }: Pick<ClampRequest, "limits" | "shortChars">,
  chars: number,
): Limits {
  if (chars >= shortChars || limits.maxLines === undefined) return limits;
  const { maxLines: _maxLines, ...others } = limits;
  return others;
}

/** One output on its way through the clamp. */
export interface Clamp {
  /**
   * The bytes are only read during the call. Returns what must be spilled before them: all that came, on the call
   * that puts the output over its limits, else nothing.
   */
  add(bytes: Uint8Array): Uint8Array;
  /** True once the output is known to be over a limit. */
  readonly over: boolean;
  /** All bytes so far while the output is not over; none afterwards. */
  readonly heldBytes: Uint8Array;
  /** What sort of output it is, once a strategy was chosen by that. */
  readonly kind: string | null;
  /** `close` gives an output that is within its limits as it would be shown: with its exit line. That must fit too. */
  end(close: (text: string) => string, exitCode?: number): Clamped;
}

/** What a clamp knows at the end. */
export interface Clamped {
  total: Total;
  /** The output's first bytes, by which binary is known. */
  sample: Uint8Array;
  /** The whole output as text, if it is within its limits. */
  within: string | null;
  /** That text shows U+FFFD for bytes that are not UTF-8, so it alone does not tell what they were. */
  replaced: boolean;
  /** Else what to cut it from, and the limit that it was over. */
  cutter: Cutter | null;
  overBy: Unit | null;
  /** Those that it was held to. */
  limits: Limits;
  /** The strategy that took it, and the kind of output that it was chosen for, if it was. */
  strategy: string;
  kind: string | null;
  /** Faults of a strategy or of folding: a plain clamp stood in. A later cut may add to them. */
  faults: string[];
}

const NOTHING: Uint8Array = new Uint8Array(0);

/** Starts a clamp. An output is held whole while it may be within its limits; folding and choosing begin once it is not. */
export function startClamp(request: ClampRequest): Clamp {
  return new RunningClamp(request);
}

class RunningClamp implements Clamp {
  over = false;
  kind: string | null = null;
  #request: ClampRequest;
  readonly #capacity: number;
  readonly #scan = newScan();
  /** What came and was not handed to a strategy yet: one that chooses by a sample waits for it. */
  #waiting = new GrowingBytes();
  readonly #sample = new GrowingBytes();
  #strategy: Strategy;
  #isStarted = false;
  #sieve: Sieve | null = null;
  #fold: Fold | null = null;
  /** Sees the source as it comes, and stands in should the strategy or folding fail. */
  #plain: Sieve | null = null;
  /** Of the characters, those of an exit line that came with the output: they do not count for how short it is. */
  #exitChars = MOST_EXIT_CHARS;
  readonly #faults: string[] = [];
  /** All that came, while folding may leave room for more of it; else null. */
  #raw: GrowingBytes | null = new GrowingBytes();

  constructor(request: ClampRequest) {
    this.#request = request;
    this.#strategy = request.strategy;
    this.#capacity = capacityBytes(request.limits, request.counter);
  }

  get heldBytes(): Uint8Array {
    return this.over ? NOTHING : this.#waiting.bytes;
  }

  add(bytes: Uint8Array): Uint8Array {
    if (bytes.length === 0) return NOTHING;
    const { bytes: from, breaks, high } = this.#scan;
    if (from < SAMPLE_BYTES) this.#sample.add(bytes.subarray(0, SAMPLE_BYTES - from));
    scanBytes(this.#scan, bytes);
    let before: Uint8Array = NOTHING;
    if (!this.over && this.#surelyOver()) {
      before = this.heldBytes;
      this.over = true;
    }
    if (this.over && !this.#isStarted && this.#canStart()) this.#start();
    const isAscii = this.#scan.high === high;
    if (this.#isStarted) this.#feed(bytes, from, breaks + 1, this.#scan.breaks - breaks, isAscii ? bytes.length : -1);
    else this.#waiting.add(bytes);
    return before;
  }

  end(close: (text: string) => string, exitCode = this.#request.exitCode): Clamped {
    const total: Total = {
      bytes: this.#scan.bytes,
      lines: scannedLines(this.#scan),
      chars: scannedChars(this.#scan),
      breaks: this.#scan.breaks,
    };
    const text = this.over ? null : decode(this.heldBytes);
    this.#exitChars = text === null ? 0 : exitCharsOf(text, close);
    const limits = this.#limitsFor(total.chars);
    const facts = { total, limits, sample: this.#sample.bytes, faults: this.#faults };
    const result = { ...facts, strategy: this.#strategy.name, kind: null };
    const overBy = this.#overBy(total, text === null ? null : close(text));
    if (overBy === null) {
      return { ...result, within: text, replaced: isReplaced(text ?? "", this.heldBytes), cutter: null, overBy };
    }
    this.over = true;
    if (!this.#isStarted) this.#start();
    this.#attempt(() => this.#fold?.end());
    const cutter = this.#endSieves(total, exitCode);
    const strategy = cutter.strategy ?? this.#strategy.name;
    return { ...result, within: null, replaced: false, cutter, overBy, strategy, kind: this.kind };
  }

  /** A strategy that chooses by the sample must see all of it, names are told from common words by it, and each must know which limits apply, however the output was chunked. */
  #canStart(): boolean {
    const { shortChars = 0, focus } = this.#request;
    const needsSample = this.#strategy.choose !== undefined || (focus?.names ?? 0) !== 0;
    return (!needsSample || this.#scan.bytes >= SAMPLE_BYTES) && this.#scan.chars - this.#exitChars >= shortChars;
  }

  #limitsFor(chars: number): Limits {
    return limitsFor(this.#request, chars - this.#exitChars);
  }

  /** Cheap and sure; the rest is decided at the end, on what was held. */
  #surelyOver(): boolean {
    const { bytes, chars } = this.#scan;
    const { maxChars, maxLines } = this.#limitsFor(chars);
    if (bytes > this.#capacity || (maxChars !== undefined && chars > maxChars)) return true;
    return maxLines !== undefined && scannedLines(this.#scan) > maxLines;
  }

  #overBy(total: Total, shown: string | null): Unit | null {
    const { counter } = this.#request;
    const limits = this.#limitsFor(total.chars);
    if (shown === null) return overBudget({ ...total, tokens: 0 }, budgetOf(limits)) ?? "tokens";
    // An invalid byte is shown as three, and tokens do not add up: what is shown is measured as a whole.
    const free: TokenCounter = limits.maxTokens === undefined ? { ...counter, count: () => 0 } : counter;
    return overBudget(measureText(shown, free), budgetOf(limits));
  }

  #start(): void {
    this.#isStarted = true;
    this.#request = { ...this.#request, limits: this.#limitsFor(scannedChars(this.#scan)) };
    const { strategy, fold, focus } = this.#request;
    if (fold || strategy !== headTail) this.#plain = headTail.start(this.#request);
    this.#attempt(() => {
      const choice = strategy.choose?.(this.#sample.bytes, this.#request);
      this.#strategy = choice?.strategy ?? strategy;
      this.kind = choice?.kind ?? null;
      const sieve = this.#strategy.start(this.#request);
      if (typeof sieve?.add !== "function") throw new Error("it gave nothing to add to");
      this.#sieve = sieve;
      // A fold of many lines could hide the one that somebody is after.
      if (fold && !this.#strategy.exact && (focus === undefined || focus.isSoft))
        this.#fold = startFold((span) => sieve.add(span), 1, namedLines(focus, this.#sample.bytes));
    });
    if (this.#waiting.length > 0) this.#feed(this.#waiting.bytes, 0, 1);
    this.#waiting = new GrowingBytes();
  }

  #feed(bytes: Uint8Array, from: number, line: number, breaks = -1, chars = -1): void {
    const span: Span = { kind: "source", bytes, from, to: from + bytes.length, line, breaks, chars };
    this.#plain?.add(span);
    this.#attempt(() => {
      if (this.#fold !== null) this.#fold.add(bytes, from, line, chars === bytes.length);
      else this.#sieve?.add(span);
    });
    if (this.#fold !== null) this.#holdRaw(bytes);
  }

  /** An output that is not much longer than what may be shown is held, in case folding leaves room for more of it. */
  #holdRaw(bytes: Uint8Array): void {
    if (this.#raw === null) return;
    const isTooLong = this.#raw.length + bytes.length > Math.min(RAW_ROOMS * this.#capacity, MOST_RAW_BYTES);
    if (isTooLong) this.#raw = null;
    else this.#raw.add(bytes);
  }

  /** What came, once more, with so many lines at each end of what is folded by shape. */
  #foldAgain(raw: GrowingBytes, ends: number): Sieve {
    const sieve = this.#strategy.start(this.#request);
    const fold = startFold((span) => sieve.add(span), ends, namedLines(this.#request.focus, this.#sample.bytes));
    fold.add(raw.bytes, 0, 1);
    fold.end();
    return sieve;
  }

  #endSieves(total: Total, exitCode: number | undefined): Cutter {
    const plain = this.#plain?.end(total);
    let cutter: Cutter | null = null;
    this.#attempt(() => {
      cutter = this.#sieve?.end(total, exitCode, plain) ?? null;
    });
    const { strategy = undefined } = (cutter ?? {}) as Partial<Cutter>;
    let shownBy: Cutter | null = cutter;
    const wider = new Map<number, Cutter>();
    const cutterWith = (raw: GrowingBytes, ends: number): Cutter => {
      const made = wider.get(ends) ?? this.#foldAgain(raw, ends).end(total, exitCode, plain);
      wider.set(ends, made);
      return made;
    };
    return {
      ...(strategy !== undefined && { strategy }),
      cut: (room) => {
        let cut: Cut | null = null;
        this.#attempt(() => {
          cut = cutter === null ? null : checkCut(cutter.cut(room), total);
          shownBy = cutter;
          const raw = this.#raw;
          if (cut === null || raw === null || !hasRoom(cut)) return;
          const wider = mostUnfolded((ends) => cutterWith(raw, ends).cut(room));
          if (wider === null) return;
          cut = checkCut(wider.cut, total);
          shownBy = cutterWith(raw, wider.ends);
        });
        return cut ?? (plain as Cutter).cut(room);
      },
      explain: (cut) => {
        let blocks: ExplainedBlock[] | null = null;
        this.#attempt(() => {
          blocks = shownBy?.explain?.(cut) ?? null;
        });
        return blocks ?? explainPlainly(cut, this.#strategy.name);
      },
    };
  }

  /** After a fault the plain clamp goes on alone; without one to stand in the fault is thrown. */
  #attempt(act: () => void): void {
    if (this.#faults.length > 0) return;
    try {
      act();
    } catch (error) {
      if (this.#plain === null) throw error;
      this.#faults.push(`strategy ${this.#strategy.name} failed: ${messageOf(error)}`);
    }
  }
}

/** No exit line is longer, its line break included. */
const MOST_EXIT_CHARS = 64;

/** The characters of the exit line of a text that comes a second time; 0 for one that has none. */
function exitCharsOf(text: string, close: (text: string) => string): number {
  const chars = text.length - text.lastIndexOf("\n");
  return chars <= MOST_EXIT_CHARS && close("x") !== "x" && close(text) === text ? chars : 0;
}

/** So many times what may be shown is held, and not more: memory is that of the limits, whatever the output. */
const RAW_ROOMS = 4;
const MOST_RAW_BYTES = 1024 * 1024;

/** Returns true if lines were left out by folding alone: nothing else is missing, so there may be room for some of them. */
function hasRoom({ parts }: Cut): boolean {
  const gaps = parts.filter((part) => !("text" in part)) as Gap[];
  return gaps.length > 0 && gaps.every(({ noted }) => noted);
}

/** The search for more ends once this share of what is found is not worth another try. */
const NEAR_SHARE = 1 / 16;

/** About the most lines at each end of what is folded by shape with which nothing else is missing; null if none more than one. */
function mostUnfolded(cutWith: (ends: number) => Cut): { ends: number; cut: Cut } | null {
  let best: { ends: number; cut: Cut } | null = null;
  let fails = Number.POSITIVE_INFINITY;
  for (let ends = 4; ; ) {
    const cut = cutWith(ends);
    const isAll = cut.omitted.bytes === 0;
    if (isAll || hasRoom(cut)) best = { ends, cut };
    else fails = ends;
    const fits = best?.ends ?? 1;
    if (isAll || fails - fits <= Math.max(1, fits * NEAR_SHARE)) return best;
    ends = fails === Number.POSITIVE_INFINITY ? 4 * ends : (fits + fails) >> 1;
  }
}

/** For strategies that do not explain themselves: what is shown and what is not. */
function explainPlainly(cut: Cut, kind: string): ExplainedBlock[] {
  return cut.parts.map((part) => {
    const shown = "text" in part;
    const [fromLine, toLine] = shown ? part.lines : [part.fromLine, part.toLine];
    return { fromLine, toLine, shown, kind, score: 0, features: [], line: "" };
  });
}

/** A cut of a strategy that somebody handed in may be anything: it is believed only if it adds up. */
function checkCut(cut: Cut, total: Total): Cut {
  const { kept, folded, omitted, parts } = cut;
  for (const unit of ["bytes", "lines"] as const) {
    const all = [kept[unit], folded[unit], omitted[unit]];
    if (
      !all.every((part) => Number.isSafeInteger(part) && part >= 0) ||
      all.reduce((sum, part) => sum + part) !== total[unit]
    ) {
      throw new Error(`its cut does not add up: ${all.join(" + ")} ${unit} of ${total[unit]}`);
    }
  }
  for (const part of parts)
    if ("text" in part && !part.text.isWellFormed()) throw new Error("its cut has half a character");
  return { ...cut, total };
}
