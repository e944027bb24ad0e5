import type { LinePatterns } from "../../../contract/policy.ts";
import type { Focus } from "../../../contract/strategy.ts";
import { badInput, messageOf, SpillwayError } from "../../../errors.ts";
import { MOST_PATTERNS } from "../../policy/check-row.ts";
import { NUMBERS } from "../../policy/defaults.ts";
import type { ByteSet } from "../../redact/byte-set.ts";
import { type Part, readPattern } from "../../redact/read-pattern.ts";
import { isCommon } from "./compile-intent.ts";
import { MOST_WORDS, wordFinder } from "./find-words.ts";

/** A longer line is looked at in its first bytes. */
const MAX_LINE_BYTES = 4096;

/**
 * The steps that the patterns of one output may take together, and those that each byte of a line adds for each pattern. A
 * project's file may come with patterns that take hundreds for each byte.
 */
const MOST_STEPS = 50_000_000;
const BYTE_STEPS = 8;

/** What is left of them, and what there is to say if it was not enough. */
class Work {
  left = MOST_STEPS;
  readonly faults: string[] = [];

  /** False once the patterns took too much. */
  begin(bytes: number): boolean {
    if (this.left > 0) this.left += bytes * BYTE_STEPS;
    else if (this.faults.length === 0)
      this.faults.push("patterns of lines took too many steps; they were left out for the rest of the output");
    return this.left > 0;
  }
}

/**
 * What a caller or a model is after: words, any of which may stand in a line in either case (lines with all of them come
 * first, "quoted words" stand together), or a pattern, `/timed out after \d+/i`. Throws a SpillwayError "bad-input" that
 * says what is wrong.
 */
export function compileFocus(focus: string | RegExp, work = new Work()): Focus {
  const text = focus instanceof RegExp ? `/${focus.source}/${focus.flags}` : focus;
  if (typeof text !== "string") throw badInput(`focus must be words or a pattern; got ${typeof text}`);
  const most = NUMBERS.focusChars.default;
  if (text.length > most) throw badInput(`focus is over ${most} characters`);
  const pattern = /^\/(.+)\/([a-z]*)$/s.exec(text);
  const { words, find, starts } =
    pattern === null ? wordsFocus(text) : patternFocus(pattern[1] as string, pattern[2] as string, work);
  const { faults } = work;
  return {
    words,
    faults,
    find: (line) => find(line.length > MAX_LINE_BYTES ? line.subarray(0, MAX_LINE_BYTES) : line),
    ...(starts && { starts }),
  };
}

/**
 * The lines that a policy's rows name, with what a call seems to be for. Of each list the strongest rows' count. Throws a
 * SpillwayError "bad-policy" that says what is wrong with a pattern.
 */
export function compileLines(lines: LinePatterns, intent: Focus | undefined): Focus | undefined {
  const keep = lines.keep.slice(-MOST_PATTERNS);
  const drop = lines.drop.slice(-MOST_PATTERNS);
  const all = [...keep, ...drop, ...lines.focus.slice(-MOST_PATTERNS)];
  const { length } = all;
  if (length === 0) return intent;
  const work = new Work();
  const finds = all.map((written) => lineFinder(written, work));
  const shifted = (found: number) => (found * 2 ** length) & 0x7fffffff;
  const keeps = 2 ** keep.length - 1;
  const drops = (2 ** drop.length - 1) * 2 ** keep.length;
  return {
    words: Math.min(MOST_WORDS, length + (intent?.words ?? 0)),
    find: (line) => {
      const found = intent === undefined ? 0 : shifted(intent.find(line));
      return finds.reduce((sum, find, at) => (find(line) !== 0 ? sum | (1 << at) : sum), found);
    },
    faults: work.faults,
    isSoft: true,
    texts: [...all.map(() => ""), ...(intent?.texts ?? [])].slice(0, MOST_WORDS),
    keeps,
    drops,
    names: (2 ** length - 1 - drops) | shifted(intent?.names ?? 0),
  };
}

/** Finds one text, in either case, or one pattern. */
function lineFinder(written: string, work: Work): Focus["find"] {
  try {
    const text = written.trim();
    return compileFocus(/^\/.+\/[a-z]*$/.test(text) ? text : `"${text.replaceAll('"', "")}"`, work).find;
  } catch (error) {
    throw new SpillwayError("bad-policy", `${JSON.stringify(written.slice(0, 80))}: ${messageOf(error)}`);
  }
}

function patternFocus(pattern: string, flags: string, work: Work): Focus {
  const matches = checkedMatcher(pattern, flags, work);
  return { words: 1, find: (line) => (matches(line) ? 1 : 0) };
}

function checkedMatcher(pattern: string, flags: string, work: Work): (line: Uint8Array) => boolean {
  try {
    return patternMatcher(pattern, flags.includes("i"), work);
  } catch (error) {
    throw badInput(`focus pattern: ${messageOf(error)}`);
  }
}

