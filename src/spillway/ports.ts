import type { Admission, AdmitRequest } from "../admit/admit-request.ts";
import type { Named, Reader } from "../admit/reader.ts";
import type { EventLog, RecordedBy } from "../admit/recorder.ts";
import type { Redact, Redaction } from "../admit/redaction.ts";
import type { Tool, ToolServer, WrapOptions, Wrapped, WrappedTools } from "../admit/wrap-tool.ts";
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
import type { Retention, Store } from "../contract/store.ts";
import type { Strategy } from "../contract/strategy.ts";
import type { TokenCounter } from "../contract/token-counter.ts";
import type { Exchange } from "../exchange/exchange.ts";
import type { GuardPorts, Histories } from "../histories/histories.ts";
import type { PrepareOptions } from "../prepare/ports.ts";
import type { Prepared } from "../prepare/report.ts";
import type {
  ReadBackFor,
  ReadBy,
  RecallOptions,
  RecallPage,
  RecallWant,
  SearchOptions,
  SearchPage,
  SearchQuery,
  SinceOptions,
  SincePage,
  WholeArtifact,
} from "../recall/index.ts";
import type { Logger } from "../stages/record/events.ts";
import type { OverflowOptions, Rule } from "../stages/recover/compile-signatures.ts";
import type { Compact } from "../summarize/summaries.ts";

/** What `createSpillway` takes. Every key may be left out and has a default. */
export interface SpillwayOptions {
  /** The limits and what else applies to each tool: a profile's name or an object; "balanced" by default. */
  policy?: PolicyInput | ProfileName | undefined;
  /** Variables such as SPILLWAY_MAX_LINES, which are stronger than the policy; those of the process by default, `{}` for none. */
  env?: { readonly [name: string]: string | undefined } | undefined;
  /**
   * The folder for artifacts and events; the one that SPILLWAY_DIR names, or the user's data folder, by default. A folder that
   * is named here and cannot be used is an error; without any other folder Spillway goes on, and says so.
   */
  dir?: string | undefined;
  /** How long and how much is kept in that folder; "off" keeps everything. Applied once an hour, in the background. */
  retention?: Retention | "off" | undefined;
  /** Which outputs are kept: "cut", those of which something is not shown (the default), or "all". */
  keep?: "cut" | "all" | undefined;
  /**
   * Where whole outputs are kept: a store, or the address of a bucket, such as s3://bucket/prefix?endpoint=https://host, which
   * many machines can share and which needs `ledger` to be an address too. By default what SPILLWAY_STORE names, or the
   * folder; null keeps nothing.
   */
  store?: Store | string | null | undefined;
  /**
   * Where events, sums and projections are kept: a ledger, or the address of a PostgreSQL database, which many machines can
   * share. By default what SPILLWAY_LEDGER names, or the folder; null (or `store` without `ledger`) keeps none.
   */
  ledger?: Ledger | string | null | undefined;
  /** A file to which every event is added as a line of JSON. */
  events?: string | undefined;
  /** A folder with a run for each session: its events, and each kept output as a plain file. */
  runs?: string | undefined;
  /** Who may read what is kept and recorded; what SPILLWAY_SCOPE names, or the local user, by default. */
  scope?: string | undefined;
  /** How the reader of a marker gets at the rest; without it a marker says that the operator has it. */
  reader?: Reader | undefined;
  /** Where secrets are replaced; "on" by default: in what is stored and logged. */
  redact?: Redact | undefined;
  /** How refusals for size are known, beside what is built in. */
  overflow?: OverflowOptions | undefined;
  /** The model that summarises outputs and conversations where that is asked for; there is none by default. */
  summarizer?: ModelSource | undefined;
  /** Makes readable text of web pages that are over their limits, or loads what does; null cuts them as they are. */
  htmlReader?: HtmlReader | (() => Promise<HtmlReader>) | null | undefined;
  /** How tokens are counted; without it they are estimated, erring on the high side. */
  counter?: TokenCounter | undefined;
  /** Strategies beside the built-in ones, by their names. */
  strategies?: readonly Strategy[] | undefined;
  /** What the host would cut every output to without Spillway, so that it is not counted as saved. */
  hostLimits?: Limits | undefined;
  /** Told what was cut, and what went wrong; without it the process warns when nothing can be saved. */
  logger?: Logger | undefined;
  /** Told of every receipt. What it throws is ignored. */
  onReceipt?: ((receipt: Receipt) => void) | undefined;
  /** Told of every event. What it throws is ignored. */
  onEvent?: ((event: SpillwayEvent) => unknown) | undefined;
  /** The clock, in milliseconds; the machine's by default. */
  now?: (() => number) | undefined;
}

