import type { AdmitPlan } from "./admit/admission.ts";
import { readExitCode } from "./admit/admission.ts";
import { type AdmittedOutput, admitOutput } from "./admit/admit-output.ts";
import type { Admission, AdmitOptions, AdmitRequest } from "./admit/admit-request.ts";
import { admitPlainly } from "./admit/clamp-text.ts";
import { KnownTexts } from "./admit/known-texts.ts";
import { withFaults } from "./admit/receipts.ts";
import { newRecorder } from "./admit/recorder.ts";
import type { Redact } from "./admit/redaction.ts";
import { safeMade, safeNames } from "./admit/redaction.ts";
import { type AskOptions, type Tool, type WrapOptions, wrapTool, wrapTools } from "./admit/wrap-tool.ts";
import type { EventKind } from "./contract/event.ts";
import type { Policy } from "./contract/policy.ts";
import type { Artifact, Store } from "./contract/store.ts";
import type { Strategy } from "./contract/strategy.ts";
import { within } from "./deadline.ts";
import { SpillwayError } from "./errors.ts";
import type { GuardOptions, Histories } from "./histories/histories.ts";
import type { PrepareOptions } from "./prepare/ports.ts";
import type { Prepared, PruneReport } from "./prepare/report.ts";
import type {
  RecallOptions,
  RecallPage,
  RecallWant,
  SearchOptions,
  SearchPage,
  SearchQuery,
  WholeArtifact,
} from "./recall/index.ts";
import { checkReader, checkRequest } from "./spillway/check-options.ts";
import { newCondensing } from "./spillway/condensing.ts";
import { lazyCall } from "./spillway/lazy-call.ts";
import { lazyCompact } from "./spillway/lazy-compact.ts";
import { lazyPreparing } from "./spillway/lazy-prepare.ts";
import type { Reader, Spillway, SpillwayOptions, SpillwayPorts } from "./spillway/ports.ts";
import { compileFocus } from "./stages/clamp/focus/compile-focus.ts";
import { strategies } from "./stages/clamp/strategies/index.ts";
import { errorForDisplay } from "./stages/display/error-for-display.ts";
import { forDisplay } from "./stages/display/for-display.ts";
import type { Access } from "./stages/mark/access.ts";
import type { CustomMarker } from "./stages/mark/forms.ts";
import { estimateCounter, guardCounter } from "./stages/measure/estimate-tokens.ts";
import { measureText } from "./stages/measure/measure-text.ts";
import { checkLimits } from "./stages/policy/check-limits.ts";
import { NUMBERS } from "./stages/policy/defaults.ts";
import { definedOnly, smallerOf } from "./stages/policy/merge-rows.ts";
import { policyFromEnvironment } from "./stages/policy/policy-from-environment.ts";
import { resolvePolicy } from "./stages/policy/resolve-policy.ts";
import { resolveToolPolicy } from "./stages/policy/resolve-tool-policy.ts";
import { hostTokens } from "./stages/record/derive-rates.ts";
import { type CutFields, type FaultFields, isCut, type Logger, logCut, logFault } from "./stages/record/events.ts";
import type { RuleInput } from "./stages/redact/redaction-rule.ts";
import { newBreaker } from "./stages/spill/breaker.ts";
import type { SpillPlace } from "./stages/spill/spill.ts";

export { openRedaction } from "./spillway/open-redaction.ts";
export { openRules } from "./spillway/open-rules.ts";
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
  PruneReport,
  Reader,
  RecallOptions,
  RecallPage,
  RecallWant,
  Redact,
  RuleInput,
  SearchOptions,
  SearchPage,
  SearchQuery,
  Spillway,
  SpillwayOptions,
  SpillwayPorts,
  Tool,
  WholeArtifact,
  WrapOptions,
};
export { logFault };

