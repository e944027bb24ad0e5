import type { Limits } from "../../contract/limits.ts";
import type { CommandPolicy, ForcedRow, ModelWindow, Policy, PolicyInput, ProfileName } from "../../contract/policy.ts";
import { SpillwayError } from "../../errors.ts";
import { checkLimits, checkNumber, describeValue } from "./check-limits.ts";
import { checkRow, checkRules, definedOnly, mergeInputs, projectLimits, smallerOf } from "./check-row.ts";
import { NUMBERS, type NumberRow } from "./defaults.ts";
import { PROFILE_NAMES, PROFILES, SELF_CAPPED_RULES } from "./profiles.ts";
import { resolveModels, resolvePruning, resolveSummarization } from "./resolve-sections.ts";

/**
 * The policy that several inputs give together, weakest first: checked and complete. Without any it is `balanced`.
 * A profile's name stands for an input that sets only the profile.
 */
export function resolvePolicy(...inputs: readonly (PolicyInput | ProfileName | undefined)[]): Policy {
  for (const input of inputs) if (typeof input === "object") checkKeys(input);
  const { project, ...given } = mergeInputs(
    ...inputs.map((input) => (typeof input === "string" ? { profile: checkProfile(input, "policy") } : input)),
  );
  const profile = checkProfile(given.profile ?? "balanced");
  const force = checkForce(given.force);
  const contextTokens = smaller(NUMBERS.contextTokens, "contextTokens", given.contextTokens, project?.contextTokens);
  return {
    profile,
    ceiling: resolveCeiling(given.ceiling, project?.ceiling, force.limits),
    builtIn: PROFILES[profile],
    default: checkDefault(given.default),
    rules: [...(profile === "uniform" ? [] : SELF_CAPPED_RULES), ...checkRules(given.tools)],
    force,
    pruning: resolvePruning(given.pruning, profile, project?.pruning),
    summarization: resolveSummarization({ ...project?.summarization, ...given.summarization }),
    commands: resolveCommands(given.commands, project?.commands),
    contextTokens,
    statesContextTokens: given.contextTokens !== undefined,
    models: resolveModels([...capWindows(project?.models ?? [], contextTokens), ...(given.models ?? [])]),
    project: project === undefined ? null : resolveProject(project, given.profile),
  };
}

/** A project's rows. Its profile counts where nobody else names one, and never switches anything off. */
function resolveProject(project: Project, named: ProfileName | undefined): Policy["project"] {
  const profile = named === undefined && project.profile !== "off" ? project.profile : undefined;
  return {
    builtIn: profile === undefined ? { default: {}, rules: [] } : PROFILES[checkProfile(profile)],
    default: checkDefault(project.default),
    // Its default row touches these tools as little as the user's own does.
    rules: [...SELF_CAPPED_RULES.map(({ tool }) => ({ tool, row: UNLIMITED })), ...checkRules(project.tools)],
  };
}

const UNLIMITED = { limits: { maxBytes: Infinity, maxChars: Infinity, maxLines: Infinity, maxTokens: Infinity } };

function capWindows(models: readonly ModelWindow[], most: number): ModelWindow[] {
  return models.map((model) => ({ ...model, contextTokens: Math.min(model.contextTokens, most) }));
}

type Project = NonNullable<PolicyInput["project"]>;

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
  "project",
] satisfies (keyof PolicyInput)[]) as ReadonlySet<string>;

function checkKeys(input: PolicyInput): void {
  const unknown = Object.keys(input).find((key) => !KEYS.has(key));
  if (unknown === undefined) return;
  throw new SpillwayError(
    "bad-policy",
    `a policy has no key ${describeValue(unknown)}; known are ${[...KEYS].join(", ")}`,
  );
}

/** The ceiling in each unit, which a project may lower. Bytes always have one: what is held in memory grows with it. */
function resolveCeiling(given: Limits | undefined, project: Limits | undefined, forced: Limits | undefined): Limits {
  const { ceilingBytes, ceilingLines } = NUMBERS;
  const usual = { maxBytes: ceilingBytes.default, maxLines: ceilingLines.default };
  const files = smallerOf(
    { ...usual, ...checkLimits(given, "ceiling") },
    projectLimits(checkLimits(project, "ceiling")),
  );
  return smallerOf({ ...files, ...forced }, { maxBytes: ceilingBytes.ceiling });
}

function checkProfile(profile: unknown, where: "profile" | "policy" = "profile"): ProfileName {
  if (typeof profile === "string" && Object.hasOwn(PROFILES, profile)) return profile as ProfileName;
  const what = where === "profile" ? where : "a policy that is a text names a profile, which";
  throw new SpillwayError("bad-policy", `${what} must be ${PROFILE_NAMES}; got ${describeValue(profile)}`);
}

// A default row names no tool, so it cannot raise the ceiling "by name".
function checkDefault(given: PolicyInput["default"]): Policy["default"] {
  const { raisesCeiling, ...row } = checkRow(given, "default");
  if (raisesCeiling === undefined) return row;
  throw new SpillwayError("bad-policy", "default cannot raise the ceiling: set `ceiling`, or raise it in a tool's row");
}

function checkForce(given: ForcedRow | undefined): ForcedRow {
  const { limits, strategy, headShare, fold, summarize } = checkRow(given, "force");
  return definedOnly({ limits, strategy, headShare, fold, summarize });
}

function resolveCommands(
  given: Partial<CommandPolicy> | undefined,
  project: Partial<CommandPolicy> | undefined,
): CommandPolicy {
  const { commandChars, commandPendingChars } = NUMBERS;
  const named = (name: keyof CommandPolicy, row: NumberRow) =>
    smaller(row, `commands.${name}`, given?.[name], project?.[name]);
  return {
    maxChars: named("maxChars", commandChars),
    maxPendingChars: named("maxPendingChars", commandPendingChars),
  };
}

/** The number that was given or the usual one, or a project's where that is smaller. */
function smaller(row: NumberRow, name: string, given: number | undefined, project: number | undefined): number {
  const own = checkNumber(given ?? row.default, row, name);
  return project === undefined ? own : Math.min(own, checkNumber(project, row, name));
}
