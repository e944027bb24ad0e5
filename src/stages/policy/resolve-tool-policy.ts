import type { Limits } from "../../contract/limits.ts";
import type { Policy, PolicyRow, ToolOverride, ToolPolicy } from "../../contract/policy.ts";
import { LIMIT_NAMES } from "./check-limits.ts";
import { checkRow } from "./check-row.ts";
import { DEFAULT_STRATEGY, NUMBERS } from "./defaults.ts";
import { matchRules } from "./match-tool.ts";
import { mergeRows } from "./merge-rows.ts";

/**
 * What applies to one tool's output. Overrides (of a session, of a call) come weakest first. From weak to strong:
 * the profile, the default row, what the tool declares, rows that name the tool, what is forced, overrides. Nothing but
 * a row that raises it passes the ceiling.
 */
export function resolveToolPolicy(
  policy: Policy,
  toolName: string,
  ...overrides: readonly (ToolOverride | undefined)[]
): ToolPolicy {
  const checked = overrides.map((override) => checkRow(override, `limits for ${toolName}`));
  const declared = checked.filter((override) => override.declared);
  const last = checked.filter((override) => !override.declared);
  const base = [policy.builtIn.default, ...matchRules(policy.builtIn.rules, toolName).map(({ row }) => row)];
  const named = matchRules(policy.rules, toolName).map(({ row }) => row);
  const merged = mergeRows(...base, policy.default, ...declared, ...named, policy.force, ...last);
  const off = policy.profile === "off" || merged.off === true;
  return {
    limits: off ? {} : smallerLimits(merged.limits ?? {}, toolCeiling(policy, named)),
    strategy: merged.strategy ?? DEFAULT_STRATEGY,
    headShare: merged.headShare ?? NUMBERS.headShare.default,
    fold: merged.fold ?? true,
    off,
    summarize: merged.summarize ?? false,
    triggerChars: merged.triggerChars ?? policy.summarization.triggerChars,
    options: { ...merged.options },
  };
}

/** The ceiling for one tool: each limit of its strongest row counts, and lifts the ceiling if that row raises it. */
function toolCeiling(policy: Policy, named: readonly PolicyRow[]): Limits {
  const ceiling: Limits = { ...policy.ceiling };
  for (const name of LIMIT_NAMES) {
    if (policy.force.limits?.[name] !== undefined) continue;
    const strongest = named.findLast((row) => row.limits?.[name] !== undefined);
    const value = strongest?.limits?.[name];
    const before = ceiling[name];
    if (!strongest?.raisesCeiling || value === undefined || before === undefined) continue;
    ceiling[name] = Math.max(before, name === "maxBytes" ? Math.min(value, NUMBERS.ceilingBytes.ceiling) : value);
  }
  return ceiling;
}

/** Of two sets of limits, the smaller of each. */
export function smallerLimits(limits: Limits, ceiling: Limits): Limits {
  const under: Limits = {};
  for (const name of LIMIT_NAMES) {
    const value = Math.min(limits[name] ?? Infinity, ceiling[name] ?? Infinity);
    if (value !== Infinity) under[name] = value;
  }
  return under;
}
