import type { ModelWindow, Policy } from "../../contract/policy.ts";
import { NUMBERS } from "../policy/defaults.ts";
import { matchesPattern } from "../policy/match-tool.ts";
import { MODEL_WINDOWS } from "./model-windows.ts";

/** A window and who said so. */
export interface ResolvedWindow {
  tokens: number;
  from: "call" | "model table" | "models" | "contextTokens" | "default";
}

/**
 * The window of a request, in seed 002's order: the model's own as our table has it, what the policy states for it, what
 * the policy states for all, 200,000. What a call says beats them all.
 */
export function resolveWindow(
  policy: Pick<Policy, "models" | "contextTokens">,
  asked: { window?: number | undefined; model?: string | undefined },
): ResolvedWindow {
  const { window, model } = asked;
  if (window !== undefined && Number.isFinite(window) && window >= 1)
    return { tokens: Math.floor(window), from: "call" };
  const known = model === undefined ? null : tableWindow(model);
  if (known !== null) return { tokens: known, from: "model table" };
  const stated = model === undefined ? undefined : policy.models.findLast((row) => isModel(row, model));
  if (stated !== undefined) return { tokens: stated.contextTokens, from: "models" };
  const isDefault = policy.contextTokens === NUMBERS.contextTokens.default;
  return { tokens: policy.contextTokens, from: isDefault ? "default" : "contextTokens" };
}

function tableWindow(model: string): number | null {
  const name = bareName(model);
  // The most specific pattern counts.
  const fitting = MODEL_WINDOWS.filter(({ model: pattern }) => matchesPattern(pattern, name));
  return (
    fitting.reduce<(typeof fitting)[number] | null>(
      (best, row) => (best === null || row.model.length > best.model.length ? row : best),
      null,
    )?.contextTokens ?? null
  );
}

/** A model's name without the prefixes of providers, gateways and regions: `us.anthropic.claude-x` is `claude-x`. */
function bareName(model: string): string {
  const last = model.toLowerCase().split("/").at(-1) as string;
  return last.replace(/^(?:[a-z]+\.)*(?=(?:claude|nova|llama|mistral|deepseek|gpt)\b)/, "");
}

function isModel({ provider, model }: ModelWindow, asked: string): boolean {
  const name = asked.toLowerCase();
  return name === model.toLowerCase() || name === `${provider}/${model}`.toLowerCase();
}
