import type { Limits } from "../../contract/limits.ts";
import type { CommandPolicy, ForcedRow, Policy, PolicyInput, ProfileName } from "../../contract/policy.ts";
import { SpillwayError } from "../../errors.ts";
import { checkLimits, checkNumber, describeValue } from "./check-limits.ts";
import { checkRow, checkRules } from "./check-row.ts";
import { NUMBERS } from "./defaults.ts";
import { mergeInputs } from "./merge-inputs.ts";
import { definedOnly } from "./merge-rows.ts";
import { PROFILES, SELF_CAPPED_RULES } from "./profiles.ts";
import { resolveModels, resolvePruning, resolveSummarization } from "./resolve-parts.ts";

/**
 * The policy that several inputs give together, weakest first: checked and complete. Without any it is `balanced`.
 * A profile's name stands for an input that sets only the profile.
 */
export function resolvePolicy(...inputs: readonly (PolicyInput | ProfileName | undefined)[]): Policy {
  for (const input of inputs) if (typeof input === "object") checkKeys(input);
  const given = mergeInputs(...inputs.map((input) => (typeof input === "string" ? { profile: input } : input)));
  const profile = checkProfile(given.profile ?? "balanced");
  const force = checkForce(given.force);
  return {
    profile,
    ceiling: resolveCeiling(given.ceiling, force.limits),
    builtIn: PROFILES[profile],
    default: checkDefault(given.default),
    rules: [...SELF_CAPPED_RULES, ...checkRules(given.tools)],
    force,
    pruning: resolvePruning(given.pruning, profile),
    summarization: resolveSummarization(given.summarization),
    commands: resolveCommands(given.commands),
    contextTokens: checkNumber(
      given.contextTokens ?? NUMBERS.contextTokens.default,
      NUMBERS.contextTokens,
      "contextTokens",
    ),
    models: resolveModels(given.models),
  };
}

const KEYS = new Set([
  "profile",
  "ceiling",
  "default",
  "tools",
  "force",
  "pruning",
  "summarization",
  "commands",
  "contextTokens",
  "models",
] satisfies (keyof PolicyInput)[]) as ReadonlySet<string>;

function checkKeys(input: PolicyInput): void {
  const unknown = Object.keys(input).find((key) => !KEYS.has(key));
  if (unknown === undefined) return;
  throw new SpillwayError(
    "bad-policy",
    `a policy has no key ${describeValue(unknown)}; known are ${[...KEYS].join(", ")}`,
  );
}

/** The ceiling in each unit. Bytes always have one: what is held in memory grows with it. */
function resolveCeiling(given: Limits | undefined, forced: Limits | undefined): Limits {
  const { ceilingBytes, ceilingLines } = NUMBERS;
  const {
    maxBytes = ceilingBytes.default,
    maxLines = ceilingLines.default,
    ...others
  } = {
    ...checkLimits(given, "ceiling"),
    ...forced,
  };
  const ceiling: Limits = { maxBytes: Math.min(maxBytes, ceilingBytes.ceiling), maxLines, ...others };
  return Object.fromEntries(Object.entries(ceiling).filter(([, value]) => value !== Infinity));
}

function checkProfile(profile: unknown): ProfileName {
  if (typeof profile === "string" && Object.hasOwn(PROFILES, profile)) return profile as ProfileName;
  throw new SpillwayError("bad-policy", `profile must be balanced, frugal or off; got ${describeValue(profile)}`);
}

// A default row names no tool, so it cannot raise the ceiling "by name".
function checkDefault(given: PolicyInput["default"]): Policy["default"] {
  const { raisesCeiling, ...row } = checkRow(given, "default");
  if (raisesCeiling === undefined) return row;
  throw new SpillwayError("bad-policy", "default cannot raise the ceiling: set `ceiling`, or raise it in a tool's row");
}

function checkForce(given: ForcedRow | undefined): ForcedRow {
  const { limits, strategy, headShare, summarize } = checkRow(given, "force");
  return definedOnly({ limits, strategy, headShare, summarize });
}

function resolveCommands(given: Partial<CommandPolicy> | undefined): CommandPolicy {
  const { commandChars, commandPendingChars } = NUMBERS;
  return {
    maxChars: checkNumber(given?.maxChars ?? commandChars.default, commandChars, "commands.maxChars"),
    maxPendingChars: checkNumber(
      given?.maxPendingChars ?? commandPendingChars.default,
      commandPendingChars,
      "commands.maxPendingChars",
    ),
  };
}
