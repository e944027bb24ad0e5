import type { Limits } from "../../contract/limits.ts";
import { NUMBERS } from "../policy/defaults.ts";

const CHARS_PER_TOKEN = 4;

/**
 * What one persisted result may take: its limits, and as outer bounds 400,000 characters, or its share of the window where
 * that is stated. A small window leaves it 2,000 characters all the same; its limits are stronger than that.
 */
export function guardLimits(limits: Limits, windowTokens: number | null): Limits {
  const { guardChars, guardFloorChars, guardWindowShare } = NUMBERS;
  const share =
    windowTokens === null ? Infinity : Math.floor(windowTokens * guardWindowShare.default) * CHARS_PER_TOKEN;
  const bound = Math.max(guardFloorChars.default, Math.min(guardChars.default, share));
  return { ...limits, maxChars: Math.min(limits.maxChars ?? Infinity, bound) };
}
