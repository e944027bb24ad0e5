import type { Limits } from "../../contract/limits.ts";
import type { Size, Total } from "../../contract/size.ts";
import { NUMBERS } from "../policy/defaults.ts";
import { mostPieces } from "./split-text.ts";
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
