import type { SearchRequest } from "../contract/searcher.ts";
import { SpillwayError } from "../errors.ts";
import { NUMBERS } from "../stages/policy/defaults.ts";

/** What to find in an artifact. */
export interface SearchQuery {
  pattern: string;
  /** The pattern is the text itself, not a regular expression. */
  literal?: boolean;
  ignoreCase?: boolean;
  /** Lines before and after each match. */
  context?: number;
  /** Matching lines given at most; 0 only counts. */
  max?: number;
  /** Matches from this line on: `next` of the page before. */
  from?: number;
}

/** An expression that says the text itself, with signs escaped that would mean something else. */
const PLAIN = /^(?:[\w\s:;,=<>@%"'/!-]|\\[\\.+*?()|[\]{}^$#&~-])+$/;

/** Checks a query as it comes from a model. */
export function checkQuery(query: SearchQuery): SearchRequest {
  const { pattern, literal = false, ignoreCase = false } = query;
  const most = NUMBERS.searchPatternChars.default;
  if (typeof pattern !== "string" || pattern === "") throw bad("The pattern is empty: say what to find.");
  if (pattern.length > most) throw bad(`The pattern has ${pattern.length} characters; at most ${most} are allowed.`);
  if (/\n/.test(pattern))
    throw bad("The pattern has a line break; a match lies within one line, so search for one line.");
  if (!literal && (/\\*$/.exec(pattern)?.[0].length ?? 0) % 2 === 1)
    throw bad("The pattern ends with a backslash: double it, or search for the text itself (literal, -F).");
  const isPlain = !literal && PLAIN.test(pattern);
  return {
    pattern: (isPlain ? pattern.replace(/\\(.)/g, "$1") : pattern).toWellFormed(),
    // Plain words need no expression, and are found faster.
    literal: literal || isPlain,
    ignoreCase,
    fromLine: count("from", query.from, 1, 1, Number.MAX_SAFE_INTEGER),
    maxHits: count("max", query.max, NUMBERS.searchMatches.default, 0, NUMBERS.searchMatches.ceiling),
    deadlineMs: NUMBERS.searchDeadlineMs.default,
  };
}

/** A count that may be left out; more than there may be is the most there may be. */
export function count(name: string, value: unknown, usual: number, least: number, most: number): number {
  if (value === undefined) return usual;
  if (typeof value === "number" && value >= least && (Number.isInteger(value) || value === Infinity)) {
    return Math.min(value, most);
  }
  throw bad(`${name} must be a whole number from ${least}; got ${String(value).slice(0, 40)}`);
}

function bad(message: string): SpillwayError {
  return new SpillwayError("bad-input", message);
}
