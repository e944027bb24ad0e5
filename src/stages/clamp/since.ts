import type { ChangedLine, MovedCount, RunChanges } from "../../contract/run-changes.ts";
import type { KnownLines } from "../../contract/strategy.ts";
import { LineScan } from "./signal/scan-line.ts";

const encoder = new TextEncoder();
/** So much of a line tells what sort of line it is. */
const MAX_CHARS = 600;
/** So much of a line is shown, and so much in all is held for that. */
const MAX_SHOWN_CHARS = 4000;
const MOST_HELD_CHARS = 4_000_000;
/** So many sorts of lines are told apart in a run. */
const MOST_SORTS = 50_000;
/** So many lines are shown of what is new, of what is gone and of what moved. */
const MOST_SHOWN = 500;

const [ESCAPE, BELL] = ["\x1b", "\x07"];
const CODES = new RegExp(
  String.raw`${ESCAPE}(?:\[[0-?]*[ -/]*[@-~]|\][^${BELL}${ESCAPE}]*(?:${BELL}|${ESCAPE}\\)?|[@-Z\\^_])`,
  "g",
);
/** What a terminal obeys and no reader needs. */
const CONTROLS = /(?!\t)\p{Cc}/gu;
const UNIT = String.raw`(?:n|u|\u00b5|m)?s|secs?|seconds?|m|mins?|minutes?|h|hours?|d|days?|[kmgt]?i?b|bytes?|%`;
/**
 * What differs from run to run and tells nothing: temporary paths, addresses, hashes, dates, and numbers with their units.
 * No part looks past where it could begin again: a line takes time by its length.
 */
const CHANGING = new RegExp(
  [
    String.raw`(?:/private)?(?:/var)?/(?:tmp|folders)/[^\s"'\`,;)\]]*`,
    String.raw`[a-z]:\\[^\s"'\`,;)\]:]*\\te?mp\\[^\s"'\`,;)\]]*`,
    String.raw`0x[\da-f]+`,
    String.raw`(?<![\da-z])[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}(?![\da-z])`,
    String.raw`(?:(?<![\da-z])|(?<=(?<![a-z])[a-z]))(?=[a-f]{0,40}\d)[\da-f]{7,64}(?![\da-z])`,
    String.raw`(?<![a-z])(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6},?(?= +(?:\d|[a-z]{3} +\d))`,
    String.raw`(?<![a-z])(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?(?=[ -]+\d)`,
    String.raw`\d+(?:[.,:]\d+)*(?: ?(?:${UNIT})(?![\da-z]))?`,
  ].join("|"),
  "gi",
);

/**
 * What sort of line it is: the line without what differs from run to run. Two lines of one template tell the same, but for
 * what they count.
 */
