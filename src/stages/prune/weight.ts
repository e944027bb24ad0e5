import type { TokenCounter } from "../../contract/token-counter.ts";
import { measureText } from "../measure/measure-text.ts";

/** What something takes of a request, in the units that requests are bound by. */
export interface Weight {
  chars: number;
  tokens: number;
  bytes: number;
}

/** Nothing. */
export const NO_WEIGHT: Readonly<Weight> = { chars: 0, tokens: 0, bytes: 0 };

/** What one image, audio or file counts. */
const MEDIA_CHARS = 8000;
const MEDIA_TOKENS = 2000;

/** Longer texts are weighed by samples: counting all of a large history would take longer than sending it. */
const SAMPLE_OVER_CHARS = 4096;
const SAMPLES = 3;
const SAMPLE_CHARS = 512;

/** Without a text to judge by: JSON, mostly. */
const CHARS_PER_TOKEN = 3;

const NO_COUNTER: TokenCounter = { name: "none", exact: false, maxBytesPerToken: 1, count: () => 0 };

/** A text's weight and lines. The same text always weighs the same. */
export function weighText(text: string, counter: TokenCounter): Weight & { lines: number } {
  const { bytes, lines } = measureText(text, NO_COUNTER);
  return { chars: text.length, tokens: countTokens(text, counter), bytes, lines };
}

/** The weight of what stands in a message outside results: its first text tells how dense the rest is. */
export function weighOutside(
  message: { chars: number; text: string | null; media: { count: number; bytes: number } },
  counter: TokenCounter,
): Weight {
  const { chars, text, media } = message;
  const known = text === null ? 0 : Math.min(text.length, chars);
  const sample = text === null || text === "" ? 1 / CHARS_PER_TOKEN : countTokens(text, counter) / text.length;
  const rest = chars - known;
  const tokens = Math.ceil(known * sample + rest * Math.max(sample, 1 / CHARS_PER_TOKEN));
  return add({ chars, tokens, bytes: chars }, weighMedia(media));
}

/** Images and other media. */
export function weighMedia({ count, bytes }: { count: number; bytes: number }): Weight {
  return { chars: count * MEDIA_CHARS, tokens: count * MEDIA_TOKENS, bytes };
}

/** Both together. */
export function add(a: Weight, b: Weight): Weight {
  return { chars: a.chars + b.chars, tokens: a.tokens + b.tokens, bytes: a.bytes + b.bytes };
}

/** The first without the second. */
export function subtract(a: Weight, b: Weight): Weight {
  return { chars: a.chars - b.chars, tokens: a.tokens - b.tokens, bytes: a.bytes - b.bytes };
}

function countTokens(text: string, counter: TokenCounter): number {
  if (text.length <= SAMPLE_OVER_CHARS) return counter.count(text);
  const gap = Math.floor((text.length - SAMPLE_CHARS) / (SAMPLES - 1));
  let tokens = 0;
  for (let at = 0; at < SAMPLES; at++) tokens += counter.count(text.slice(at * gap, at * gap + SAMPLE_CHARS));
  return Math.ceil((tokens / (SAMPLES * SAMPLE_CHARS)) * text.length);
}
