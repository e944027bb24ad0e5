import type { ModelEndpoint, ModelSpeech } from "../../contract/model-client.ts";
import { SpillwayError } from "../../errors.ts";
import { describeValue } from "./check-limits.ts";
import type { Environment } from "./policy-from-environment.ts";

/** Where the key is, unless a config names another variable. */
export const KEY_VARIABLE = "SPILLWAY_SUMMARY_KEY";

const SPEECHES: readonly ModelSpeech[] = ["openai", "anthropic", "ollama"];

/** The summarising model that the environment names; null if it names none. */
export function summarizerFromEnvironment(env: Environment): ModelEndpoint | null {
  const endpoint = env.SPILLWAY_SUMMARY_ENDPOINT?.trim();
  const model = env.SPILLWAY_SUMMARY_MODEL?.trim();
  if (!endpoint && !model) return null;
  if (!endpoint || !model) {
    throw new SpillwayError("bad-config", "SPILLWAY_SUMMARY_ENDPOINT and SPILLWAY_SUMMARY_MODEL go together");
  }
  const said = env.SPILLWAY_SUMMARY_SPEAKS?.trim() || "openai";
  const speaks = SPEECHES.find((one) => one === said.toLowerCase());
  if (speaks === undefined) {
    const got = describeValue(said);
    throw new SpillwayError("bad-config", `SPILLWAY_SUMMARY_SPEAKS must be openai, anthropic or ollama; got ${got}`);
  }
  const key = env[KEY_VARIABLE]?.trim();
  return { endpoint, model, speaks, ...(key ? { key } : {}) };
}
