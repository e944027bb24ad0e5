import type { AdmissionRequest } from "./admit/admission.ts";
import { type AdmittedOutput, admitOutput } from "./admit/admit-output.ts";
import { admitPlainly } from "./admit/admit-plainly.ts";
import type { Admission, AdmitOptions, AdmitRequest } from "./admit/admit-request.ts";
import { OwnTexts } from "./admit/own-texts.ts";
import { type EventLog, newRecorder } from "./admit/recorder.ts";
import { type Redact, redactionOf } from "./admit/redaction.ts";
import { safeNames } from "./admit/safe-names.ts";
import { type CallOptions, type Tool, type WrapOptions, wrapTool, wrapTools } from "./admit/wrap-tool.ts";
import type { EventKind, SpillwayEvent } from "./contract/event.ts";
import type { Ledger } from "./contract/ledger.ts";
import type { Limits } from "./contract/limits.ts";
import type { Output } from "./contract/output.ts";
import type { Policy, PolicyInput, ProfileName, ToolOverride, ToolPolicy } from "./contract/policy.ts";
import type { Receipt } from "./contract/receipt.ts";
import type { Searcher } from "./contract/searcher.ts";
import type { Artifact, Store } from "./contract/store.ts";
import type { Strategy } from "./contract/strategy.ts";
import type { TokenCounter } from "./contract/token-counter.ts";
import { SpillwayError } from "./errors.ts";
import type {
  RecallOptions,
  RecallPage,
  RecallWant,
  SearchMatch,
  SearchOptions,
  SearchPage,
  SearchQuery,
} from "./recall/index.ts";
import { compileFocus } from "./stages/clamp/focus/compile-focus.ts";
import { STRATEGY_NAMES, strategyAtHand } from "./stages/clamp/strategies/on-use.ts";
import { errorForDisplay } from "./stages/display/error-for-display.ts";
import { forDisplay } from "./stages/display/for-display.ts";
import type { Access } from "./stages/mark/access.ts";
import type { CustomMarker } from "./stages/mark/forms.ts";
import { estimateCounter } from "./stages/measure/estimate-tokens.ts";
import { guardCounter } from "./stages/measure/guard-counter.ts";
import { measureText } from "./stages/measure/measure-text.ts";
import { checkLimits } from "./stages/policy/check-limits.ts";
import { NUMBERS } from "./stages/policy/defaults.ts";
import { type Environment, policyFromEnvironment } from "./stages/policy/policy-from-environment.ts";
import { resolvePolicy } from "./stages/policy/resolve-policy.ts";
import { resolveToolPolicy, smallerLimits } from "./stages/policy/resolve-tool-policy.ts";
import { hostTokens } from "./stages/record/host-tokens.ts";
import { type CutFields, type Logger, logCut } from "./stages/record/log-cut.ts";
import { isCut } from "./stages/record/receipt-events.ts";
import type { RuleInput } from "./stages/redact/redaction-rule.ts";
import { newBreaker } from "./stages/spill/breaker.ts";
import type { SpillPlace } from "./stages/spill/spill.ts";
import { within } from "./stages/spill/within.ts";

export type {
  Admission,
  AdmitOptions,
  AdmitRequest,
  CallOptions,
  CustomMarker,
  CutFields,
  Logger,
  RecallOptions,
  RecallPage,
  RecallWant,
  Redact,
  RuleInput,
  SearchMatch,
  SearchOptions,
  SearchPage,
  SearchQuery,
  Tool,
  WrapOptions,
};

/** How the reader of a marker gets at the rest. "file": a plain copy is made for it in the run directory. */
export type Reader = Exclude<Access, { by: "file" }> | { by: "file" };

/** What a Spillway is made of. Everything has a default. */
export interface SpillwayParts {
  /** Where whole outputs are kept; null keeps nothing. */
  store: Store | null;
  /** Where events, sums and projections are kept; null keeps none. */
  ledger: Ledger | null;
  /** Finds in artifacts. */
  searcher: () => Promise<Searcher>;
  /** Who may read what is kept; the local user by default. */
  scope?: string | undefined;
  /** How the reader of a marker gets at the rest; nothing is named that it does not have. */
  reader?: Reader | undefined;
  /** Makes the copy for a reader that only has a file tool; null if there can be none. */
  copyOut?: ((artifact: Artifact) => Promise<string | null>) | undefined;
  /** Where secrets are replaced; "on" by default: in what is stored and logged. */
  redact?: Redact | undefined;
  /** Logs of events beside the ledger. */
  logs?: readonly EventLog[];
  /** Told what was cut. What it throws is ignored. */
  logger?: Logger | undefined;
  /** What the host would cut every output to without us, so that it is not counted as saved. */
  hostLimits?: Limits | undefined;
  /** Told of every event. What it throws is ignored. */
  onEvent?: ((event: SpillwayEvent) => unknown) | undefined;
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
}