export function templateOf(line: string): string {
  const text = line.length > MAX_CHARS ? line.slice(0, MAX_CHARS) : line;
  return text
    .replace(CODES, "")
    .replace(CHANGING, "#")
    .replace(/#(?:[\s.,:/TZ+-]*#)+/g, "#")
    .replace(/\s+/g, " ")
    .trim();
}

/** The lines of an output that comes in pieces. A line that a carriage return took back counts as one of its own. */
class TextLines {
  readonly #decoder = new TextDecoder();
  readonly #take: (line: string) => void;
  #rest = "";

  constructor(take: (line: string) => void) {
    this.#take = take;
  }

  add(bytes: Uint8Array): void {
    this.#split(this.#decoder.decode(bytes, { stream: true }));
  }

  end(): void {
    this.#split(this.#decoder.decode());
    if (this.#rest !== "") this.#take(this.#rest);
    this.#rest = "";
  }

  #split(text: string): void {
    const lines = (this.#rest + text).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() as string;
    // A line without an end is not held whole.
    if (this.#rest.length > 2 * MAX_SHOWN_CHARS) this.#rest = this.#rest.slice(0, MAX_SHOWN_CHARS);
    for (const line of lines) this.#take(line);
  }
}

/** The sorts of lines of a run, for telling which lines of another run are new. */
export class RunLines implements KnownLines {
  readonly sorts = new Map<string, Sort>();
  lines = 0;
  #held = 0;
  readonly #scan = new LineScan();
  /** Hashes of their words, without names. */
  readonly #words = new Set<number>();
  readonly #lines = new TextLines((line) => this.take(line));

  add(bytes: Uint8Array): void {
    this.#lines.add(bytes);
  }

  end(): this {
    this.#lines.end();
    return this;
  }

  take(line: string): void {
    this.lines++;
    const template = templateOf(line);
    if (template === "") return;
    const sort = this.sorts.get(template);
    if (sort !== undefined) {
      sort.count++;
      sort.last = line.slice(0, MAX_CHARS);
    } else if (this.sorts.size < MOST_SORTS) {
      const most = this.#held < MOST_HELD_CHARS ? MAX_SHOWN_CHARS : MAX_CHARS;
      const text = line.slice(0, most).replace(CODES, "").replace(CONTROLS, "").toWellFormed();
      this.#held += text.length;
      const bytes = encoder.encode(text);
      this.#scan.scan(bytes, 0, bytes.length);
      const { score, template: words } = this.#scan;
      this.#words.add(words);
      this.sorts.set(template, { count: 1, line: this.lines, first: text, last: text, score, words });
    }
  }

  novelty(line: string, words: number): 0 | 0.5 | 1 {
    const template = templateOf(line);
    if (template === "" || this.sorts.has(template)) return 0;
    return this.#words.has(words) ? 0.5 : 1;
  }
}

/** Lines of one template. */
interface Sort {
  count: number;
  /** Where the first of them stands, and where the last. */
  line: number;
  first: string;
  last: string;
  score: number;
  words: number;
}

const NAMED_COST = 3;

/** How one run differs from the run before it, by the sorts of their lines: their order does not count. */
export function compareRuns(before: RunLines, after: RunLines): RunChanges {
  const only = (one: RunLines, other: RunLines): ChangedLine[] =>
    [...one.sorts].flatMap(([template, { line, first, count, score, words }]) => {
      if (other.sorts.has(template)) return [];
      // Lines that differ only in names are many, and each tells less.
      const isNamed = other.novelty(first, words) < 1;
      return [{ line, text: first.trimEnd(), count, score: score - (isNamed ? NAMED_COST : 0) }];
    });
  const added = only(after, before);
  const gone = only(before, after);
  const moved: MovedCount[] = [];
  for (const [template, { line, last }] of after.sorts) {
    const old = before.sorts.get(template);
    const counts = old === undefined ? [] : movedCounts(old.last, last);
    if (counts.length > 0) moved.push({ line, counts });
  }
  const same = after.sorts.size - added.length;
  return {
    added: telling(added),
    gone: telling(gone),
    moved: moved.slice(0, MOST_SHOWN),
    total: { added: added.length, gone: gone.length, moved: moved.length, same },
  };
}

/** Those that tell most, in their order. */
function telling(lines: ChangedLine[]): ChangedLine[] {
  if (lines.length <= MOST_SHOWN) return lines;
  return lines
    .toSorted((a, b) => b.score - a.score)
    .slice(0, MOST_SHOWN)
    .sort((a, b) => a.line - b.line);
}

/** Words of which a summary says how many there are. What else has a number (a port, a line, a size) is no count. */
const COUNTED = String.raw`(?:un|de)?(?:fail|err|warn|pass|skip|pend|ignor|total|test|suite|assert|problem|issue|vulnerab|violat|finding|add|remov|chang|updat|packag|file|todo|ok|succe|flak|broken|cases|example|spec|check|retr|timed|timeout|killed|crash|select|xfail|unchang|unreach|rescu|match)[a-z]*`;
const COUNT = new RegExp(
  String.raw`(?<![\w.:#=])(?<first>\d+(?:,\d{3})*)(?: [a-z]+)? (?<what>${COUNTED})(?![a-z])|(?<![a-z])(?<named>${COUNTED})(?: [a-z]+)?(?:: *| *= *)(?<then>\d+(?:,\d{3})*)(?![\w.:])(?! ${COUNTED}(?![a-z]| *[:=]))`,
  "gi",
);

/** The counts that two lines of one template do not share. */
function movedCounts(before: string, after: string): string[] {
  if (before === after) return [];
  const counts = (line: string) => [...line.replace(CODES, "").matchAll(COUNT)];
  const old = counts(before);
  return counts(after).flatMap(({ 0: text, groups = {} }, at) => {
    const { first = groups.then, what = groups.named } = groups;
    const was = old[at]?.groups ?? {};
    const isSame = (was.first ?? was.then) === first || (was.what ?? was.named) !== what;
    return isSame ? [] : [`${old[at]?.[0]} -> ${text}`];
  });
}
