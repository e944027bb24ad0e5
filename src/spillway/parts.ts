import type { Admission, AdmitRequest } from "../admit/admit-request.ts";
import type { EventLog } from "../admit/recorder.ts";
import type { Redaction } from "../admit/redaction.ts";
import type { Tool, WrapOptions } from "../admit/wrap-tool.ts";
import type { Call } from "../call/call-options.ts";
import type { SpillwayEvent } from "../contract/event.ts";
import type { HtmlReader } from "../contract/html-reader.ts";
import type { Ledger } from "../contract/ledger.ts";
import type { Limits } from "../contract/limits.ts";
import type { ModelClient, ModelSource } from "../contract/model-client.ts";
import type { Output } from "../contract/output.ts";
import type { Policy, PolicyInput, ProfileName, ToolOverride, ToolPolicy } from "../contract/policy.ts";
import type { Receipt } from "../contract/receipt.ts";
import type { Searcher } from "../contract/searcher.ts";
import type { Artifact, Store } from "../contract/store.ts";
import type { Strategy } from "../contract/strategy.ts";
import type { TokenCounter } from "../contract/token-counter.ts";
import type { GuardParts, Histories } from "../histories/histories.ts";
import type { PrepareOptions } from "../prepare/parts.ts";
import type { Prepared } from "../prepare/report.ts";
import type { RecallOptions, RecallPage, RecallWant, SearchOptions, SearchPage, SearchQuery } from "../recall/index.ts";
import type { Access } from "../stages/mark/access.ts";
import type { Environment } from "../stages/policy/policy-from-environment.ts";
import type { Logger } from "../stages/record/log-cut.ts";
import type { Rule } from "../stages/recover/compile-signatures.ts";
import type { Compact } from "./lazy-compact.ts";

/** How the reader of a marker gets at the rest. "file": a plain copy is made for it in the run directory. */
export type Reader = Exclude<Access, { by: "file" }> | { by: "file" };

/** What a Spillway is made of. Everything has a default. */
export interface SpillwayParts {
  /** Where whole outputs are kept; null keeps nothing. */
  store: Store | null;
  /** Where events, sums and projections are kept; null keeps none. */
  ledger: Ledger | null;
  /** Opens the model that summarises. */
  openModel: (source: ModelSource) => Promise<ModelClient>;
  /** The model that summarises outputs and conversations where that is asked for; there is none by default. */
  summarizer?: ModelSource | undefined;
  /** Loads a counter with a real vocabulary, for requests that were refused; without it, or where it fails, the estimate serves. */
  exactCounter?: (() => Promise<TokenCounter>) | undefined;
  /** Finds in artifacts. */
  searcher: () => Promise<Searcher>;
  /** Makes readable text of web pages that are over their limits; null cuts them as they are. */
  htmlReader?: HtmlReader | (() => Promise<HtmlReader>) | null | undefined;
  /** Guards and caps messages; without it a Spillway does neither. */
  histories?: ((parts: GuardParts) => Histories) | undefined;
  /** Who may read what is kept; the local user by default. */
  scope?: string | undefined;
  /** How the reader of a marker gets at the rest; nothing is named that it does not have. */
  reader?: Reader | undefined;
  /** Makes the copy for a reader that only has a file tool; null if there can be none. */
  copyOut?: ((artifact: Pick<Artifact, "id" | "session" | "tool">) => Promise<string | null>) | undefined;
  /** Where secrets are replaced, as `openRedaction` gives it; null nowhere. */
  redaction: Redaction | null;
  /** What is wrong with the store or a project's file from the start: told on each receipt of an output that was saved. */
  placeFaults?: readonly string[];
  /** Logs of events beside the ledger. */
  logs?: readonly EventLog[];
  /** Told what was cut, and what went wrong. What it throws is ignored. */
  logger?: Logger | undefined;
  /** What the host would cut every output to without us, so that it is not counted as saved. */
  hostLimits?: Limits | undefined;
  /** Told of every event. What it throws is ignored. */
  onEvent?: ((event: SpillwayEvent) => unknown) | undefined;
  /** Signatures of refusals beside the built-in ones, made ready: asked first. */
  rules?: readonly Rule[] | undefined;
  /** Weakest first. */
  policy?: readonly (PolicyInput | ProfileName | undefined)[];
  /** Variables such as SPILLWAY_MAX_LINES, stronger than the policy; `{}` for none. */
  env?: Environment;
  /** How tokens are counted; without it they are estimated. */
  counter?: TokenCounter;
  /** Strategies beside the built-in ones. */
  strategies?: readonly Strategy[];
  /** Told of every receipt. What it throws is ignored. */
  onReceipt?: ((receipt: Receipt) => void) | undefined;
  /** The clock, in milliseconds; the machine's by default. */
  now?: (() => number) | undefined;
}

/** Where outputs pass. */
export interface Spillway extends Histories {
  readonly policy: Policy;
  readonly store: Store | null;
  readonly ledger: Ledger | null;
  /** Brings one output under its tool's limits and keeps the whole of it. Never throws for what the output is. */
  admit<T extends Output>(request: AdmitRequest & { output: T }): Promise<Admission<T>>;
  /** A tool whose results, updates and errors are clamped. The tool itself is not changed. */
  wrapTool<T extends Tool>(tool: T, options?: WrapOptions): T;
  /** The same for a list or a record of tools. */
  wrapTools<T extends readonly Tool[] | Record<string, Tool>>(tools: T, options?: WrapOptions): T;
  /**
   * Messages as they should be sent: old results lightened under pressure, new ones within their limits and one budget. The
   * messages that came are not changed. What is wrong with them is never thrown.
   */
  prepare<Message>(messages: readonly Message[], options?: PrepareOptions): Promise<Prepared<Message>>;
  /**
   * Prepares the messages, sends them, and if the provider refuses them for their size makes them smaller and sends again.
   * What is not about size is thrown as it came; what cannot be made to fit as an OverflowError.
   */
  call: Call;
  /**
   * A conversation with its older part as a summary, by the model that was handed in. The messages that came are not changed,
   * those that go are saved.
   */
  compact: Compact;
  /** Reads back part of an artifact: bounded, and never spilled again. */
  recall(id: string, want?: RecallWant, options?: RecallOptions): Promise<RecallPage>;
  /** Finds in an artifact: the count is always true, the hits come in pages. */
  search(id: string, query: SearchQuery, options?: SearchOptions): Promise<SearchPage>;
  /** What applies to a tool. */
  resolve(tool: string, ...overrides: (ToolOverride | undefined)[]): ToolPolicy;
  /** A result as people see it: short texts, no image data. */
  forDisplay(result: unknown): unknown;
  /** The first line of an error, for people. */
  errorForDisplay(error: unknown): string;
}
