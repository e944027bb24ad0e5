import type { ModelEndpoint } from "../contract/model-client.ts";
import { definedOnly } from "../stages/policy/merge-rows.ts";
import type { Environment } from "../stages/policy/policy-from-environment.ts";
import { KEY_VARIABLE, summarizerFromEnvironment } from "../stages/policy/policy-from-environment.ts";

/** What configs say of the model that summarises, the strongest last. */
export interface SummarizerConfig extends Partial<Omit<ModelEndpoint, "key">> {
  enabled?: boolean;
  /** The environment variable that has the key: keys do not stand in config files. */
  keyVariable?: string;
}

/** The summarising model: the environment's word, else the user's config, if that is on and complete. */
export function toSummarizer(config: SummarizerConfig, env: Environment): ModelEndpoint | undefined {
  const { enabled, endpoint, model, speaks = "openai", keyVariable = KEY_VARIABLE } = config;
  const { timeoutMs, maxConcurrent, maxAnswerTokens, maxCallsPerHour, maxCharsPerHour } = config;
  const { inputPrice, outputPrice } = config;
  const caps = definedOnly({
    timeoutMs,
    maxConcurrent,
    maxAnswerTokens,
    maxCallsPerHour,
    maxCharsPerHour,
    inputPrice,
    outputPrice,
  });
  const named = summarizerFromEnvironment(env);
  if (named !== null) return { ...named, ...caps };
  if (!enabled || endpoint === undefined || model === undefined) return undefined;
  const key = env[keyVariable]?.trim();
  return { endpoint, model, speaks, ...(key ? { key } : {}), ...caps };
}
