import { NUMBERS } from "../stages/policy/defaults.ts";

const UNIT_MS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A time as another program's config has it, and how a person is told so. */
export const TTL: RegExp = /^\s*(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)?\s*$/;
export const TTL_WORDS = "a time such as 5m or 1h";

/** Such a time in milliseconds, and no more than we take. A number alone is minutes. */
export function readTtl(written: string | number): number {
  const [, digits = "0", unit = "m"] = TTL.exec(String(written)) ?? [];
  return Math.min(Math.round(Number(digits) * (UNIT_MS[unit] as number)), NUMBERS.pruneCacheTtlMs.ceiling);
}
