import type { Verdict, VerdictContext } from "../../contract/verdict.ts";
import { NUMBERS } from "../policy/defaults.ts";
import type { Evidence } from "./read-evidence.ts";

const CUT_OFF = ["length", "max_tokens", "max_output_tokens", "max-tokens"];

/**
 * An answer that came with no error and is still no answer: the provider took more than the window and lost part of it, had
 * no room left to answer, or dropped the start of what it was sent.
 */
export function silentOverflow({ usage, stops }: Evidence, context: VerdictContext): Omit<Verdict, "provider"> | null {
  const cutOff = CUT_OFF.some((stop) => stops.has(stop));
  if (usage !== null) {
    const { inputTokens, mostInputTokens, outputTokens } = usage;
    const { window, estimatedTokens } = context;
    if (window !== undefined && inputTokens > window)
      return silent("usage-over-window", inputTokens, window, `usage of ${inputTokens}, window of ${window}`);
    if (window !== undefined && cutOff && outputTokens === 0 && inputTokens >= window * FULL)
      return silent(
        "empty-at-full-window",
        inputTokens,
        Math.floor(window * WITH_ROOM),
        `no answer, ${inputTokens} of ${window} used`,
      );
    if (estimatedTokens !== undefined && inputTokens > 0 && mostInputTokens < estimatedTokens * LOST)
      return silent(
        "truncated-by-server",
        estimatedTokens,
        inputTokens,
        `${inputTokens} read of about ${estimatedTokens}`,
      );
  }
  return cutOff ? { kind: "output-limit", rule: "answer-cut-off", evidence: [...stops].join(", ") } : null;
}

const FULL = NUMBERS.fullWindowShare.default;
/** What a request may take of the window if there is to be an answer. */
const WITH_ROOM = 0.9;
const LOST = NUMBERS.truncatedShare.default;

function silent(rule: string, observedTokens: number, limitTokens: number, evidence: string) {
  return { kind: "context-overflow" as const, rule, observedTokens, limitTokens, evidence };
}
