import { fieldOf } from "./field-of.ts";

/** What an answer says about its size: the request's tokens, those from a cache included, and its own. */
export interface Usage {
  inputTokens: number;
  outputTokens: number | null;
}

// The names that providers and frameworks give them. A cache's share counts where the input leaves it out.
const INPUT = [
  "input_tokens",
  "prompt_tokens",
  "promptTokenCount",
  "inputTokens",
  "promptTokens",
  "prompt_eval_count",
  "input",
];
const OUTPUT = [
  "output_tokens",
  "completion_tokens",
  "candidatesTokenCount",
  "outputTokens",
  "completionTokens",
  "eval_count",
  "output",
];
const CACHED_APART = [
  "cache_read_input_tokens",
  "cache_creation_input_tokens",
  "cacheReadInputTokens",
  "cacheWriteInputTokens",
  "cacheRead",
  "cacheWrite",
];

/** Reads usage in any of the known forms; null where it is none. */
export function readUsage(value: unknown): Usage | null {
  if (typeof value !== "object" || value === null) return null;
  const input = first(value, INPUT);
  if (input === null) return null;
  const cached = CACHED_APART.reduce((sum, name) => sum + (count(fieldOf(value, name)) ?? 0), 0);
  return { inputTokens: input + cached, outputTokens: first(value, OUTPUT) };
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
