// The public surface. Anything added here is public API: named exports only.
import type { LoadConfigOptions, LoadedConfig } from "./config/index.ts";
import type { TokenCounter } from "./contract/token-counter.ts";
import type { SpillwayOptions } from "./open-spillway.ts";
import type { Spillway } from "./spillway.ts";

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
  return (await import("./parts/exact-token-counter.ts")).loadExactCounter(vocabulary);
}

export type { ConfigSource, LoadConfigOptions, LoadedConfig } from "./config/index.ts";
export type { Cut, Gap, Piece, Room } from "./contract/cut.ts";
export type { EventKind, RecordedEvent, SpillwayEvent } from "./contract/event.ts";
export type { HtmlReader } from "./contract/html-reader.ts";
export type { EventQuery, Ledger, Projection, SessionRow, StatQuery, StatRow, Totals } from "./contract/ledger.ts";
export type { Limits, Unit } from "./contract/limits.ts";
export type {
  ModelCaps,
  ModelEndpoint,
  ModelFunction,
  ModelPrompt,
  ModelSource,
  ModelSpeech,
} from "./contract/model-client.ts";
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
export type {
  Artifact,
  ArtifactAbout,
  ArtifactQuery,
  ArtifactWriter,
  ByteRange,
  HeldArtifact,
  Retention,
  Store,
} from "./contract/store.ts";
export type { Choice, Focus, Held, Sieve, Strategy, StrategyName, StrategyRequest } from "./contract/strategy.ts";
export type { TokenCounter } from "./contract/token-counter.ts";
export {
  OverflowError,
  type OverflowFacts,
  type OverflowStep,
  SpillwayError,
  type SpillwayErrorCode,
} from "./errors.ts";
export type {
  CapOptions,
  CappedHistory,
  GuardedSession,
  GuardOptions,
  GuardSessionOptions,
  MessageSource,
  PersistAbout,
  PersistHook,
  SessionManager,
} from "./histories/histories.ts";
export type { SpillwayOptions } from "./open-spillway.ts";
export type {
  Call,
  CallOptions,
  Compacted,
  CompactInput,
  Compactor,
  Ladder,
  RewritableHistory,
  Rung,
  RungCut,
  RungItem,
  RungMedia,
  RungName,
  RungPlan,
  RungRequest,
  Send,
  SendContext,
} from "./spillway/lazy-call.ts";
export type { Compact, CompactedConversation, CompactOptions } from "./spillway/lazy-compact.ts";
export { type Rates, statRates } from "./spillway/stat-rates.ts";
export type {
  Admission,
  AdmitOptions,
  AdmitRequest,
  AskOptions,
  CustomMarker,
  CutFields,
  FaultFields,
  Logger,
  Prepared,
  PrepareOptions,
  PruneChange,
  PruneReport,
  Reader,
  RecallOptions,
  RecallPage,
  RecallWant,
  Redact,
  RuleInput,
  SearchMatch,
  SearchOptions,
  SearchPage,
  SearchQuery,
  Spillway,
  SpillwayParts,
  Tool,
  WrapOptions,
} from "./spillway.ts";
