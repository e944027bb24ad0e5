import type { SearchRequest } from "../contract/searcher.ts";
import type { Extent } from "../contract/size.ts";
import { badInput, nearestName, type SpillwayError } from "../errors.ts";
import { NUMBERS } from "../stages/policy/defaults.ts";

/** The match around which to read. */
export interface AroundPattern {
  pattern: string;
  literal?: boolean;
  ignoreCase?: boolean;
  /** Finds the first match at or after this line. */
  from?: number;
  context?: number;
}

/**
 * Says which part to read. Lines count from 1, and both ends are included. Bytes count from 0, and the end is not
 * included. A character belongs to the range that contains its first byte.
 */
export type RecallWant =
  | { lines: [from: number, to: number] }
  | { bytes: [from: number, to: number] }
  | { head: number }
  | { tail: number }
  | { around: { line: number; context?: number } | AroundPattern };

/** A want as places in the artifact. `keep` says which part stays if not all of it fits. */
export type Target =
  | { lines: [from: number, to: number]; keep: "start" }
  | { lines: [from: number, to: number]; keep: "end" }
  | { lines: [from: number, to: number]; keep: "around"; line: number; column: number }
  | { bytes: [from: number, to: number] }
  | { outside: { lines: [number, number] } | { bytes: [number, number] } };

const WANTS = new Set(["lines", "bytes", "head", "tail", "around"]);

/** Says where the first match is. */
export interface FoundPlace {
  line: number;
  column: number;
}

/** Checks a want and clips it to the artifact. Throws if the want is not valid. */
export function aim(want: Exclude<RecallWant, { around: AroundPattern }>, total: Extent): Target {
  const asked = Object.keys(want).filter((name) => WANTS.has(name));
  if (asked.length > 1)
    throw badInput(`Ask for one of lines, bytes, head, tail or around; got ${asked.join(" and ")}.`);
  if ("lines" in want) {
    const [from, to] = pair("lines", want.lines, 1);
    if (from > total.lines) return { outside: { lines: [from, to] } };
    return { lines: [from, Math.min(to, total.lines)], keep: "start" };
  }
  if ("bytes" in want) {
    const [from, to] = pair("bytes", want.bytes, 0);
    if (from >= total.bytes) return { outside: { bytes: [from, to] } };
    return { bytes: [from, Math.min(to, total.bytes)] };
  }
  if ("head" in want) return { lines: [1, Math.min(whole("head", want.head, 0), total.lines)], keep: "start" };
  if ("tail" in want) {
    return { lines: [Math.max(1, total.lines - whole("tail", want.tail, 0) + 1), total.lines], keep: "end" };
  }
  if ("around" in want) {
    if (typeof want.around !== "object" || want.around === null || !("line" in want.around)) {
      throw badInput(
        `around must be { line } or { pattern }; got ${JSON.stringify(want.around) ?? String(want.around)}`,
      );
    }
    const line = whole("line", want.around.line, 1);
    if (line > total.lines) return { outside: { lines: [line, line] } };
    return aimAround({ line, column: 0 }, want.around.context, total);
  }
  throw badInput("Ask for one of lines, bytes, head, tail or around.");
}

/** Returns the lines around a place. */
export function aimAround({ line, column }: FoundPlace, context: number | undefined, total: Extent): Target {
  const wide = whole("context", context ?? NUMBERS.recallContext.default, 0);
  return {
    lines: [Math.max(1, line - wide), Math.min(line + wide, total.lines)],
    keep: "around",
    line,
    column,
  };
}

/** Returns true if lines or bytes after the artifact's end were named. A want without an end names none. */
export function asksPastEnd(want: RecallWant, { bytes, lines }: Extent): boolean {
  const isPast = (to: number, last: number) => to > last && to < Number.MAX_SAFE_INTEGER;
  if ("lines" in want) return isPast(want.lines[1], lines);
  return "bytes" in want && isPast(want.bytes[1], bytes);
}

/** Returns true if a pattern must be found first. */
export function isAroundPattern(want: RecallWant): want is { around: AroundPattern } {
  return "around" in want && typeof want.around === "object" && want.around !== null && "pattern" in want.around;
}

function pair(name: string, value: unknown, least: number): [number, number] {
  if (!Array.isArray(value) || value.length !== 2) throw badInput(`${name} must be two numbers, first and last`);
  const from = whole(name, value[0], least);
  const to = whole(name, value[1], least);
  if (to < from) throw badInput(`${name} must go from the smaller number to the larger; got ${from}-${to}`);
  return [from, to];
}

function whole(name: string, value: unknown, least: number): number {
  if (value === Number.POSITIVE_INFINITY) return Number.MAX_SAFE_INTEGER;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= least) return value;
  throw badInput(`${name} must be a whole number from ${least}; got ${String(value).slice(0, 40)}`);
}

/** Says what to find in an artifact. */
export interface SearchQuery {
  pattern: string;
  /** Takes the pattern as the text itself, not as a regular expression. */
  literal?: boolean;
  ignoreCase?: boolean;
  /** The number of lines before and after each match. */
  context?: number;
  /** The most matching lines to return. 0 only counts. */
  max?: number;
  /** Returns matches from this line on. Use `next` of the page before. */
  from?: number;
}

