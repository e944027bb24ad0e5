// The public surface: what an application uses. Anything added here is public API: named exports only. What only those need who
// write a part of their own is in extend.ts.
import type { LoadConfigOptions, LoadedConfig } from "./config/index.ts";
import type { TokenCounter } from "./contract/token-counter.ts";
import type { Spillway, SpillwayOptions } from "./spillway.ts";

/**
 * A Spillway that works at once: balanced limits, artifacts and events kept on this machine, environment variables
 * (SPILLWAY_MAX_LINES, SPILLWAY_OFF ...) honoured. Reads no config file: hand in `(await loadConfig()).options` for that.
 */
export async function createSpillway(options: SpillwayOptions = {}): Promise<Spillway> {
  const [{ openSpillway }, { newHistories }] = await Promise.all([
    import("./open-spillway.ts"),
    import("./histories/histories.ts"),
  ]);
  return openSpillway(options, newHistories);
}

/** Reads the user's and the project's config files and the environment. */
export async function loadConfig(options?: LoadConfigOptions): Promise<LoadedConfig> {
  return (await import("./config/index.ts")).loadConfig(options);
}

/** Counts tokens exactly, by a vocabulary of ai-tokenizer, which has to be installed beside Spillway. */
export async function loadExactCounter(vocabulary?: "o200k" | "cl100k" | "claude"): Promise<TokenCounter> {
  return (await import("./drivers/exact-token-counter.ts")).loadExactCounter(vocabulary);
}

export type { Admission, AdmitOptions, AdmitRequest } from "./admit/admit-request.ts";
export type { Reader } from "./admit/reader.ts";
export type { Redact } from "./admit/redaction.ts";
export type { Tool, WrapOptions } from "./admit/wrap-tool.ts";
export type { CallOptions, Send, SendContext } from "./call/call-options.ts";
export type { LoadConfigOptions, LoadedConfig } from "./config/index.ts";
export type { SpillwayEvent } from "./contract/event.ts";
export type { StatRow } from "./contract/ledger.ts";
export type { Limits } from "./contract/limits.ts";
export type { ModelSource } from "./contract/model-client.ts";
export type { Output } from "./contract/output.ts";
export type { Policy, PolicyInput, ProfileName, ToolPolicy } from "./contract/policy.ts";
export type { Receipt } from "./contract/receipt.ts";
export type { Retention } from "./contract/store.ts";
export type { StrategyName } from "./contract/strategy.ts";
export { OverflowError, type OverflowFacts, SpillwayError, type SpillwayErrorCode } from "./errors.ts";
export type { CapOptions, CappedHistory, GuardOptions, GuardSessionOptions } from "./histories/histories.ts";
export type { PrepareOptions } from "./prepare/ports.ts";
export type { Prepared, PruneReport } from "./prepare/report.ts";
export type {
  ReadBackKinds,
  ReadBackOptions,
  RecallOptions,
  RecallPage,
  RecallWant,
  SearchOptions,
  SearchPage,
  SearchQuery,
  WholeArtifact,
} from "./recall/index.ts";
export { type Rates, statRates } from "./spillway/stat-rates.ts";
export type { Spillway, SpillwayOptions } from "./spillway.ts";
export type { Logger } from "./stages/record/events.ts";
export type { CompactedConversation, CompactOptions } from "./summarize/summaries.ts";
