import type { Limits } from "../contract/limits.ts";
import type { Size, Total } from "../contract/size.ts";
import { splitsPair } from "../stages/measure/scan.ts";
import { NUMBERS } from "../stages/policy/defaults.ts";
import type { SummaryTarget } from "./summary-prompt.ts";

/** How one output is summarised. */
export interface SummaryPlan {
  /** Asked for at the end. */
  target: SummaryTarget;
  /** Asked for of each part; null where one call reads all of it. */
  part: SummaryTarget | null;
}

/** Models count badly: they are asked for less than what fits. */
const ASKED_SHARE = 0.8;
const CHARS_PER_TOKEN = 2;

/**
 * Plans the summary of an output: `markers` is what stands around it. A text instead of a plan says why there is none.
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

/** A line's end this near to a piece's own is where the piece ends. */
const NEAR_SHARE = 0.1;

/** Text that comes in chunks, given on in pieces. */
interface TextSplit {
  add(text: string): string[];
  end(): string[];
}

/** Cuts a text into pieces of at most `maxChars`, at a line's end where one is near, never inside a character. */
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

/** The most pieces that a text of so many characters gives. */
export function mostPieces(chars: number, maxChars: number): number {
  if (chars <= maxChars) return 1;
  return Math.ceil(chars / Math.max(1, Math.floor(maxChars * (1 - NEAR_SHARE)) - 1));
}