function wordsFocus(text: string): Focus {
  const words = [...text.matchAll(/"([^"]+)"|(\S+)/g)].map(([, quoted, word = ""]) => quoted ?? withoutEnd(word));
  if (words.length === 0) throw badInput("focus has no words");
  // A question has words that say nothing about what is looked for.
  const telling = words.filter((word) => !isCommon(word));
  const sought = (telling.length > 0 ? telling : words).slice(0, MOST_WORDS);
  return { words: sought.length, ...wordFinder(sought.map((word) => ({ text: word, isWord: false }))) };
}

/** A word without the mark that ends a sentence or a part of one. */
function withoutEnd(word: string): string {
  return word.replace(/(?<=[\p{L}\d])[?!.,;:]+$/u, "");
}

/** A state of a pattern: takes a byte of `set`, or is passed through for nothing to each of `next`. */
interface State {
  set: ByteSet | null;
  /** Only at the line's start, or at its end. */
  only?: "^" | "$";
  next: number[];
}

/** A pattern may come to this many states; its time is this times the line's length at most. */
const MAX_STATES = 500;
const MAX_COUNT = 50;

/**
 * Finds a pattern anywhere in a line: every state at once, so that no line takes longer than its length asks for. Throws an
 * Error that says what is wrong with the pattern.
 */
function patternMatcher(pattern: string, ignoreCase: boolean, work: Work): (line: Uint8Array) => boolean {
  const { states, start } = statesOf(readPattern(pattern, ignoreCase));
  // Those of a byte, and then all that they pass through for nothing.
  const list = new Uint32Array(2 * states.length + 1);
  const coming = new Uint32Array(states.length);
  const seen = new Uint32Array(states.length);
  let round = 0;

  /** Adds to the first `count` of the list all that is passed through for nothing; how many there are then, -1 at the pattern's end. */
  function reach(count: number, isStart: boolean, isEnd: boolean): number {
    round++;
    let length = count;
    for (let at = 0; at < length; at++) {
      const index = list[at] as number;
      if (index === 0) return -1;
      const state = states[index] as State;
      if (state.set !== null) continue;
      if (state.only === "^" ? !isStart : state.only === "$" ? !isEnd : false) continue;
      for (const next of state.next) {
        if (seen[next] === round) continue;
        seen[next] = round;
        list[length++] = next;
      }
    }
    return length;
  }

  /** Puts into the list what comes after a byte; how many there are. */
  function pass(length: number, byte: number): number {
    round++;
    let count = 0;
    for (let at = 0; at < length; at++) {
      const state = states[list[at] as number] as State;
      if (state.set === null || state.set[byte] === 0) continue;
      for (const next of state.next) {
        if (seen[next] === round) continue;
        seen[next] = round;
        coming[count++] = next;
      }
    }
    for (let at = 0; at < count; at++) list[at + 1] = coming[at] as number;
    return count;
  }

  return (line) => {
    if (!work.begin(line.length)) return false;
    let count = 0;
    for (let at = 0; at <= line.length; at++) {
      // A match may begin at any byte.
      list[0] = start;
      const length = reach(count + 1, at === 0, at === line.length);
      if (length === -1) return true;
      work.left -= length;
      if (at < line.length) count = pass(length, line[at] as number);
    }
    return false;
  };
}

/** The states of a pattern: state 0 is its end, `start` where it begins. */
function statesOf(ways: readonly Part[][]): { states: State[]; start: number } {
  const states: State[] = [{ set: null, next: [] }];
  const add = (state: State): number => {
    if (states.length >= MAX_STATES) throw new Error(`it comes to over ${MAX_STATES} steps`);
    return states.push(state) - 1;
  };
  // Each takes the state that comes after and gives the one to begin at: a pattern is built from its end.
  const choice = (all: readonly Part[][], after: number): number =>
    add({ set: null, next: all.map((parts) => parts.reduceRight((next, part) => counted(part, next), after)) });
  const once = ({ atom }: Part, after: number): number => {
    if (atom.kind === "group") return choice(atom.ways, after);
    if (atom.kind === "byte") return add({ set: atom.set, next: [after] });
    if (atom.sign === "\\b") throw new Error('"\\b" is not supported');
    return add({ set: null, only: atom.sign, next: [after] });
  };
  const counted = (part: Part, after: number): number => {
    const { min, max } = part;
    if (min > MAX_COUNT || (max > MAX_COUNT && max !== Infinity)) throw new Error(`a count is over ${MAX_COUNT}`);
    let next = after;
    if (max === Infinity) {
      const loop: State = { set: null, next: [after] };
      next = add(loop);
      loop.next.push(once(part, next));
    } else for (let times = min; times < max; times++) next = add({ set: null, next: [after, once(part, next)] });
    for (let times = 0; times < min; times++) next = once(part, next);
    return next;
  };
  const start = choice(ways, 0);
  return { states, start };
}