/** What a Spillway is put together from: the options that are taken as they come, and what the others were opened to. */
export interface SpillwayPorts
  extends Pick<
    SpillwayOptions,
    | "env"
    | "keep"
    | "scope"
    | "reader"
    | "summarizer"
    | "htmlReader"
    | "counter"
    | "strategies"
    | "hostLimits"
    | "logger"
    | "onReceipt"
    | "onEvent"
    | "now"
  > {
  store: Store | null;
  ledger: Ledger | null;
  openModel: (source: ModelSource) => Promise<ModelClient>;
  /** Loads a counter with a real vocabulary, for requests that were refused; without it, or where it fails, the estimate serves. */
  exactCounter?: (() => Promise<TokenCounter>) | undefined;
  searcher: () => Promise<Searcher>;
  /** Guards and caps messages; without it a Spillway does neither. */
  histories?: ((ports: GuardPorts) => Histories) | undefined;
  /** Makes the copy for a reader that only has a file tool; null if there can be none. */
  copyOut?: ((artifact: Named) => Promise<string | null>) | undefined;
  /** Where secrets are replaced, as `openRedaction` gives it; null nowhere. */
  redaction: Redaction | null;
  /** What is wrong with the store or a project's file: told on each receipt of an output that was saved. */
  placeFaults?: readonly string[];
  /** Told that tools of this process read back from now on. */
  onReadBack?: () => void;
  /** Logs of events beside the ledger. */
  logs?: readonly EventLog[];
  by?: RecordedBy | undefined;
  /** Signatures of refusals beside the built-in ones, made ready: asked first. */
  rules?: readonly Rule[] | undefined;
  /** Weakest first. */
  policy?: readonly (PolicyInput | ProfileName | undefined)[];
}

/** Where outputs pass. */
export interface Spillway extends Histories {
  readonly policy: Policy;
  readonly store: Store | null;
  readonly ledger: Ledger | null;
  /** Whose artifacts these are. */
  readonly scope: string;
  /** Brings one output under its tool's limits and keeps the whole of it. Never throws for what the output is. */
  admit<T extends Output>(request: AdmitRequest & { output: T }): Promise<Admission<T>>;
  /** A tool whose results, updates and errors are clamped. The tool itself is not changed. */
  wrapTool<T extends Tool>(tool: T, options?: WrapOptions): Wrapped<T>;
  /** The same for a list or a record of tools, or for a server of MCP, whose tools are wrapped as they are registered. */
  wrapTools<T extends readonly Tool[] | Record<string, Tool> | ToolServer>(
    tools: T,
    options?: WrapOptions,
  ): WrappedTools<T>;
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
   * One HTTP exchange with a model provider: reads the request's body, prepares and sends it as `call` does, and hands the
   * answer on byte by byte. `spillway/fetch` is made with it. What is not a request to a model passes as it came.
   */
  exchange: Exchange;
  /**
   * A conversation with its older part as a summary, by the model that was handed in. The messages that came are not changed,
   * those that go are saved.
   */
  compact: Compact;
  /** A saved output, whole: what is known of it, and its bytes at once or as a stream. With `by` an event says who reads it. */
  artifact(id: string, by?: ReadBy): Promise<WholeArtifact>;
  /** Reads back part of an artifact: bounded, and never spilled again. */
  recall(id: string, want?: RecallWant, options?: RecallOptions): Promise<RecallPage>;
  /** Finds in an artifact: the count is always true, the hits come in pages. */
  search(id: string, query: SearchQuery, options?: SearchOptions): Promise<SearchPage>;
  /** What is new in a saved output, what is gone and which counts moved since the last good run of its command, or another output. */
  since(id: string, options?: SinceOptions): Promise<SincePage>;
  /**
   * Recall and search as tools of a framework (`"ai"`, `"langchain"`, `"openai-agents"`, `"mastra"`, `"anthropic"`,
   * `"claude-agent-sdk"`, `"pi"`, `"openai"`, `"mcp"`). From then on markers name exactly these tools.
   */
  readBack: ReadBackFor;
  /** What applies to a tool. */
  resolve(tool: string, ...overrides: (ToolOverride | undefined)[]): ToolPolicy;
  /** A result as people see it: short texts, no image data. */
  forDisplay(result: unknown): unknown;
  /** The first line of an error, for people. */
  errorForDisplay(error: unknown): string;
}
