import type { Limits } from "../../contract/limits.ts";
import type { ToolOptions, ToolOverride } from "../../contract/policy.ts";

/** The fields of several rows in one: what a later row says replaces what an earlier one said. */
export function mergeRows(...rows: readonly (ToolOverride | undefined)[]): ToolOverride {
  const merged: ToolOverride = {};
  for (const row of rows) {
    if (row === undefined) continue;
    const { limits, options, ...plain } = row;
    Object.assign(merged, definedOnly(plain));
    if (limits) merged.limits = { ...merged.limits, ...definedOnly(limits) };
    if (options) merged.options = { ...merged.options, ...definedOnly(options) };
  }
  return merged;
}

/** A copy without the keys whose value is undefined. */
export function definedOnly<T extends object>(given: T): T {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as T;
}

/** Of two sets of numbers, the smaller of each; a number that is absent or Infinity says nothing. */
export function smallerOf<T extends Limits | ToolOptions>(one: T, other: T): T {
  const smaller: Record<string, number> = {};
  for (const [name, value = Infinity] of [...Object.entries(one), ...Object.entries(other)] as [string, number?][]) {
    if (value !== Infinity) smaller[name] = Math.min(value, smaller[name] ?? Infinity);
  }
  return smaller as Limits & ToolOptions as T;
}
