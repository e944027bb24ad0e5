// The public surface. Anything added here is public API: named exports only.
import type { LoadConfigOptions, LoadedConfig } from "./config/index.ts";
import type { Ledger } from "./contract/ledger.ts";
import type { ModelSource } from "./contract/model-client.ts";
import type { PolicyInput, ProfileName } from "./contract/policy.ts";
import type { Store } from "./contract/store.ts";
import type { TokenCounter } from "./contract/token-counter.ts";
import { SpillwayError } from "./errors.ts";
import { assembleSpillway, openRedaction, type Redact, type Spillway, type SpillwayParts } from "./spillway.ts";

/** Parts a caller may hand in; what is left out has a default. */
export interface SpillwayOptions
  extends Partial<
    Omit<SpillwayParts, "policy" | "openModel" | "searcher" | "histories" | "redaction" | "logs" | "copyOut">
  > {
  /** Where secrets are replaced; "on" by default: in what is stored and logged. */
  redact?: Redact | undefined;
  policy?: PolicyInput | ProfileName;
  /** A file to which every event is added as a line of JSON. */
  events?: string | undefined;
  /** A folder with a run for each session: its events, and each kept output as a plain file. */
  runs?: string | undefined;
  /** The folder for artifacts and events; the user's data folder, or SPILLWAY_DIR, by default. */
  dir?: string | undefined;
}

/**
 * A Spillway that works at once: balanced limits, artifacts and events kept on this machine, environment variables
 * (SPILLWAY_MAX_LINES, SPILLWAY_OFF ...) honoured. Reads no config file: hand in `(await loadConfig()).options` for that.
 */
export async function createSpillway(options: SpillwayOptions = {}): Promise<Spillway> {
  const { policy, dir, events, runs, redact, env = process.env, ...parts } = options;
  const unknown = Object.keys(options).find((key) => !OPTIONS.has(key));
  if (unknown !== undefined) {
    throw new SpillwayError(
      "bad-input",
      `createSpillway has no option "${unknown}"; known are ${[...OPTIONS].join(", ")}`,
    );
  }
  // A wrong rule should show here, not with the first output.
  if (parts.reader?.by === "file" && runs === undefined) {
    throw new SpillwayError(
      "missing-part",
      'reader: { by: "file" } needs runs, the folder in which its copies are made',
    );
  }
  const [redaction, { newHistories }, local] = await Promise.all([
    // Where outputs are saved by default, guardSync must not have to wait for it.
    openRedaction(redact, parts.store === undefined),
    import("./persist/index.ts"),
    parts.store === undefined
      ? openPlace(dir ?? (env.SPILLWAY_DIR || undefined))
      : { store: parts.store, ledger: null },
  ]);
  const kept = { ...local, ...(parts.ledger !== undefined && { ledger: parts.ledger }) };
  const files =
    (events ?? runs) === undefined
      ? {}
      : (await import("./storage/event-files/open-event-files.ts")).openEventFiles(
          { events, runs },
          kept.store,
          parts.scope,
        );
  const openModel = async (source: ModelSource) =>
    (await import("./parts/model-client/model-client.ts")).modelClient(source, parts.now);
  // A wrong endpoint should show here too.
  if (parts.summarizer !== undefined) await openModel(parts.summarizer);
  const searcher = async () => (await import("./parts/searcher.ts")).loadSearcher();
  return assembleSpillway({
    ...parts,
    ...kept,
    ...files,
    openModel,
    searcher,
    histories: newHistories,
    redaction,
    env,
    policy: [policy],
  });
}

const OPTIONS = new Set([
  "store",
  "ledger",
  "dir",
  "policy",
  "env",
  "counter",
  "strategies",
  "scope",
  "reader",
  "redact",
  "events",
  "runs",
  "logger",
  "hostLimits",
  "summarizer",
  "onReceipt",
  "onEvent",
  "now",
]);

/** This machine's folder; memory where it cannot be had, since an agent must go on. */
async function openPlace(dir: string | undefined): Promise<{ store: Store; ledger: Ledger }> {
  try {
    const { openLocal } = await import("./storage/local/open-local.ts");
    return await openLocal(dir);
  } catch (error) {
    if (dir !== undefined) throw error; // somebody named it: they should know
    const { memoryStore } = await import("./storage/stores/memory.ts");
    const { memoryLedger } = await import("./storage/ledgers/memory.ts");
    return { store: memoryStore(), ledger: memoryLedger() };
  }
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
export type { Artifact, ArtifactAbout, ArtifactQuery, ArtifactWriter, ByteRange, Store } from "./contract/store.ts";
export type { Held, Sieve, Strategy, StrategyName, StrategyRequest } from "./contract/strategy.ts";
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
} from "./persist/histories.ts";
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
export type {
  Admission,
  AdmitOptions,
  AdmitRequest,
  CustomMarker,
  CutFields,
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