/** Matches an expression that means just its own text, with the special characters escaped. */
const PLAIN = /^(?:[\w\s:;,=<>@%"'/!-]|\\[\\.+*?()|[\]{}^$#&~-])+$/;

/** Checks a query that may come from a model. Throws if it is not valid. */
export function checkQuery(query: SearchQuery): SearchRequest {
  const { pattern, literal = false, ignoreCase = false } = query;
  const most = NUMBERS.searchPatternChars.default;
  if (typeof query === "string") throw badInput(`Name what to find: { pattern: ${JSON.stringify(query)} }.`);
  if (typeof pattern !== "string" || pattern === "") throw badInput("The pattern is empty: say what to find.");
  if (pattern.length > most)
    throw badInput(`The pattern has ${pattern.length} characters; at most ${most} are allowed.`);
  if (/\n/.test(pattern))
    throw badInput("The pattern has a line break; a match lies within one line, so search for one line.");
  if (!literal && (/\\*$/.exec(pattern)?.[0].length ?? 0) % 2 === 1)
    throw badInput("The pattern ends with a backslash: double it, or search for the text itself (literal, -F).");
  const isPlain = !literal && PLAIN.test(pattern);
  return {
    pattern: (isPlain ? pattern.replace(/\\(.)/g, "$1") : pattern).toWellFormed(),
    // A plain text needs no expression, and is found faster as a literal.
    literal: literal || isPlain,
    ignoreCase,
    fromLine: count("from", query.from, 1, 1, Number.MAX_SAFE_INTEGER),
    maxHits: count("max", query.max, NUMBERS.searchMatches.default, 0, NUMBERS.searchMatches.ceiling),
    deadlineMs: NUMBERS.searchDeadlineMs.default,
  };
}

/** Returns an optional count. If it is absent, returns `usual`; if it is too large, returns `most`. */
export function count(name: string, value: unknown, usual: number, least: number, most: number): number {
  if (value === undefined) return usual;
  if (typeof value === "number" && value >= least && (Number.isInteger(value) || value === Infinity)) {
    return Math.min(value, most);
  }
  throw badInput(`${name} must be a whole number from ${least}; got ${String(value).slice(0, 40)}`);
}

/** Names that models use for an argument because other agents' tools call it so. */
const OTHER_NAMES: Record<string, readonly string[]> = {
  path: "file_path repo_path folder_path dir_path absolute_path target_file file filename folder directory dir".split(
    " ",
  ),
  pattern: ["query", "regex", "regexp", "glob", "name"],
  glob: ["include", "include_pattern", "file_pattern"],
  literal: ["fixed_strings"],
  ignore_case: ["case_insensitive", "-i"],
  show_context: ["context", "context_lines", "-C"],
  context: ["show_context", "context_lines", "-C"],
  max_results: ["max", "max_count", "max_matches", "head_limit", "limit"],
  max: ["max_results", "max_count", "max_matches", "head_limit", "limit"],
  start_line: ["offset", "from_line", "line_start"],
  end_line: ["to_line", "line_end"],
  cwd: ["workdir", "working_directory"],
};
const MAX_SHOWN_CHARS = 60;

/**
 * A model's arguments under the names of the tool's schema. `ignoreCase` is taken for `ignore_case`. An argument without a
 * value is left out. Throws for one that the tool does not have, and says which one is nearest.
 */
export function namedArguments(args: unknown, names: readonly string[]): Record<string, unknown> {
  if (args === undefined || args === null) return {};
  if (typeof args !== "object") {
    const got = typeof args === "string" ? `the text ${JSON.stringify(args.slice(0, MAX_SHOWN_CHARS))}` : typeof args;
    throw badInput(`the arguments must be an object of JSON; got ${got}`);
  }
  const known = new Map<string, string>();
  for (const name of names) for (const other of OTHER_NAMES[name] ?? []) known.set(bare(other), name);
  for (const name of names) known.set(bare(name), name);
  const named: Record<string, unknown> = {};
  for (const [given, value] of Object.entries(args)) {
    if (value === undefined || value === null) continue;
    const name = names.includes(given) ? given : known.get(bare(given));
    if (name === undefined) throw unknown(given, names);
    if (Object.hasOwn(named, name) && named[name] !== value) {
      throw badInput(`${name} was given twice, with different values; give it once`);
    }
    named[name] = value;
  }
  return named;
}

function bare(name: string): string {
  return name.toLowerCase().replaceAll(/(?<=.)[_-]/g, "");
}

function unknown(given: string, names: readonly string[]): SpillwayError {
  const near = nearestName(given, names);
  const meant = near === undefined ? "" : ` (did you mean ${near}?)`;
  const shown = JSON.stringify(given.slice(0, MAX_SHOWN_CHARS));
  const takes = names.length === 0 ? "this tool takes none" : `there are ${names.join(", ")}`;
  return badInput(`there is no argument ${shown}${meant}; ${takes}`);
}
