import type { Sightings } from "./redaction-rule.ts";

/** What was replaced before a place of the redacted stream. */
export interface ReplacedBefore {
  markBytes: number;
  /** Source bytes that they stand for. */
  secretBytes: number;
  /** Source lines of which nothing else is left. */
  lines: number;
}

/** One mark in the redacted stream, and what came before it. */
interface Mark {
  at: number;
  length: number;
  secretBytes: number;
  lines: number;
  before: ReplacedBefore;
}

/** Marks remembered from the start, and as many from the end: more than limits of a megabyte can show. */
const HELD_MARKS = 16_384;
const BREAK = 10;
const RETURN = 13;
const NOTHING: ReplacedBefore = { markBytes: 0, secretBytes: 0, lines: 0 };

/**
 * Remembers where secrets were replaced, so that what is shown of a redacted stream can be told in bytes and lines of
 * its source. Memory is bounded: between the first marks and the last ones their places are taken to be even.
 */
export class Replacements implements Sightings {
  readonly #first: Mark[] = [];
  #last: Mark[] = [];
  #current: Mark | null = null;
  #at = 0;
  #sum: ReplacedBefore = { ...NOTHING };
  /** What the line that goes on has had so far. */
  #line: "nothing" | "marks" | "others" = "nothing";

  /** Source bytes that were handed on as they came. */
  passed(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#at += bytes.length;
    if (this.#line === "marks") {
      const rest = bytes[0] === RETURN ? 1 : 0;
      if (rest === bytes.length) return;
      if (bytes[rest] === BREAK) this.#countLine();
    }
    this.#line = bytes[bytes.length - 1] === BREAK ? "nothing" : "others";
  }

  /** A mark was handed on in a secret's place. */
  mark({ length }: Uint8Array): void {
    const mark: Mark = { at: this.#at, length, secretBytes: 0, lines: 0, before: { ...this.#sum } };
    if (this.#first.length < HELD_MARKS) this.#first.push(mark);
    else {
      this.#last.push(mark);
      if (this.#last.length >= 2 * HELD_MARKS) this.#last = this.#last.slice(-HELD_MARKS);
    }
    this.#current = mark;
    this.#at += length;
    this.#sum.markBytes += length;
    if (this.#line === "nothing") this.#line = "marks";
  }

  /** The last mark stands for this many source bytes more. */
  covered(bytes: number): void {
    if (this.#current !== null) this.#current.secretBytes += bytes;
    this.#sum.secretBytes += bytes;
  }

  end(): void {
    if (this.#line === "marks") this.#countLine();
    this.#line = "others";
  }

  /** What was replaced before byte `at` of the redacted stream. A mark's secret counts where the mark begins. */
  before(at: number): ReplacedBefore {
    const next = this.#last[0];
    if (next !== undefined && at > next.at) return insideOf(lastBefore(this.#last, at), at);
    const mark = lastBefore(this.#first, at);
    if (mark === undefined) return NOTHING;
    const here = insideOf(mark, at);
    const isLastOfFirst = mark === this.#first.at(-1);
    return next === undefined || !isLastOfFirst ? here : between(mark, here, next, at);
  }

  #countLine(): void {
    if (this.#current !== null) this.#current.lines = 1;
    this.#sum.lines += 1;
  }
}

function lastBefore(marks: readonly Mark[], at: number): Mark | undefined {
  let low = 0;
  let high = marks.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((marks[middle] as Mark).at < at) low = middle + 1;
    else high = middle;
  }
  return marks[low - 1];
}

function insideOf(mark: Mark | undefined, at: number): ReplacedBefore {
  if (mark === undefined) return NOTHING;
  const { before } = mark;
  return {
    markBytes: before.markBytes + Math.min(at - mark.at, mark.length),
    secretBytes: before.secretBytes + mark.secretBytes,
    lines: before.lines + mark.lines,
  };
}

/** Past the last of the first marks: marks that were forgotten may stand there. */
function between(mark: Mark, here: ReplacedBefore, { at: nextAt, before }: Mark, at: number): ReplacedBefore {
  const start = mark.at + mark.length;
  if (at <= start || nextAt <= start) return here;
  const share = (at - start) / (nextAt - start);
  const even = (from: number, to: number) => from + Math.floor((to - from) * share);
  return {
    markBytes: even(here.markBytes, before.markBytes),
    secretBytes: even(here.secretBytes, before.secretBytes),
    lines: even(here.lines, before.lines),
  };
}
