import { newAdmit } from "./admit/admit-output.ts";
import type { AdmitRequest } from "./admit/admit-request.ts";
import { KnownTexts, newAccessTo } from "./admit/known-texts.ts";
import { newPlanner } from "./admit/plan-output.ts";
import type { Reader } from "./admit/reader.ts";
import { newRecorder } from "./admit/recorder.ts";
import { safeMade, safeNames } from "./admit/redaction.ts";
import { leaveAsTheyAre, wrapTool, wrapTools } from "./admit/wrap-tool.ts";
import { newBreaker } from "./deadline.ts";
import { badInput } from "./errors.ts";
import type { GuardOptions, Histories } from "./histories/histories.ts";
import type { PreparePorts } from "./prepare/ports.ts";
import type { Preparing } from "./prepare/prepare.ts";
import { type ReadBackFor, type ReadBackOptions, readBackKind } from "./recall/read-back-kinds.ts";
import { checkCall, checkPrepare } from "./spillway/check-options.ts";
import type { Spillway, SpillwayPorts } from "./spillway/ports.ts";
import { errorForDisplay } from "./stages/display/error-for-display.ts";
import { forDisplay } from "./stages/display/for-display.ts";
import type { Access } from "./stages/mark/access.ts";
import { estimateCounter, guardCounter } from "./stages/measure/estimate-tokens.ts";
import { checkLimits } from "./stages/policy/check-limits.ts";
import { NUMBERS } from "./stages/policy/defaults.ts";
import { policyFromEnvironment, summarizerFromEnvironment } from "./stages/policy/policy-from-environment.ts";
import { resolvePolicy } from "./stages/policy/resolve-policy.ts";
import { resolveToolPolicy } from "./stages/policy/resolve-tool-policy.ts";
import type { SpillPlace } from "./stages/spill/spill.ts";
import { newCompact, newSummaries } from "./summarize/summaries.ts";

export type { Spillway, SpillwayOptions, SpillwayPorts } from "./spillway/ports.ts";