/** Puts the parts together. `createSpillway` in index.ts fills in the defaults. */
export function assembleSpillway(ports: SpillwayPorts): Spillway {
  const { store, ledger, redaction, env = {}, scope = "local", now = () => Date.now() } = ports;
  const { reader = { by: "operator" }, logs = [], placeFaults = [] } = ports;
  const access: Access = reader.by === "file" ? { by: "operator" } : reader;
  const policy = resolvePolicy(...(ports.policy ?? []), policyFromEnvironment(env));
  const counter = ports.counter === undefined ? estimateCounter : guardCounter(ports.counter);
  const known = new Map([...strategies, ...(ports.strategies ?? [])].map((strategy) => [strategy.name, strategy]));
  // A policy that names no strategy of ours should fail where it was written, not inside an agent.
  for (const name of strategyNames(policy)) strategyNamed(name);

  const knownTexts = new KnownTexts();
  const breaker = () => newBreaker(NUMBERS.breakerFailures.default, NUMBERS.breakerPauseMs.default, now);
  const deadlineMs = NUMBERS.spillDeadlineMs.default;
  const place: SpillPlace = {
    store,
    breaker: breaker(),
    deadlineMs,
    loadRedactor: redaction === null ? null : () => redaction.loadRedactor(),
    loadedRedactor: () => redaction?.loadedRedactor() ?? null,
  };
  const recorder = newRecorder({ ledger, logs, listeners: ports, redaction, newBreaker: breaker, deadlineMs, now });
  const safeName = safeNames(redaction);
  const { htmlReader } = ports;
  const loadHtmlReader = typeof htmlReader === "object" && htmlReader !== null ? async () => htmlReader : htmlReader;
  checkLimits(ports.hostLimits ?? {}, "hostLimits");

  function strategyNamed(name: string): Strategy {
    const strategy = known.get(name);
    if (strategy !== undefined) return strategy;
    throw new SpillwayError(
      "unknown-strategy",
      `strategy must be one of ${[...known.keys()].join(", ")}; got "${name}"`,
    );
  }

  function planFor(request: AdmitRequest): AdmitPlan {
    const { limits, strategy, headShare, fold, summarize, off, marker, exitCode } = request;
    const { keep = strategy, focus, size, command } = request;
    const tool = request.tool ?? "tool";
    if (!("output" in request))
      throw new SpillwayError("bad-input", "admit takes { output, ... }; there was no output");
    if (typeof tool !== "string") throw new SpillwayError("bad-input", `tool must be a name; got ${String(tool)}`);
    if (typeof exitCode === "number" && !Number.isSafeInteger(exitCode)) {
      throw new SpillwayError("bad-input", `exitCode must be a whole number; got ${exitCode}`);
    }
    checkRequest(request);
    if (request.reader !== undefined) checkReader(request.reader, "reader");
    if (request.hostLimits !== undefined) checkLimits(request.hostLimits, "hostLimits");
    const rule = resolveToolPolicy(policy, tool, request.declared && { ...request.declared, declared: true }, {
      limits,
      strategy: keep,
      headShare,
      fold,
      summarize,
      off,
    });
    return {
      scope,
      tool,
      session: request.session ?? null,
      call: request.call ?? null,
      limits: size === undefined ? rule.limits : smallerOf(rule.limits, checkLimits(size, "size")),
      shortChars: size?.maxLines === undefined ? rule.shortChars : 0,
      strategy: strategyNamed(rule.strategy),
      headShare: rule.headShare,
      fold: rule.fold,
      counter,
      exitCode: readExitCode(exitCode),
      off: rule.off,
      keepsAll: ports.keep === "all" && store !== null && !request.isUpdate,
      boundDetails: request.boundDetails ?? false,
      explain: request.explain ?? false,
      summarizeOverChars: rule.summarize ? rule.triggerChars : undefined,
      ...(marker === undefined ? {} : { marker }),
      ...(typeof command === "string" && command !== "" && { command }),
      ...(focus !== undefined && { focus: compileFocus(focus) }),
    };
  }

  async function admitAny(
    request: AdmitRequest,
    level: "info" | "warn" = "info",
  ): Promise<Omit<AdmittedOutput, "totalChars">> {
    const plan = planFor(request);
    const { exitCode: exit, isUpdate } = request;
    const { session, call } = plan;
    const host = request.hostLimits ?? ports.hostLimits;
    const tool = await safeName(plan.tool);
    const made = await safeMade(redaction, request);
    const admitPorts = {
      place: (plan.off && !plan.keepsAll) || isUpdate ? { ...place, store: null } : place,
      about: { scope, session, tool, call, ...made },
      access: (artifact: Artifact) => request.reader ?? accessTo(artifact),
      knownTexts,
      loadView: redaction?.loadView ?? null,
      summarize: isUpdate ? undefined : condensing?.summarize,
      loadHtmlReader: isUpdate ? undefined : (loadHtmlReader ?? undefined),
      ...(typeof exit === "object" && exit !== null && { exit }),
    };
    const { totalChars, ...admitted } = await admitOutput(plan, request.output, admitPorts).catch((error: unknown) =>
      standIn(plan, request.output, error),
    );
    if (isUpdate) return admitted;
    // What only a run shows to be wrong (a signal's name) must not cost its output.
    const isNoCode = typeof exit === "string" && plan.exitCode === null;
    const receipt = withFaults(admitted.receipt, [
      ...(isNoCode ? [`exitCode must be a whole number; got ${JSON.stringify(String(exit).slice(0, 40))}`] : []),
      ...(admitted.receipt.artifact === null ? [] : placeFaults),
    ]);
    if (isCut(receipt)) logCut(ports.logger, level, { tool, beforeChars: totalChars, afterChars: receipt.shown.chars });
    const more = definedOnly({
      // A host that has no limits of its own would send what fits under the ceiling.
      hostTokens: host || isCut(receipt) ? hostTokens(receipt, totalChars, host ?? policy.ceiling) : undefined,
      command: made.command ?? undefined,
      folder: made.folder ?? undefined,
    });
    const recorded = recorder.receipt(receipt, Object.keys(more).length === 0 ? null : more);
    return { ...admitted, receipt: withFaults(receipt, await recorded) };
  }

  /** A request is not held up for a model's summary. */
  const admitPlain = (request: AdmitRequest) => admitAny({ ...request, summarize: false });

  async function standIn(plan: AdmitPlan, output: unknown, error: unknown): Promise<AdmittedOutput> {
    if (plan.off || !redaction?.loadView) return admitPlainly(plan, output, error);
    const view = await redaction.loadView().catch(() => null);
    // What cannot be redacted is not shown.
    return view === null ? admitPlainly(plan, "", error) : admitPlainly(plan, output, error, view);
  }

  /** A file is named only once it is there. */
  async function accessTo(artifact: Pick<Artifact, "id" | "session" | "tool">): Promise<Access> {
    if (reader.by !== "file") return reader;
    // Its name is in the file's.
    const copying = (async () => ports.copyOut?.({ ...artifact, tool: await safeName(artifact.tool) }) ?? null)();
    const path = await within(copying, deadlineMs, "copying").catch(() => null);
    return path === null ? { by: "operator" } : { by: "file", path };
  }

  async function tellReadBack(kind: EventKind, id: string, text: string): Promise<void> {
    // Counted for the tool whose output was read back.
    const about = await store?.find(id, scope).catch(() => null);
    const { session = null, tool = null, call = null } = about ?? {};
    const more = { bytes: measureText(text).bytes, tokens: counter.count(text) };
    await recorder.event({ kind, atMs: now(), session, tool, call, artifact: id, receipt: null, more });
  }

  const { maxInputChars } = policy.summarization;
  const condensed = { place, access: accessTo, scope, counter, breaker: breaker(), maxInputChars, recorder, now };
  const condensing = newCondensing(ports, condensed);

  const histories = ports.histories?.({
    planFor: (tool, call, session, limits) => planFor({ tool, session, call: call ?? undefined, limits, output: null }),
    ports: { place, access: accessTo, accessNow: access, knownTexts },
    recorder,
    now,
  });

  const shared = { policy, counter, scope, access, accessTo, place, recorder, now };
  const { prepare, open } = lazyPreparing({
    ...shared,
    knownTexts,
    ledger,
    breaker: breaker(),
    deadlineMs,
    resolve: (tool) => resolveToolPolicy(policy, tool),
    admit: (request) => admitAny({ ...request, summarize: false }, "warn"),
  });
  const sending = {
    ...shared,
    exactCounter: ports.exactCounter,
    rules: ports.rules ?? [],
    open,
    admit: admitPlain,
    guard: (message: unknown, options: GuardOptions) => (histories as Histories).guard(message, options),
  };

  const admitOne = (request: AdmitRequest) => admitAny(request);
  const wrapping = { admit: admitOne, check: (request: AdmitRequest) => void planFor(request) };
  return {
    policy,
    store,
    ledger,
    prepare,
    call: lazyCall(sending, condensing?.compactor),
    compact: lazyCompact(condensing?.compactor, policy.contextTokens, { recorder, now }),
    async artifact(id) {
      const { wholeArtifact } = await import("./recall/index.ts");
      return wholeArtifact(kept(store), id, scope);
    },
    async recall(id, want, options) {
      const { recall, recallText } = await import("./recall/index.ts");
      const page = await recall(kept(store), id, scope, want, { searcher: await ports.searcher(), ...options });
      await tellReadBack("artifact-recalled", id, recallText(page));
      return page;
    },
    async search(id, query, options) {
      const { search, searchText } = await import("./recall/index.ts");
      const page = await search(kept(store), id, scope, query, { ...options, searcher: await ports.searcher() });
      await tellReadBack("artifact-searched", id, searchText(page));
      return page;
    },
    admit: admitOne as Spillway["admit"],
    wrapTool: (tool, options) => wrapTool(tool, wrapping, options),
    wrapTools: (tools, options) => wrapTools(tools, wrapping, options),
    ...(histories as Histories),
    resolve: (tool, ...overrides) => resolveToolPolicy(policy, tool, ...overrides),
    forDisplay,
    errorForDisplay,
  };
}

function kept(store: Store | null): Store {
  if (store !== null) return store;
  throw new SpillwayError("missing-part", "nothing is kept here: this Spillway was made with store: null");
}

function strategyNames(policy: Policy): Set<string> {
  const { project, force, builtIn, rules } = policy;
  const named = [...rules, ...(project?.rules ?? [])].map(({ row }) => row);
  const rows = [policy.default, project?.default ?? {}, force, builtIn.default, ...named];
  return new Set(rows.flatMap(({ strategy }) => strategy ?? []));
}
