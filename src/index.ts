// The public surface. Anything added here is public API: named exports only.
import type { LoadConfigOptions, LoadedConfig } from "./config/index.ts";
import type { PolicyInput, ProfileName } from "./contract/policy.ts";
import type { TokenCounter } from "./contract/token-counter.ts";
import { SpillwayError } from "./errors.ts";
import { assembleSpillway, type Spillway, type SpillwayParts } from "./spillway.ts";

/** Parts a caller may hand in; what is left out has a default. */
export interface SpillwayOptions extends Partial<Omit<SpillwayParts, "policy">> {
  policy?: PolicyInput | ProfileName;
}

/**
 * A Spillway that works at once: balanced limits, artifacts in memory, environment variables (SPILLWAY_MAX_LINES,
 * SPILLWAY_OFF ...) honoured. Reads no config file: hand in `(await loadConfig()).policy` for that.
 */
export async function createSpillway({
  store,
  policy,
  env = process.env,
  ...parts
}: SpillwayOptions = {}): Promise<Spillway> {
  const unknown = Object.keys(parts).find((key) => !OPTIONS.has(key));
  if (unknown !== undefined)
    throw new SpillwayError(
      "bad-input",
      `createSpillway has no option "${unknown}"; known are ${[...OPTIONS].join(", ")}`,
    );
  const kept = store === undefined ? (await import("./storage/stores/memory.ts")).memoryStore() : store;
  return assembleSpillway({ ...parts, env, store: kept, policy: [policy] });
}

const OPTIONS = new Set(["store", "policy", "env", "counter", "strategies", "onReceipt"]);

/** Reads the user's and the project's config files and the environment. */
export async function loadConfig(options?: LoadConfigOptions): Promise<LoadedConfig> {
  return (await import("./config/index.ts")).loadConfig(options);
}

/** Counts tokens exactly, by a vocabulary of ai-tokenizer, which has to be installed beside Spillway. */
export async function loadExactCounter(vocabulary?: "o200k" | "cl100k" | "claude"): Promise<TokenCounter> {
  return (await import("./parts/exact-token-counter.ts")).loadExactCounter(vocabulary);
}

export type { ConfigSource, LoadConfigOptions, LoadedConfig } from "./config/index.ts";
export type { Cut, Gap, Piece, Room } from "./contract/cut.ts";
export type { Limits, Unit } from "./contract/limits.ts";
export type { Output, OutputStream } from "./contract/output.ts";
export type {
  Policy,
  PolicyInput,
  PolicyRow,
  ProfileName,
  ToolOptions,
  ToolOverride,
  ToolPolicy,
} from "./contract/policy.ts";
export type { Receipt, ReceiptCut, Saved } from "./contract/receipt.ts";
export type { Extent, Size, Total } from "./contract/size.ts";
export type { Span } from "./contract/span.ts";
export type { Artifact, ArtifactWriter, Store } from "./contract/store.ts";
export type { Held, Sieve, Strategy, StrategyName, StrategyRequest } from "./contract/strategy.ts";
export type { TokenCounter } from "./contract/token-counter.ts";
export { SpillwayError, type SpillwayErrorCode } from "./errors.ts";
export type {
  Admission,
  AdmitOptions,
  AdmitRequest,
  CustomMarker,
  Spillway,
  SpillwayParts,
  Tool,
  WrapOptions,
} from "./spillway.ts";
