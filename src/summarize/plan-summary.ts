import type { Limits } from "../contract/limits.ts";
import type { Size, Total } from "../contract/size.ts";
import { splitsPair } from "../stages/measure/scan.ts";
import { NUMBERS } from "../stages/policy/defaults.ts";
import type { SummaryTarget } from "./summary-prompt.ts";

/** Says how one output is summarised. */
export interface SummaryPlan {
  /** The size of the final summary. */
  target: SummaryTarget;
  /** The size of each part's summary, or null if one call reads the whole output. */
  part: SummaryTarget | null;
}

/** Models count badly, so they are asked for less than what fits. */
const ASKED_SHARE = 0.8;
const CHARS_PER_TOKEN = 2;

/**
 * Plans the summary of an output. `markers` is the size of the text around it. Returns a text that says why if there is
 * no plan.
 */
export function planSummary(
  source: Pick<Total, "bytes" | "chars">,
  limits: Limits,
  markers: Size,
  { maxInputChars, maxAnswerTokens }: { maxInputChars: number; maxAnswerTokens: number },
): SummaryPlan | string {
  const none = Number.POSITIVE_INFINITY;
  const bytesPerChar = Math.max(1, source.bytes / Math.max(1, source.chars));
  const room = Math.min(
    (limits.maxChars ?? none) - markers.chars,
    ((limits.maxBytes ?? none) - markers.bytes) / bytesPerChar,
    ((limits.maxTokens ?? none) - markers.tokens) * CHARS_PER_TOKEN,
    maxAnswerTokens * CHARS_PER_TOKEN,
    source.chars / 2,
  );
  const maxChars = Math.floor(room * ASKED_SHARE);
  const maxLines =
    limits.maxLines === undefined ? undefined : Math.floor((limits.maxLines - markers.lines) * ASKED_SHARE);
  if (maxChars < NUMBERS.summarizeLeastChars.default || (maxLines ?? 1) < 1) return "the limits leave it no room";
  const target = { maxChars, maxLines };
  const pieces = mostPieces(source.chars, maxInputChars);
  if (pieces === 1) return { target, part: null };
  const maxCalls = NUMBERS.summarizeCalls.default;
  if (pieces + 1 > maxCalls) return `it would take ${pieces + 1} calls, at most ${maxCalls} are made`;
  const partChars = Math.floor((maxInputChars * ASKED_SHARE) / pieces);
  if (partChars < NUMBERS.summarizeLeastChars.default) return "its parts leave each other no room";
  return { target, part: { maxChars: Math.min(partChars, maxAnswerTokens * CHARS_PER_TOKEN) } };
}

/** A piece ends at the end of a line if one is this close to the piece's own end. */
const NEAR_SHARE = 0.1;

/** Takes a text in chunks and returns it in pieces. */
interface TextSplit {
  add(text: string): string[];
  end(): string[];
}

/**
 * Cuts a text into pieces of at most `maxChars`. Cuts at the end of a line if one is near, and never inside a
 * character.
 */
export function startSplit(maxChars: number): TextSplit {
  const most = Math.max(2, maxChars);
  let rest = "";
  return {
    add(text) {
      rest += text;
      const pieces: string[] = [];
      let from = 0;
      while (rest.length - from > most) {
        const end = pieceEnd(rest, from, most);
        pieces.push(rest.slice(from, end));
        from = end;
      }
      if (from > 0) rest = rest.slice(from);
      return pieces;
    },
    end: () => (rest === "" ? [] : [rest]),
  };
}

function pieceEnd(text: string, from: number, maxChars: number): number {
  const end = from + maxChars;
  const line = text.lastIndexOf("\n", end - 1) + 1;
  if (line > end - Math.floor(maxChars * NEAR_SHARE)) return line;
  return splitsPair(text, end) ? end - 1 : end;
}

/** Returns the most pieces into which `startSplit` can cut a text of this many characters. */
export function mostPieces(chars: number, maxChars: number): number {
  if (chars <= maxChars) return 1;
  return Math.ceil(chars / Math.max(1, Math.floor(maxChars * (1 - NEAR_SHARE)) - 1));
}
