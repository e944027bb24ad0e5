import type { AdmissionRequest } from "./admit/admission.ts";
import { type AdmittedOutput, admitOutput } from "./admit/admit-output.ts";
import { admitPlainly } from "./admit/admit-plainly.ts";
import { OwnTexts } from "./admit/own-texts.ts";
import { type Tool, type WrapOptions, wrapTool, wrapTools } from "./admit/wrap-tool.ts";
import type { Limits } from "./contract/limits.ts";
import type { Output } from "./contract/output.ts";
import type { Policy, PolicyInput, ProfileName, ToolOverride, ToolPolicy } from "./contract/policy.ts";
import type { Receipt } from "./contract/receipt.ts";
import type { Store } from "./contract/store.ts";
import type { Strategy, StrategyName } from "./contract/strategy.ts";
import type { TokenCounter } from "./contract/token-counter.ts";
import { SpillwayError } from "./errors.ts";
import { strategies as builtInStrategies } from "./stages/clamp/strategies/index.ts";
import { errorForDisplay } from "./stages/display/error-for-display.ts";
import { forDisplay } from "./stages/display/for-display.ts";
import type { CustomMarker } from "./stages/mark/forms.ts";
import { estimateCounter } from "./stages/measure/estimate-tokens.ts";
import { guardCounter } from "./stages/measure/guard-counter.ts";
import { type Environment, policyFromEnvironment } from "./stages/policy/policy-from-environment.ts";
import { resolvePolicy } from "./stages/policy/resolve-policy.ts";
import { resolveToolPolicy } from "./stages/policy/resolve-tool-policy.ts";

export type { CustomMarker, Tool, WrapOptions };

/** What a Spillway is made of. Everything has a default. */
export interface SpillwayParts {
  /** Where whole outputs are kept; null keeps nothing. */
  store: Store | null;
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
export interface AdmitOptions {
  limits?: Limits | undefined;
  strategy?: StrategyName | undefined;
  headShare?: number | undefined;
  fold?: boolean | undefined;
  off?: boolean | undefined;
  /** Replaces our markers; measured like ours. */
  marker?: CustomMarker | undefined;
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
  /** Brings one output under its tool's limits and keeps the whole of it. Never throws for what the output is. */
  admit<T extends Output>(request: AdmitRequest & { output: T }): Promise<Admission<T>>;
  /** A tool whose results, updates and errors are clamped. The tool itself is not changed. */
  wrapTool<T extends Tool>(tool: T, options?: WrapOptions): T;
  /** The same for a list or a record of tools. */
  wrapTools<T extends readonly Tool[] | Record<string, Tool>>(tools: T, options?: WrapOptions): T;
  /** What applies to a tool. */
  resolve(tool: string, ...overrides: (ToolOverride | undefined)[]): ToolPolicy;
  /** A result as people see it: short texts, no image data. */
  forDisplay(result: unknown): unknown;
  /** The first line of an error, for people. */
  errorForDisplay(error: unknown): string;
}

/** Puts the parts together. `createSpillway` in index.ts fills in the defaults. */
export function assembleSpillway(parts: SpillwayParts): Spillway {
  const { store, onReceipt, env = {} } = parts;
  const policy = resolvePolicy(...(parts.policy ?? []), policyFromEnvironment(env));
  const counter = parts.counter === undefined ? estimateCounter : guardCounter(parts.counter);
  const strategies = new Map(
    [...builtInStrategies, ...(parts.strategies ?? [])].map((strategy) => [strategy.name, strategy]),
  );
  // A policy that names no strategy of ours should fail where it was written, not inside an agent.
  for (const name of strategyNames(policy)) strategyNamed(name);

  const own = new OwnTexts();

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
      store: plan.off || request.isUpdate ? null : store,
      own,
      ...(typeof exit === "object" && exit !== null && { exit }),
    };
    const admitted = await admitOutput(plan, request.output, keeper).catch((error: unknown) =>
      admitPlainly(plan, request.output, error),
    );
    if (!request.isUpdate) tell(admitted.receipt);
    return admitted;
  }

  function tell(receipt: Receipt): void {
    // A listener's fault is not the agent's, thrown or rejected.
    void (async () => onReceipt?.(receipt))().catch(() => {});
  }

  const wrapping = { admit: admitAny, check: (request: AdmitRequest) => void planFor(request) };
  return {
    policy,
    store,
    admit: admitAny as Spillway["admit"],
    wrapTool: (tool, options) => wrapTool(tool, wrapping, options),
    wrapTools: (tools, options) => wrapTools(tools, wrapping, options),
    resolve: (tool, ...overrides) => resolveToolPolicy(policy, tool, ...overrides),
    forDisplay,
    errorForDisplay,
  };
}

function strategyNames(policy: Policy): Set<string> {
  const rows = [policy.default, policy.force, policy.builtIn.default, ...policy.rules.map(({ row }) => row)];
  return new Set(rows.flatMap(({ strategy }) => strategy ?? []));
}
