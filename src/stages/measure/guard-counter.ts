import type { TokenCounter } from "../../contract/token-counter.ts";
import { estimateCounter } from "./estimate-tokens.ts";

/** A counter that somebody handed in, with the estimate standing in wherever it throws or gives no number. */
export function guardCounter(counter: TokenCounter): TokenCounter {
  return {
    name: counter.name,
    exact: counter.exact,
    maxBytesPerToken: counter.maxBytesPerToken > 0 ? counter.maxBytesPerToken : estimateCounter.maxBytesPerToken,
    count(text) {
      try {
        const tokens = counter.count(text);
        if (Number.isFinite(tokens) && tokens >= 0) return tokens;
      } catch {
        // the estimate serves
      }
      return estimateCounter.count(text);
    },
    ...(counter.fit && { fit: (text, maxTokens, from) => fitGuarded(counter, text, maxTokens, from) }),
  };
}

function fitGuarded(counter: TokenCounter, text: string, maxTokens: number, from: "start" | "end"): number {
  try {
    const at = counter.fit?.(text, maxTokens, from);
    if (at !== undefined && Number.isInteger(at) && at >= 0 && at <= text.length) return at;
  } catch {
    // the estimate serves
  }
  return estimateCounter.fit?.(text, maxTokens, from) ?? (from === "start" ? 0 : text.length);
}
