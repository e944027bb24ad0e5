import type { Limits } from "../../contract/limits.ts";
import type { ModelEndpoint, ModelSpeech } from "../../contract/model-client.ts";
import type { CommandPolicy, ForcedRow, PolicyInput, ProfileName } from "../../contract/policy.ts";
import { SpillwayError } from "../../errors.ts";
import { describeRange, describeValue, readSize } from "./check-limits.ts";
import { readStrategy } from "./check-row.ts";
import { NUMBERS, type NumberRow } from "./defaults.ts";
import { PROFILE_NAMES, PROFILES } from "./profiles.ts";

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

const LIMIT_VARIABLES = {
  SPILLWAY_MAX_BYTES: "maxBytes",
  SPILLWAY_MAX_CHARS: "maxChars",
  SPILLWAY_MAX_LINES: "maxLines",
  SPILLWAY_MAX_TOKENS: "maxTokens",
} as const satisfies Record<string, keyof Limits>;

const COMMAND_VARIABLES: Record<string, [keyof CommandPolicy, NumberRow]> = {
  PI_BASH_MAX_OUTPUT_CHARS: ["maxChars", NUMBERS.commandChars],
  OPENCLAW_BASH_PENDING_MAX_OUTPUT_CHARS: ["maxPendingChars", NUMBERS.commandPendingChars],
};

/**
 * What the environment says. `SPILLWAY_MAX_*` hold for every tool: each is that unit's limit and its ceiling, so it
 * lowers and raises alike. A variable that is unset or blank says nothing. `ignore` is told of a variable that is wrong;
 * without it, a wrong one throws.
 */
export function policyFromEnvironment(env: Environment, ignore?: (error: unknown) => void): PolicyInput {
  const input: PolicyInput = {};
  const force: ForcedRow = {};
  const limits: Limits = {};
  const commands: Partial<CommandPolicy> = {};
  const read = (variable: string, use: (text: string) => void) => {
    const text = env[variable]?.trim();
    if (!text) return;
    try {
      use(text);
    } catch (error) {
      if (ignore === undefined) throw error;
      ignore(error);
    }
  };
  for (const [variable, limit] of Object.entries(LIMIT_VARIABLES)) {
    read(variable, (text) => {
      limits[limit] = readLimit(variable, text, limit === "maxBytes");
    });
  }
  read("SPILLWAY_STRATEGY", (text) => Object.assign(force, readStrategyOf(text)));
  read("SPILLWAY_HEAD_SHARE", (text) => {
    force.headShare = readShare("SPILLWAY_HEAD_SHARE", text);
  });
  for (const [variable, [name, row]] of Object.entries(COMMAND_VARIABLES)) {
    // Another program's variables: a number out of our range is brought into it, as that program does.
    read(variable, (text) => {
      commands[name] = Math.min(Math.max(readWhole(variable, text), row.floor), row.ceiling);
    });
  }
  read("SPILLWAY_PROFILE", (text) => {
    input.profile = readProfile(text);
  });
  read("SPILLWAY_OFF", (text) => {
    if (readSwitch("SPILLWAY_OFF", text)) input.profile = "off";
  });
  if (Object.keys(limits).length > 0) force.limits = limits;
  if (Object.keys(force).length > 0) input.force = force;
  if (Object.keys(commands).length > 0) input.commands = commands;
  return input;
}

function readLimit(variable: string, text: string, isSize: boolean): number {
  if (/^(infinity|none)$/i.test(text)) return Infinity;
  const value = isSize ? readSize(text) : Number(text);
  if ((isSize || /^\d+$/.test(text)) && Number.isSafeInteger(value)) return value as number;
  throw bad(variable, `a whole number of 0 or more${isSize ? ", a size such as 50KB" : ""}, or none`, text);
}

function readWhole(variable: string, text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(value)) return value;
  throw bad(variable, "a whole number of 0 or more", text);
}

function readShare(variable: string, text: string): number {
  const value = /^[\d.]+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= 0 && value <= 1) return value;
  throw bad(variable, describeRange(NUMBERS.headShare), text);
}

function readStrategyOf(text: string): ForcedRow {
  const strategy = readStrategy(text);
  if (strategy) return strategy;
  throw bad("SPILLWAY_STRATEGY", "a strategy's name such as head-tail", text);
}

function readProfile(text: string): ProfileName {
  const profile = text.toLowerCase();
  if (Object.hasOwn(PROFILES, profile)) return profile as ProfileName;
  throw bad("SPILLWAY_PROFILE", PROFILE_NAMES, text);
}

function readSwitch(variable: string, text: string): boolean {
  if (/^(1|true|yes|on)$/i.test(text)) return true;
  if (/^(0|false|no|off)$/i.test(text)) return false;
  throw bad(variable, "1 or 0", text);
}

function bad(variable: string, expected: string, text: string): SpillwayError {
  return new SpillwayError("bad-config", `${variable} must be ${expected}; got ${describeValue(text)}`);
}

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
