import type { ModelWindow, Policy } from "../../contract/policy.ts";
import { MODEL_WINDOWS } from "./model-windows.ts";

/** A window and who said so. */
export interface ResolvedWindow {
  tokens: number;
  from: "call" | "model table" | "models" | "contextTokens" | "default";
}

/**
 * The window of a request: what the call says, what the policy states for the model, what it states for all models, the
 * model's own as our table has it, 200,000. A person's own word beats the table, which may be old.
 */
export function resolveWindow(
  policy: Pick<Policy, "models" | "contextTokens" | "statesContextTokens">,
  asked: { window?: number | undefined; model?: string | undefined },
): ResolvedWindow {
  const { window, model } = asked;
  if (window !== undefined && Number.isFinite(window) && window >= 1)
    return { tokens: Math.floor(window), from: "call" };
  const stated = model === undefined ? undefined : policy.models.findLast((row) => isModel(row, model));
  if (stated !== undefined) return { tokens: stated.contextTokens, from: "models" };
  if (policy.statesContextTokens) return { tokens: policy.contextTokens, from: "contextTokens" };
  const known = model === undefined ? undefined : tableWindow(model);
  if (known !== undefined) return { tokens: known, from: "model table" };
  return { tokens: policy.contextTokens, from: "default" };
}

const byName = new Map(MODEL_WINDOWS.flatMap(([window, names]) => names.split(" ").map((name) => [name, window])));

/** Returns the window of the longest name in the table that begins the model's name. */
function tableWindow(model: string): number | undefined {
  for (let name = plainName(model); name !== ""; name = name.slice(0, Math.max(0, name.search(/[-:@][^-:@]*$/)))) {
    const window = byName.get(name);
    if (window !== undefined) return window;
  }
  return undefined;
}

/** A model's name without the prefixes of providers, gateways and regions: `us.anthropic.claude-x` is `claude-x`. */
export function plainName(model: string): string {
  const last = model.toLowerCase().split("/").at(-1) as string;
  return last.replace(/^(?:[a-z-]+\.)+(?=[a-z])/, "").replace(/[._]/g, "-");
}

function isModel({ provider, model }: ModelWindow, asked: string): boolean {
  const name = asked.toLowerCase();
  return name === model.toLowerCase() || name === `${provider}/${model}`.toLowerCase();
}
