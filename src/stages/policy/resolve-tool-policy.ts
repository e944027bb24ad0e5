import type { Limits } from "../../contract/limits.ts";
import type { Policy, PolicyRow, ToolOverride, ToolPolicy, ToolRule } from "../../contract/policy.ts";
import { LIMIT_NAMES } from "./check-limits.ts";
import { checkRow } from "./check-row.ts";
import { DEFAULT_STRATEGY, NUMBERS } from "./defaults.ts";
import { familyOf, lastSegment, matchRules } from "./match-tool.ts";
import { mergeRows, projectLimits, smallerOf } from "./merge-rows.ts";

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
  const base = [policy.builtIn.default, ...rowsFor(policy.builtIn.rules, toolName)];
  const named = rowsFor(policy.rules, toolName);
  const own = [policy.default, ...declared, ...named];
  const merged = mergeRows(tightened(base, policy.project, own, toolName), policy.force, ...last);
  const off = policy.profile === "off" || merged.off === true;
  return {
    limits: off ? {} : smallerOf(merged.limits ?? {}, commandCeiling(policy, toolName, toolCeiling(policy, named))),
    shortChars: limitsLines(policy, toolName, [...own, policy.force, ...last]) ? 0 : NUMBERS.shortOutputChars.default,
    strategy: merged.strategy ?? DEFAULT_STRATEGY,
    headShare: merged.headShare ?? NUMBERS.headShare.default,
    fold: merged.fold ?? true,
    off,
    summarize: merged.summarize ?? false,
    triggerChars: merged.triggerChars ?? policy.summarization.triggerChars,
    options: { ...merged.options },
  };
}

/** The ceiling with `commands.maxChars` in it, for tools that run commands. The usual number lowers no tool's limit. */
function commandCeiling({ commands: { maxChars } }: Policy, toolName: string, ceiling: Limits): Limits {
  const isLowered = maxChars < NUMBERS.commandChars.default;
  const isCommand = isLowered && familyOf(lastSegment(toolName.toLowerCase()))?.keys.includes("run_command");
  return isCommand ? { ...ceiling, maxChars: Math.min(ceiling.maxChars ?? maxChars, maxChars) } : ceiling;
}

/** True if somebody limits a tool's lines: the user, a project, the tool itself or a call. */
function limitsLines(policy: Policy, toolName: string, rows: readonly ToolOverride[]): boolean {
  const { project, ceiling } = policy;
  const theirs = project === null ? [] : [project.default, ...rowsFor(project.rules, toolName)];
  return (
    ceiling.maxLines !== NUMBERS.ceilingLines.default ||
    [...rows, ...theirs].some(({ limits }) => limits?.maxLines !== undefined)
  );
}

function rowsFor(rules: readonly ToolRule[], toolName: string): PolicyRow[] {
  return matchRules(rules, toolName).map(({ row }) => row);
}

/**
 * The built-in rows and the user's own, with a project's between them. Of each limit and each option the smaller counts,
 * however well a row matches: a clone lifts none and does not switch the clamp off.
 */
function tightened(
  base: readonly ToolOverride[],
  project: Policy["project"],
  own: readonly ToolOverride[],
  toolName: string,
): ToolOverride {
  const alone = mergeRows(...base, ...own);
  if (project === null) return alone;
  const { builtIn, default: row, rules } = project;
  const theirs = mergeRows(builtIn.default, ...rowsFor(builtIn.rules, toolName), row, ...rowsFor(rules, toolName));
  return {
    ...mergeRows(...base, theirs, ...own),
    limits: smallerOf(alone.limits ?? {}, projectLimits(theirs.limits ?? {})),
    options: smallerOf(alone.options ?? {}, theirs.options ?? {}),
    off: alone.off,
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
