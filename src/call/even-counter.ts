import type { TokenCounter } from "../contract/token-counter.ts";
import { measureText } from "../stages/measure/measure-text.ts";

/** Our estimate of a token of text outside ASCII, in bytes beyond one a character. */
const WIDE_TOKENS_A_BYTE = 0.7;
/** What vocabularies of today make of such text, against the estimate: they have whole words for it. */
const WIDE_SHARE = 0.45;

/**
 * An estimate that is as much too high on one kind of text as on the others: a provider's count of a request then tells what
 * another one takes, whatever text was cut. An exact counter is that already.
 */
export function evenCounter(counter: TokenCounter): TokenCounter {
  if (counter.exact) return counter;
  const count = (text: string) => {
    const tokens = counter.count(text);
    const wide = wideTokens(tokens, measureText(text, NO_COUNTER).bytes - text.length);
    return Math.ceil(tokens - wide + wide * WIDE_SHARE);
  };
  return { name: counter.name, exact: false, maxBytesPerToken: counter.maxBytesPerToken, count };
}

function wideTokens(tokens: number, extraBytes: number): number {
  return Math.min(tokens, Math.max(0, extraBytes) * WIDE_TOKENS_A_BYTE);
}

const NO_COUNTER: TokenCounter = { name: "none", exact: false, maxBytesPerToken: 1, count: () => 0 };
