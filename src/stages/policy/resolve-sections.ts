import type {
  ModelWindow,
  PolicyInput,
  ProfileName,
  PruningInput,
  PruningPolicy,
  SummarizationPolicy,
} from "../../contract/policy.ts";
import { SpillwayError } from "../../errors.ts";
import { checkNumber, describeValue } from "./check-limits.ts";
import { definedOnly, presetOf } from "./check-row.ts";
import { CLEARED_PLACEHOLDER, NUMBERS, type NumberRow } from "./defaults.ts";

/** Pruning with every number in place, none of them looser for what a project says. Under the profile `off` nothing is pruned. */
export function resolvePruning(
  given: PruningInput = {},
  profile: ProfileName,
  project: PruningInput = {},
): PruningPolicy {
  const own = completePruning(given, profile);
  const mode =
    given.mode === undefined && project.mode === "aggressive" && own.mode !== "off" ? project.mode : own.mode;
  return { ...tighter(own, project as Tree), mode };
}

type Tree = { readonly [key: string]: unknown };

/** How long a cache is kept is a fact, and none that a project knows. */
const FACTS: ReadonlySet<string> = new Set(["cacheTtlMs"] satisfies (keyof PruningPolicy)[]);

/** The smaller of each number; whatever is no number stays as it was. 0 turns means never. */
function tighter<T extends object>(own: T, project: Tree): T {
  const tightened = Object.entries(own).map(([key, value]): [string, unknown] => {
    const theirs = project[key];
    if (theirs && typeof theirs === "object" && !Array.isArray(theirs)) return [key, tighter(value, theirs as Tree)];
    if (typeof value !== "number" || typeof theirs !== "number" || FACTS.has(key)) return [key, value];
    if (key === "ageTurns" && (value === 0 || theirs === 0)) return [key, Math.max(value, theirs)];
    return [key, Math.min(value, theirs)];
  });
  return Object.fromEntries(tightened) as T;
}

function completePruning(said: PruningInput, profile: ProfileName): PruningPolicy {
  const given = { ...presetOf(said.preset), ...definedOnly(said) };
  const number = (value: number | undefined, row: NumberRow, name: string) =>
    checkNumber(value ?? row.default, row, `pruning.${name}`);
  const asked = profile === "off" ? "off" : (given.mode ?? "adaptive");
  if (asked !== "adaptive" && asked !== "aggressive" && asked !== "cache-ttl" && asked !== "off") {
    throw bad(`pruning.mode must be adaptive, aggressive, cache-ttl or off; got ${describeValue(asked)}`);
  }
  // Steps wait for a cold cache by themselves.
  const mode = asked === "cache-ttl" && (given.sticky ?? true) ? "adaptive" : asked;
  const placeholder = given.hardClear?.placeholder ?? CLEARED_PLACEHOLDER;
  if (typeof placeholder !== "string" || placeholder.trim() === "") {
    throw bad(`pruning.hardClear.placeholder must be a text that is not blank; got ${describeValue(placeholder)}`);
  }
  return {
    preset: given.preset ?? "spillway",
    mode,
    keepLastAssistants: number(given.keepLastAssistants, NUMBERS.pruneKeepLastAssistants, "keepLastAssistants"),
    softTrimRatio: number(given.softTrimRatio, NUMBERS.pruneSoftTrimRatio, "softTrimRatio"),
    hardClearRatio: number(given.hardClearRatio, NUMBERS.pruneHardClearRatio, "hardClearRatio"),
    minPrunableToolChars: number(given.minPrunableToolChars, NUMBERS.pruneMinToolChars, "minPrunableToolChars"),
    softTrim: {
      maxChars: number(given.softTrim?.maxChars, NUMBERS.pruneTrimOverChars, "softTrim.maxChars"),
      headChars: number(given.softTrim?.headChars, NUMBERS.pruneTrimHeadChars, "softTrim.headChars"),
      tailChars: number(given.softTrim?.tailChars, NUMBERS.pruneTrimTailChars, "softTrim.tailChars"),
    },
    hardClear: { enabled: given.hardClear?.enabled ?? true, placeholder },
    tools: { allow: [...(given.tools?.allow ?? [])], deny: [...(given.tools?.deny ?? [])] },
    sticky: given.sticky ?? true,
    namesSaved: given.namesSaved ?? true,
    callArguments: given.callArguments ?? true,
    media: checkMedia(given.media ?? "results"),
    keepLastMedia: number(given.keepLastMedia, NUMBERS.pruneKeepLastMedia, "keepLastMedia"),
    estimate: checkEstimate(given.estimate ?? "tokens"),
    clearAtLeastTokens: number(given.clearAtLeastTokens, NUMBERS.pruneClearAtLeastTokens, "clearAtLeastTokens"),
    clearAtLeastShare: number(given.clearAtLeastShare, NUMBERS.pruneClearAtLeastShare, "clearAtLeastShare"),
    lowWatermark: number(given.lowWatermark, NUMBERS.pruneLowWatermark, "lowWatermark"),
    forceRatio: number(given.forceRatio, NUMBERS.pruneForceRatio, "forceRatio"),
    cacheTtlMs: number(given.cacheTtlMs, NUMBERS.pruneCacheTtlMs, "cacheTtlMs"),
    ageTurns: number(given.ageTurns, NUMBERS.pruneAgeTurns, "ageTurns"),
    maxRequestBytes: number(given.maxRequestBytes, NUMBERS.pruneRequestBytes, "maxRequestBytes"),
    batch: {
      windowShare: number(given.batch?.windowShare, NUMBERS.pruneBatchShare, "batch.windowShare"),
      maxChars: number(given.batch?.maxChars, NUMBERS.pruneBatchChars, "batch.maxChars"),
      floorChars: number(given.batch?.floorChars, NUMBERS.pruneBatchFloorChars, "batch.floorChars"),
    },
    insure: given.insure ?? true,
  };
}

function checkMedia(media: unknown): PruningPolicy["media"] {
  if (media === "results" || media === "all" || media === "off") return media;
  throw bad(`pruning.media must be results, all or off; got ${describeValue(media)}`);
}

function checkEstimate(estimate: unknown): PruningPolicy["estimate"] {
  if (estimate === "tokens" || estimate === "chars/4") return estimate;
  throw bad(`pruning.estimate must be tokens or chars/4; got ${describeValue(estimate)}`);
}

/** Summarising with every number in place; off unless switched on. */
export function resolveSummarization(given: Partial<SummarizationPolicy> = {}): SummarizationPolicy {
  const { summarizeInputChars, summarizeOverChars } = NUMBERS;
  return {
    enabled: given.enabled ?? false,
    model: given.model ?? null,
    maxInputChars: checkNumber(
      given.maxInputChars ?? summarizeInputChars.default,
      summarizeInputChars,
      "summarization.maxInputChars",
    ),
    triggerChars: checkNumber(
      given.triggerChars ?? summarizeOverChars.default,
      summarizeOverChars,
      "summarization.triggerChars",
    ),
  };
}

/** The windows that were stated; of two for one model the later holds. */
export function resolveModels(given: PolicyInput["models"] = []): ModelWindow[] {
  const byName = new Map<string, ModelWindow>();
  for (const { provider, model, contextTokens } of given) {
    const checked = checkNumber(contextTokens, NUMBERS.contextTokens, `the window of ${provider}/${model}`);
    byName.set(JSON.stringify([provider, model]), { provider, model, contextTokens: checked });
  }
  return [...byName.values()];
}

function bad(message: string): SpillwayError {
  return new SpillwayError("bad-policy", message);
}
