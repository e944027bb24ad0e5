import { fieldOf } from "./field-of.ts";

/** What an answer says about its size: the request's tokens, those from a cache included, and its own. */
export interface Usage {
  inputTokens: number;
  /** The request had no more than this: some leave open whether the input includes what came from a cache. */
  mostInputTokens: number;
  outputTokens: number | null;
}

// The names that providers and frameworks give the input, and the shares of a cache that each leaves out.
const INPUT: Readonly<Record<string, readonly string[]>> = {
  input_tokens: ["cache_read_input_tokens", "cache_creation_input_tokens"],
  prompt_tokens: [],
  promptTokenCount: [],
  inputTokens: ["cacheReadInputTokens", "cacheWriteInputTokens"],
  promptTokens: [],
  prompt_eval_count: [],
  input: ["cacheRead", "cacheWrite"],
};
const OUTPUT = [
  "output_tokens",
  "completion_tokens",
  "candidatesTokenCount",
  "outputTokens",
  "completionTokens",
  "eval_count",
  "output",
];

/** Reads usage in any of the known forms; null where it is none. */
export function readUsage(value: unknown): Usage | null {
  if (typeof value !== "object" || value === null) return null;
  const outputTokens = first(value, OUTPUT);
  for (const [name, apart] of Object.entries(INPUT)) {
    const input = count(fieldOf(value, name));
    if (input === null) continue;
    const inputTokens = apart.reduce((sum, share) => sum + (count(fieldOf(value, share)) ?? 0), input);
    // A framework hands on what its provider says: with the cache's share in the input, or without it.
    const cached = name === "inputTokens" ? (count(fieldOf(value, "cachedInputTokens")) ?? 0) : 0;
    const mostInputTokens = inputTokens + cached;
    return { inputTokens: cached > inputTokens ? mostInputTokens : inputTokens, mostInputTokens, outputTokens };
  }
  return null;
}

function first(value: object, names: readonly string[]): number | null {
  for (const name of names) {
    const found = count(fieldOf(value, name));
    if (found !== null) return found;
  }
  return null;
}

/** A count, or the total of one that is split up. */
function count(value: unknown): number | null {
  const whole = typeof value === "object" && value !== null ? fieldOf(value, "total") : value;
  return typeof whole === "number" && Number.isFinite(whole) && whole >= 0 ? whole : null;
}