/** Where outputs pass. */
export interface Spillway {
  readonly policy: Policy;
  readonly store: Store | null;
  readonly ledger: Ledger | null;
  /** Brings one output under its tool's limits and keeps the whole of it. Never throws for what the output is. */
  admit<T extends Output>(request: AdmitRequest & { output: T }): Promise<Admission<T>>;
  /** A tool whose results, updates and errors are clamped. The tool itself is not changed. */
  wrapTool<T extends Tool>(tool: T, options?: WrapOptions): T;
  /** The same for a list or a record of tools. */
  wrapTools<T extends readonly Tool[] | Record<string, Tool>>(tools: T, options?: WrapOptions): T;
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

/** Puts the parts together. `createSpillway` in index.ts fills in the defaults. */
export function assembleSpillway(parts: SpillwayParts): Spillway {
  const { store, ledger, env = {}, scope = "local", reader = { by: "operator" } } = parts;
  const policy = resolvePolicy(...(parts.policy ?? []), policyFromEnvironment(env));
  const counter = parts.counter === undefined ? estimateCounter : guardCounter(parts.counter);
  const ownStrategies = new Map((parts.strategies ?? []).map((strategy) => [strategy.name, strategy]));
  // A policy that names no strategy of ours should fail where it was written, not inside an agent.
  for (const name of strategyNames(policy)) strategyNamed(name);

  const own = new OwnTexts();
  const redaction = redactionOf(parts.redact);
  const breaker = () => newBreaker(NUMBERS.breakerFailures.default, NUMBERS.breakerPauseMs.default, Date.now);
  const deadlineMs = NUMBERS.spillDeadlineMs.default;
  const loadRedactor = redaction === null ? null : () => redaction.loadRedactor();
  const place: SpillPlace = { store, breaker: breaker(), deadlineMs, loadRedactor };
  const { logs = [] } = parts;
  const recorder = newRecorder({
    ledger,
    logs,
    listeners: parts,
    redaction,
    newBreaker: breaker,
    deadlineMs,
    now: Date.now,
  });
  const safeName = safeNames(redaction);
  checkLimits(parts.hostLimits ?? {}, "hostLimits");

  function strategyNamed(name: string): Strategy {
    const strategy = ownStrategies.get(name) ?? strategyAtHand(name);
    if (strategy !== undefined) return strategy;
    throw new SpillwayError(
      "unknown-strategy",
      `strategy must be one of ${[...STRATEGY_NAMES, ...ownStrategies.keys()].join(", ")}; got "${name}"`,
    );
  }

  function planFor(request: AdmitRequest): AdmissionRequest {
    const { limits, strategy, headShare, fold, off, marker, exitCode, keep, focus, size, command } = request;
    const tool = request.tool ?? "tool";
    if (!("output" in request))
      throw new SpillwayError("bad-input", "admit takes { output, ... }; there was no output");
    if (typeof tool !== "string") throw new SpillwayError("bad-input", `tool must be a name; got ${String(tool)}`);
    if (typeof exitCode === "number" && !Number.isSafeInteger(exitCode)) {
      throw new SpillwayError("bad-input", `exitCode must be a whole number; got ${exitCode}`);
    }
    if (request.hostLimits !== undefined) checkLimits(request.hostLimits, "hostLimits");
    const rule = resolveToolPolicy(policy, tool, request.declared && { ...request.declared, declared: true }, {
      limits,
      strategy,
      headShare,
      fold,
      off,
    });
    return {
      scope,
      tool,
      session: request.session ?? null,
      call: request.call ?? null,
      limits: size === undefined ? rule.limits : smallerLimits(rule.limits, checkLimits(size, "size")),
      strategy: strategyNamed(keep ?? rule.strategy),
      headShare: rule.headShare,
      fold: rule.fold,
      counter,
      exitCode: typeof exitCode === "number" ? exitCode : null,
      off: rule.off,
      boundDetails: request.boundDetails ?? false,
      explain: request.explain ?? false,
      ...(marker === undefined ? {} : { marker }),
      ...(typeof command === "string" && command !== "" && { command }),
      ...(focus !== undefined && { focus: compileFocus(focus) }),
    };
  }

  async function admitAny(request: AdmitRequest): Promise<Omit<AdmittedOutput, "totalChars">> {
    const plan = planFor(request);
    const { exitCode: exit, isUpdate } = request;
    const { session, call } = plan;
    const host = request.hostLimits ?? parts.hostLimits;
    const tool = await safeName(plan.tool);
    const keeper = {
      place: plan.off || isUpdate ? { ...place, store: null } : place,
      about: { scope, session, tool, call },
      access: accessTo,
      own,
      loadView: redaction?.loadView ?? null,
      ...(typeof exit === "object" && exit !== null && { exit }),
    };
    const { totalChars, ...admitted } = await admitOutput(plan, request.output, keeper).catch((error: unknown) =>
      standIn(plan, request.output, error),
    );
    if (isUpdate) return admitted;
    const { receipt } = admitted;
    if (isCut(receipt))
      logCut(parts.logger, "info", { tool, beforeChars: totalChars, afterChars: receipt.shown.chars });
    await recorder.receipt(receipt, host === undefined ? null : { hostTokens: hostTokens(receipt, totalChars, host) });
    return admitted;
  }

  async function standIn(plan: AdmissionRequest, output: unknown, error: unknown): Promise<AdmittedOutput> {
    if (plan.off || !redaction?.loadView) return admitPlainly(plan, output, error);
    const view = await redaction.loadView().catch(() => null);
    // What cannot be redacted is not shown.
    return view === null ? admitPlainly(plan, "", error) : admitPlainly(plan, output, error, view);
  }

  /** A file is named only once it is there. */
  async function accessTo(artifact: Artifact): Promise<Access> {
    if (reader.by !== "file") return reader;
    const copying = (async () => parts.copyOut?.(artifact) ?? null)();
    const path = await within(copying, deadlineMs, "copying").catch(() => null);
    return path === null ? { by: "operator" } : { by: "file", path };
  }

  async function tellReadBack(kind: EventKind, id: string, text: string): Promise<void> {
    // Counted for the tool whose output was read back.
    const about = await store?.find(id, scope).catch(() => null);
    const { session = null, tool = null, call = null } = about ?? {};
    const more = { bytes: measureText(text).bytes, tokens: counter.count(text) };
    await recorder.event({ kind, atMs: Date.now(), session, tool, call, artifact: id, receipt: null, more });
  }

  const wrapping = { admit: admitAny, check: (request: AdmitRequest) => void planFor(request) };
  return {
    policy,
    store,
    ledger,
    async recall(id, want, options) {
      const { recall, recallText } = await import("./recall/index.ts");
      const page = await recall(kept(store), id, scope, want, { searcher: await parts.searcher(), ...options });
      await tellReadBack("artifact-recalled", id, recallText(page));
      return page;
    },
    async search(id, query, options) {
      const { search, searchText } = await import("./recall/index.ts");
      const page = await search(kept(store), await parts.searcher(), id, scope, query, options);
      await tellReadBack("artifact-searched", id, searchText(page));
      return page;
    },
    admit: admitAny as Spillway["admit"],
    wrapTool: (tool, options) => wrapTool(tool, wrapping, options),
    wrapTools: (tools, options) => wrapTools(tools, wrapping, options),
    resolve: (tool, ...overrides) => resolveToolPolicy(policy, tool, ...overrides),
    forDisplay,
    errorForDisplay,
  };
}

function kept(store: Store | null): Store {
  if (store !== null) return store;
  throw new SpillwayError("missing-part", "nothing is kept here: this Spillway was made with store: null");
}

/** Throws if what is said about redaction is wrong, rules included: that should show before the first output. */
export async function checkRedact(redact: Redact | undefined): Promise<void> {
  if (redact === undefined || redact === "off" || redact === "on" || redact === "model") return;
  if (typeof redact === "object" && Array.isArray(redact?.rules))
    return void (await redactionOf(redact)?.loadRedactor());
  throw new SpillwayError(
    "bad-input",
    `redact must be "off", "on", "model" or { rules, model }; got ${String(redact)}`,
  );
}

function strategyNames(policy: Policy): Set<string> {
  const rows = [policy.default, policy.force, policy.builtIn.default, ...policy.rules.map(({ row }) => row)];
  return new Set(rows.flatMap(({ strategy }) => strategy ?? []));
}
