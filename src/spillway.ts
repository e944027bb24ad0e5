import type { AdmissionRequest } from "./admit/admission.ts";
import { type AdmittedOutput, admitOutput } from "./admit/admit-output.ts";
import { admitPlainly } from "./admit/admit-plainly.ts";
import { OwnTexts } from "./admit/own-texts.ts";
import { newRecorder } from "./admit/recorder.ts";
import { type Tool, type WrapOptions, wrapTool, wrapTools } from "./admit/wrap-tool.ts";
import type { EventKind, SpillwayEvent } from "./contract/event.ts";
import type { Ledger } from "./contract/ledger.ts";
import type { Output } from "./contract/output.ts";
import type { Policy, PolicyInput, ProfileName, ToolOverride, ToolPolicy } from "./contract/policy.ts";
import type { Receipt } from "./contract/receipt.ts";
import type { Searcher } from "./contract/searcher.ts";
import type { Store } from "./contract/store.ts";
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
import { strategies as builtInStrategies } from "./stages/clamp/strategies/index.ts";
import { errorForDisplay } from "./stages/display/error-for-display.ts";
import { forDisplay } from "./stages/display/for-display.ts";
import type { Access } from "./stages/mark/access.ts";
import type { CustomMarker } from "./stages/mark/forms.ts";
import { estimateCounter } from "./stages/measure/estimate-tokens.ts";
import { guardCounter } from "./stages/measure/guard-counter.ts";
import { measureText } from "./stages/measure/measure-text.ts";
import { NUMBERS } from "./stages/policy/defaults.ts";
import { type Environment, policyFromEnvironment } from "./stages/policy/policy-from-environment.ts";
import { resolvePolicy } from "./stages/policy/resolve-policy.ts";
import { resolveToolPolicy } from "./stages/policy/resolve-tool-policy.ts";
import type { RuleInput } from "./stages/redact/redaction-rule.ts";
import { newBreaker } from "./stages/spill/breaker.ts";
import type { SpillPlace, StartRedactor } from "./stages/spill/spill.ts";

export type {
  Access,
  CustomMarker,
  RecallOptions,
  RecallPage,
  RecallWant,
  RuleInput,
  SearchMatch,
  SearchOptions,
  SearchPage,
  SearchQuery,
  Tool,
  WrapOptions,
};

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
  reader?: Access | undefined;
  /** Secrets in what is stored: replaced unless "off". More rules beside the well-known ones. */
  redact?: "off" | { rules: readonly RuleInput[] } | undefined;
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

/** What may be said for one output. */
export interface AdmitOptions extends Omit<WrapOptions, "name" | "session"> {
  /** Bounds `details` and `structuredContent` too, for results that reach a model or a transcript with them. */
  boundDetails?: boolean | undefined;
}

/** One output to admit. */
export interface AdmitRequest extends AdmitOptions {
  /** The tool's name, by which its limits are found. */
  tool?: string | undefined;
  session?: string | undefined;
  call?: string | undefined;
  output: Output;
  /** A command's exit code, or a promise of it: said where it matters, as the text's last line. */
  exitCode?: number | null | PromiseLike<number | null> | undefined;
  /** What the tool itself declares; weaker than a policy row that names it. */
  declared?: ToolOverride | undefined;
  /** A partial result: clamped, never spilled, no receipt told. */
  isUpdate?: boolean | undefined;
  /** How the reader of this output's marker gets at the rest, where that is not as for the others. */
  reader?: Access | undefined;
}

/** An admitted output. `output` has the shape that came in; a stream and bytes become text. */
export interface Admission<T> {
  output: T extends string | Uint8Array | ArrayBuffer | AsyncIterable<unknown> | ReadableStream<unknown> ? string : T;
  text: string;
  receipt: Receipt;
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
  const { store, ledger, env = {}, scope = "local" } = parts;
  const policy = resolvePolicy(...(parts.policy ?? []), policyFromEnvironment(env));
  const counter = parts.counter === undefined ? estimateCounter : guardCounter(parts.counter);
  const strategies = new Map(
    [...builtInStrategies, ...(parts.strategies ?? [])].map((strategy) => [strategy.name, strategy]),
  );
  // A policy that names no strategy of ours should fail where it was written, not inside an agent.
  for (const name of strategyNames(policy)) strategyNamed(name);

  const own = new OwnTexts();
  const place: SpillPlace = {
    store,
    breaker: newBreaker(NUMBERS.breakerFailures.default, NUMBERS.breakerPauseMs.default, Date.now),
    deadlineMs: NUMBERS.spillDeadlineMs.default,
    loadRedactor: parts.redact === "off" ? null : () => loadRedactor(parts.redact),
  };
  const recording = newBreaker(NUMBERS.breakerFailures.default, NUMBERS.breakerPauseMs.default, Date.now);
  const recorder = newRecorder(ledger, parts, recording, NUMBERS.spillDeadlineMs.default, Date.now);

  function strategyNamed(name: string): Strategy {
    const strategy = strategies.get(name);
    if (strategy !== undefined) return strategy;
    throw new SpillwayError(
      "unknown-strategy",
      `strategy must be one of ${[...strategies.keys()].join(", ")}; got "${name}"`,
    );
  }

  function planFor(request: AdmitRequest): AdmissionRequest {
    const { limits, strategy, headShare, fold, off, marker, exitCode } = request;
    const tool = request.tool ?? "tool";
    if (!("output" in request))
      throw new SpillwayError("bad-input", "admit takes { output, ... }; there was no output");
    if (typeof tool !== "string") throw new SpillwayError("bad-input", `tool must be a name; got ${String(tool)}`);
    if (typeof exitCode === "number" && !Number.isSafeInteger(exitCode)) {
      throw new SpillwayError("bad-input", `exitCode must be a whole number; got ${exitCode}`);
    }
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
      limits: rule.limits,
      strategy: strategyNamed(rule.strategy),
      headShare: rule.headShare,
      fold: rule.fold,
      counter,
      exitCode: typeof exitCode === "number" ? exitCode : null,
      off: rule.off,
      boundDetails: request.boundDetails ?? false,
      ...(marker === undefined ? {} : { marker }),
    };
  }

  async function admitAny(request: AdmitRequest): Promise<AdmittedOutput> {
    const plan = planFor(request);
    const { exitCode: exit } = request;
    const keeper = {
      place: plan.off || request.isUpdate ? { ...place, store: null } : place,
      access: request.reader ?? parts.reader ?? { by: "operator" as const },
      own,
      ...(typeof exit === "object" && exit !== null && { exit }),
    };
    const admitted = await admitOutput(plan, request.output, keeper).catch((error: unknown) =>
      admitPlainly(plan, request.output, error),
    );
    if (!request.isUpdate) await recorder.receipt(admitted.receipt);
    return admitted;
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

/** What takes secrets out, loaded on first use. Throws if a rule that was handed in is wrong. */
export async function loadRedactor(redact: SpillwayParts["redact"]): Promise<StartRedactor> {
  const [{ startRedact }, { defaultRules }, { compileRules }] = await Promise.all([
    import("./stages/redact/redact.ts"),
    import("./stages/redact/default-rules.ts"),
    import("./stages/redact/compile-rules.ts"),
  ]);
  const rules = typeof redact === "object" ? [...defaultRules, ...compileRules(redact.rules)] : defaultRules;
  return (take) => startRedact(rules, take);
}

function strategyNames(policy: Policy): Set<string> {
  const rows = [policy.default, policy.force, policy.builtIn.default, ...policy.rules.map(({ row }) => row)];
  return new Set(rows.flatMap(({ strategy }) => strategy ?? []));
}
