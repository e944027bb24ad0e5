import type { ForcedRow, PolicyInput, PruningInput, ToolRule } from "../../contract/policy.ts";
import { definedOnly, mergeRows } from "./merge-rows.ts";

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
  const merged: PruningInput = { ...before, ...definedOnly(plain) };
  if (softTrim) merged.softTrim = { ...before?.softTrim, ...definedOnly(softTrim) };
  if (hardClear) merged.hardClear = { ...before?.hardClear, ...definedOnly(hardClear) };
  if (tools) merged.tools = { ...before?.tools, ...definedOnly(tools) };
  if (batch) merged.batch = { ...before?.batch, ...definedOnly(batch) };
  return merged;
}
