import type { Limits } from "../../contract/limits.ts";
import type {
  ForcedRow,
  PolicyInput,
  PruningInput,
  PruningPreset,
  ToolOptions,
  ToolOverride,
  ToolRule,
} from "../../contract/policy.ts";
import { SpillwayError } from "../../errors.ts";
import { describeValue } from "./check-limits.ts";
import { NUMBERS } from "./defaults.ts";

const PRESETS: Record<PruningPreset, PruningInput> = {
  spillway: { sticky: true, estimate: "tokens", namesSaved: true, callArguments: true, media: "results" },
  // Each request by itself, weighed in characters, results alone, and the placeholder alone.
  openclaw: { sticky: false, estimate: "chars/4", namesSaved: false, callArguments: false, media: "off" },
};

/** What a preset of pruning says. Throws a SpillwayError "bad-policy" if there is none of this name. */
export function presetOf(name: PruningPreset | undefined): PruningInput {
  if (name === undefined) return {};
  if (Object.hasOwn(PRESETS, name)) return PRESETS[name];
  throw new SpillwayError("bad-policy", `pruning.preset must be spillway or openclaw; got ${describeValue(name)}`);
}

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

/** A project's limits, none of them so low that hardly anything would be shown. */
export function projectLimits(limits: Limits): Limits {
  const { projectLeastChars: chars, projectLeastLines: lines, projectLeastTokens: tokens } = NUMBERS;
  const least = { maxBytes: chars, maxChars: chars, maxLines: lines, maxTokens: tokens };
  const raised = Object.entries(definedOnly(limits)).map(([name, limit]) => [
    name,
    Math.max(limit as number, least[name as keyof Limits].default),
  ]);
  return Object.fromEntries(raised);
}

/** Several inputs as one, weakest first. Rows are kept apart, each with its own right to raise the ceiling. */
export function mergeInputs(...inputs: readonly (PolicyInput | undefined)[]): PolicyInput {
  const merged: PolicyInput = {};
  for (const input of inputs) {
    if (input === undefined) continue;
    const { ceiling, default: row, tools, force, pruning, summarization, commands, models, ...plain } = input;
    Object.assign(merged, definedOnly(plain));
    if (ceiling) merged.ceiling = { ...merged.ceiling, ...definedOnly(ceiling) };
    if (row) merged.default = mergeRows(merged.default, row);
    if (tools) merged.tools = [...asRules(merged.tools), ...asRules(tools)];
    if (force) merged.force = mergeRows(merged.force, force) as ForcedRow;
    if (pruning) merged.pruning = mergePruning(merged.pruning, pruning);
    if (summarization) merged.summarization = { ...merged.summarization, ...definedOnly(summarization) };
    if (commands) merged.commands = { ...merged.commands, ...definedOnly(commands) };
    if (models) merged.models = [...(merged.models ?? []), ...models];
  }
  return merged;
}

function asRules(tools: PolicyInput["tools"]): readonly ToolRule[] {
  if (tools === undefined || Array.isArray(tools)) return tools ?? [];
  return Object.entries(tools).map(([tool, row]) => ({ tool, row }));
}

function mergePruning(before: PruningInput | undefined, after: PruningInput): PruningInput {
  const { softTrim, hardClear, tools, batch, ...plain } = after;
  // A preset that is named later begins anew, but what is said beside it counts.
  const merged: PruningInput = { ...before, ...presetOf(plain.preset), ...definedOnly(plain) };
  if (softTrim) merged.softTrim = { ...before?.softTrim, ...definedOnly(softTrim) };
  if (hardClear) merged.hardClear = { ...before?.hardClear, ...definedOnly(hardClear) };
  if (tools) merged.tools = { ...before?.tools, ...definedOnly(tools) };
  if (batch) merged.batch = { ...before?.batch, ...definedOnly(batch) };
  return merged;
}