/** Puts the rooms together. `createSpillway` in index.ts fills in the defaults. What an output passes is in admit-output.ts. */
export function assembleSpillway(ports: SpillwayPorts): Spillway {
  const { store, ledger, redaction, env = {}, scope = "local", now = () => Date.now() } = ports;
  const { logs = [], placeFaults = [], logger, hostLimits, htmlReader } = ports;
  checkLimits(hostLimits ?? {}, "hostLimits");

  const policy = resolvePolicy(...(ports.policy ?? []), policyFromEnvironment(env));
  const counter = ports.counter === undefined ? estimateCounter : guardCounter(ports.counter);
  const keepsAll = ports.keep === "all" && store !== null;
  const planFor = newPlanner({ policy, counter, scope, strategies: ports.strategies ?? [], keepsAll });
  const resolve: Spillway["resolve"] = (tool, ...overrides) => resolveToolPolicy(policy, tool, ...overrides);

  const breaker = () => newBreaker(NUMBERS.breakerFailures.default, NUMBERS.breakerPauseMs.default, now);
  const deadlineMs = NUMBERS.spillDeadlineMs.default;
  const place: SpillPlace = {
    store,
    breaker: breaker(),
    deadlineMs,
    loadRedactor: redaction?.loadRedactor ?? null,
    loadedRedactor: redaction?.loadedRedactor ?? (() => null),
  };
  const recording = { ledger, logs, listeners: ports, redaction, by: ports.by };
  const recorder = newRecorder({ ...recording, newBreaker: breaker, deadlineMs, now });
  const safeName = safeNames(redaction);
  // Shared by all who write markers: readBack changes them.
  const reader: Reader = { ...(ports.reader ?? { by: "operator" }) };
  const access: Access = reader.by === "file" ? { by: "operator" } : reader;
  const accessTo = newAccessTo(reader, ports.copyOut, safeName);
  const knownTexts = new KnownTexts();

  const model = ports.summarizer ?? summarizerFromEnvironment(env);
  const { maxInputChars } = policy.summarization;
  const summarizing = { place, access: accessTo, scope, counter, breaker: breaker(), maxInputChars };
  const summaries =
    model === null
      ? undefined
      : newSummaries(() => ports.openModel(model), { ...summarizing, redaction, recorder, now });

  const loadLastGood = store && once(async () => (await import("./recall/index.ts")).newLastGood(store, scope));
  const { admit, admitOld, tryOld } = newAdmit({
    planFor,
    place,
    accessTo,
    knownTexts,
    redaction,
    safeName,
    summarize: summaries?.summarize,
    lastGood: loadLastGood === null ? undefined : async (made) => (await loadLastGood())(made),
    loadHtmlReader:
      typeof htmlReader === "object" && htmlReader !== null ? async () => htmlReader : (htmlReader ?? undefined),
    recorder,
    logger,
    hostLimits,
    placeFaults,
  });
  const wrapping = { admit, check: (request: AdmitRequest) => planFor(request).limits };

  const histories = ports.histories?.({
    planFor: (tool, call, session, limits) => planFor({ tool, session, call: call ?? undefined, limits, output: null }),
    ports: { place, access: accessTo, accessNow: access, knownTexts },
    recorder,
    now,
  });

  const shared = {
    policy,
    counter,
    scope,
    access,
    accessTo,
    place,
    recorder,
    now,
    safeMade: (made: Parameters<PreparePorts["safeMade"]>[0]) => safeMade(redaction, made),
  };
  const preparing: Omit<PreparePorts, "sha256" | "seal"> = {
    ...shared,
    knownTexts,
    ledger,
    breaker: breaker(),
    deadlineMs,
    resolve,
    admit: admitOld,
  };
  const loadPreparing = once(async () => {
    const [{ newPreparing }, { sha256, seal }] = await Promise.all([
      import("./prepare/prepare.ts"),
      import("./spillway/seal.ts"),
    ]);
    return newPreparing({ ...preparing, sha256, seal });
  });
  const open: Preparing["open"] = async (messages, options) => (await loadPreparing()).open(messages, options);

  const { exactCounter, rules = [] } = ports;
  const sending = {
    ...shared,
    exactCounter,
    rules,
    open,
    admit: tryOld,
    guard: (message: unknown, options: GuardOptions) => (histories as Histories).guard(message, options),
  };
  const loadCall = once(async () => (await import("./call/call-run.ts")).newCall(sending));
  const compactor = summaries?.compactor;
  const callUnchecked: Spillway["call"] = async (messages, send, options) => {
    const isGiven = compactor === undefined || options?.compactor !== undefined;
    return (await loadCall())(messages, send, isGiven ? options : { ...options, compactor });
  };
  const call: Spillway["call"] = async (messages, send, options) => {
    checkCall(options);
    return callUnchecked(messages, send, options);
  };

  const reading = { store, ledger, scope, counter, searcher: ports.searcher, record: recorder.event, now };
  const readBack = once(async () => (await import("./recall/index.ts")).newReadBack(reading));
  const callReadBack = async (name: string, args: unknown) => {
    const { READ_BACK_TOOLS } = await import("./recall/index.ts");
    const tool = READ_BACK_TOOLS.find((each) => each.name === name) as (typeof READ_BACK_TOOLS)[number];
    return tool.call(await readBack(), args);
  };
  const readBackFor = (kind: string, options: ReadBackOptions = {}) => {
    if (store === null)
      throw badInput("readBack needs a store, and store is null: leave it out, or hand in memoryStore()");
    const { made, names } = readBackKind(kind, options, callReadBack);
    for (const shared of [reader, access]) Object.assign(shared, { by: "tool", ...names });
    leaveAsTheyAre(made);
    ports.onReadBack?.();
    return made;
  };

  const readsBack: Pick<Spillway, "recall" | "search" | "since"> = {
    since: async (id, options) => (await readBack()).since(id, options),
    recall: async (id, want, options) => (await readBack()).recall(id, want, options),
    search: async (id, query, options) => (await readBack()).search(id, query, options),
  };
  const exchanging = { policy, call: callUnchecked, access, recorder, readBack: readsBack, now };
  const loadExchange = once(async () => (await import("./exchange/exchange.ts")).newExchange(exchanging));

  return {
    policy,
    store,
    ledger,
    scope,
    admit: admit as Spillway["admit"],
    wrapTool: (tool, options) => wrapTool(tool, wrapping, options),
    wrapTools: (tools, options) => wrapTools(tools, wrapping, options),
    async prepare(messages, options) {
      checkPrepare(options);
      return (await loadPreparing()).prepare(messages, options);
    },
    call,
    exchange: async (request, send, options) => (await loadExchange())(request, send, options),
    compact: newCompact(compactor, policy.contextTokens, { recorder, now }),
    artifact: async (id, by) => (await readBack()).artifact(id, by),
    ...readsBack,
    readBack: readBackFor as ReadBackFor,
    ...(histories as Histories),
    resolve,
    forDisplay,
    errorForDisplay,
  };
}

/** Loads something the first time it is needed. */
function once<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined;
  return () => (loading ??= load());
}
