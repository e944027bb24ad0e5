import type { Focus } from "../../../contract/strategy.ts";
import { messageOf, SpillwayError } from "../../../errors.ts";
import { NUMBERS } from "../../policy/defaults.ts";
import { decode } from "../fit.ts";
import { patternMatcher } from "./match-pattern.ts";

/** A longer line is looked at in its first bytes. */
const MAX_LINE_BYTES = 4096;

/**
 * What a caller or a model is after: words, any of which may stand in a line in either case (lines with all of them come
 * first, "quoted words" stand together), or a pattern, `/timed out after \d+/i`. Throws a SpillwayError "bad-input" that
 * says what is wrong.
 */
export function compileFocus(focus: string | RegExp): Focus {
  const text = focus instanceof RegExp ? `/${focus.source}/${focus.flags}` : focus;
  if (typeof text !== "string")
    throw new SpillwayError("bad-input", `focus must be words or a pattern; got ${typeof text}`);
  const most = NUMBERS.focusChars.default;
  if (text.length > most) throw new SpillwayError("bad-input", `focus is over ${most} characters`);
  const pattern = /^\/(.+)\/([a-z]*)$/s.exec(text);
  const { matches, matchesAll } =
    pattern === null
      ? wordsFocus(text)
      : { matches: checkedMatcher(pattern[1] as string, pattern[2] as string), matchesAll: undefined };
  const start = (line: Uint8Array) => (line.length > MAX_LINE_BYTES ? line.subarray(0, MAX_LINE_BYTES) : line);
  return {
    matches: (line) => matches(start(line)),
    ...(matchesAll !== undefined && { matchesAll: (line) => matchesAll(start(line)) }),
  };
}

function checkedMatcher(pattern: string, flags: string): (line: Uint8Array) => boolean {
  try {
    return patternMatcher(pattern, flags.includes("i"));
  } catch (error) {
    throw new SpillwayError("bad-input", `focus pattern: ${messageOf(error)}`);
  }
}

function wordsFocus(text: string): Focus {
  const words = [...text.matchAll(/"([^"]+)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? "");
  if (words.length === 0) throw new SpillwayError("bad-input", "focus has no words");
  // Words one beside the other cannot take more than linear time, and the engine knows the cases of every script.
  const literals = words.map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"));
  const any = new RegExp(literals.join("|"), "iu");
  const each = literals.map((literal) => new RegExp(literal, "iu"));
  const hasAll = (line: string) => each.every((word) => word.test(line));
  return {
    matches: (line) => any.test(decode(line)),
    matchesAll: words.length === 1 ? undefined : (line) => hasAll(decode(line)),
  };
}
