// Stores, ledgers and counters to hand in, and what those need who write a part of their own. Anything added here is public
// API: named exports only.
import type { Ledger } from "./contract/ledger.ts";
import type { Retention, Store } from "./contract/store.ts";

/** A folder of this machine, open. */
export interface LocalFolder {
  /** Keeps outputs in files, and small ones in the folder's SQLite database. */
  store: Store;
  /** Keeps events, sums and projections in that database. */
  ledger: Ledger;
  /** Ends both. What was kept stays. */
  close(): Promise<void>;
}

/**
 * Opens a folder with a store and a ledger, as `createSpillway({ dir })` does, and makes it if it is not there. Several
 * processes may use it. `retention` is applied once an hour, in the background; "off" keeps everything. The ledger is that of
 * `scope`, or of the local user.
 */
export async function openLocalFolder(
  dir: string,
  options: { retention?: Retention | "off" | undefined; scope?: string | undefined } = {},
): Promise<LocalFolder> {
  const { openLocal } = await import("./storage/local/open-local.ts");
  const { store, ledger, close } = await openLocal(dir, { collects: true, ...options });
  return { store, ledger, close };
}

export type { RewritableHistory } from "./call/call-options.ts";
export type { Compacted, CompactInput, Compactor } from "./contract/compactor.ts";
export type { Cut, Gap, Piece, Room } from "./contract/cut.ts";
export type { EventKind, RecordedEvent, SpillwayEvent } from "./contract/event.ts";
export type { HtmlReader } from "./contract/html-reader.ts";
export type {
  EventQuery,
  Ledger,
  Projection,
  SessionQuery,
  SessionRow,
  StatQuery,
  StatRow,
  Totals,
} from "./contract/ledger.ts";
export type { Limits, Unit } from "./contract/limits.ts";
export type {
  ModelCaps,
  ModelEndpoint,
  ModelFunction,
  ModelPrompt,
  ModelSource,
  ModelSpeech,
} from "./contract/model-client.ts";
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
export type { Choice, Cutter, Focus, Sieve, Strategy, StrategyRequest } from "./contract/strategy.ts";
export type { TokenCounter } from "./contract/token-counter.ts";
export type { Exchanged, ExchangeResponse } from "./exchange/answer.ts";
export type { ExchangeContext, ExchangeOptions, ExchangeRequest, ExchangeSend } from "./exchange/exchange.ts";
export type {
  GuardedSession,
  MessageSource,
  PersistAbout,
  PersistHook,
  SessionManager,
} from "./histories/histories.ts";
export type { CustomMarker } from "./stages/mark/forms.ts";
export { estimateCounter } from "./stages/measure/estimate-tokens.ts";
export type { CutFields, FaultFields } from "./stages/record/events.ts";
export type { Ladder, RungName } from "./stages/recover/ladders.ts";
export type { Rung, RungCut, RungItem, RungMedia, RungPlan, RungRequest } from "./stages/recover/rung.ts";
export type { RuleInput } from "./stages/redact/redaction-rule.ts";
export { type MemoryLedgerOptions, memoryLedger } from "./storage/ledgers/memory.ts";
export { type MemoryStoreOptions, memoryStore } from "./storage/stores/memory.ts";
