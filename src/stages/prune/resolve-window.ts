import type { ModelWindow, Policy } from "../../contract/policy.ts";
import { NUMBERS } from "../policy/defaults.ts";
import { matchesPattern } from "../policy/match-tool.ts";

// Context windows of well-known models, in tokens. Date: 2026-11. Sources: the providers' own model pages, and models.dev
// where it repeats them. Where a provider bounds the input below the window, the input's bound stands here. A model that is
// not in this table can be stated in a config (`models.providers`) or with the call (`window`).

/** A pattern of model names, without their provider's prefix, and the window; the longest pattern that fits counts. */
interface ModelRow {
  model: string;
  contextTokens: number;
}

const rows = (contextTokens: number, ...models: string[]): ModelRow[] =>
  models.map((model) => ({ model, contextTokens }));

/** The table. */
export const MODEL_WINDOWS: readonly ModelRow[] = [
  // Anthropic
  ...rows(200_000, "claude-3*", "claude-opus-4*", "claude-sonnet-4*", "claude-haiku-4*"),
  ...rows(1_000_000, "claude-opus-4-6*", "claude-opus-4-7*", "claude-opus-4-8*", "claude-sonnet-4-6*"),
  ...rows(1_000_000, "claude-opus-4.6*", "claude-opus-4.7*", "claude-opus-4.8*", "claude-sonnet-4.6*"),
  ...rows(1_000_000, "claude-opus-5*", "claude-sonnet-5*", "claude-fable-5*"),
  // OpenAI
  ...rows(16_385, "gpt-3.5-turbo*"),
  ...rows(8192, "gpt-4", "gpt-4-0*"),
  ...rows(128_000, "gpt-4-turbo*", "gpt-4o*", "chatgpt-4o*", "o1-mini*", "o1-preview*"),
  ...rows(1_047_576, "gpt-4.1*"),
  ...rows(200_000, "o1", "o1-2*", "o1-pro*", "o3*", "o4-mini*"),
  ...rows(272_000, "gpt-5", "gpt-5-*", "gpt-5.1*", "gpt-5.2*"),
  ...rows(922_000, "gpt-5.5*", "gpt-5.6*", "gpt-6-astra*"),
  // Google
  ...rows(1_048_576, "gemini-1.5-flash*", "gemini-2.0-flash*", "gemini-2.5-pro*", "gemini-2.5-flash*"),
  ...rows(2_097_152, "gemini-1.5-pro*"),
  ...rows(1_000_000, "gemini-3*"),
  // Others
  ...rows(128_000, "deepseek-chat*", "deepseek-reasoner*", "mistral-large*", "llama-3.1*", "llama-3.3*"),
  ...rows(256_000, "grok-4*", "grok-code-fast*"),
  ...rows(262_144, "qwen3-coder*", "kimi-k2*"),
];

/** A window and who said so. */
export interface ResolvedWindow {
  tokens: number;
  from: "call" | "model table" | "models" | "contextTokens" | "default";
}

/**
 * The window of a request, the first that is known: the model's own as our table has it, what the policy states for it, what
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
