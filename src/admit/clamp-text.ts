import type { Limits } from "../contract/limits.ts";
import type { Strategy, StrategyName } from "../contract/strategy.ts";
import type { TokenCounter } from "../contract/token-counter.ts";
import { badInput, messageOf, SpillwayError } from "../errors.ts";
import { boundValue } from "../stages/clamp/bound-value.ts";
import { compileFocus } from "../stages/clamp/focus/compile-focus.ts";
import { headTail } from "../stages/clamp/strategies/edges.ts";
import { strategies } from "../stages/clamp/strategies/index.ts";
import type { CustomMarker } from "../stages/mark/forms.ts";
import { outputLost } from "../stages/mark/texts.ts";
import { estimateCounter, guardCounter } from "../stages/measure/estimate-tokens.ts";
import { encodeText } from "../stages/measure/scan.ts";
import { checkLimits, checkNumber } from "../stages/policy/check-limits.ts";
import { DEFAULT_STRATEGY, NUMBERS } from "../stages/policy/defaults.ts";
import {
  type AdmitPlan,
  type Admitted,
  type AdmittedOutput,
  admitWhole,
  holdLimits,
  NOT_SAVED,
  startAdmission,
  writeEnded,
} from "./admission.ts";
import { admitBlocks, holdBlocks } from "./admit-blocks.ts";
import type { ModelView } from "./model-view.ts";
import { halvesOf, withFaults } from "./receipts.ts";

/** How a text is clamped where there is no policy. */
export interface ClampOptions {
  headShare?: number;
  counter?: TokenCounter;
  exitCode?: number;
  tool?: string;
  /** The command whose output it is. */
  command?: string;
  /** Words, or a pattern: what matches is kept before what does not. */
  focus?: string | RegExp;
  marker?: CustomMarker;
  /** A built-in strategy's name, or a strategy. */
  strategy?: StrategyName | Strategy;
  /** Off unless asked for: a text may be exact content. */
  fold?: boolean;
  /** The receipt says why each part is shown or not. */
  explain?: boolean;
}

/** Clamps one text, with no store: markers say that the rest was not saved. */
export function clampText(text: string, limits: Limits, options: ClampOptions = {}): Admitted {
  if (typeof text !== "string") throw badInput(`clampText takes a text; got ${typeof text}`);
  return clampWith(requestFor(limits, options), text);
}

/** Clamps the texts of a structured result under one budget, with no store. */
export function clampBlocks<T extends object>(
  result: T,
  limits: Limits,
  options: ClampOptions = {},
): Admitted & { output: T } {
  const request = requestFor(limits, options);
  const { texts: _texts, ...admitted } = admitBlocks(request, result).write([]);
  return holdBlocks(request, admitted);
}

function strategyOf(strategy: string | Strategy): Strategy {
  if (typeof strategy !== "string") return strategy;
  const known = strategies.find(({ name }) => name === strategy);
  if (known !== undefined) return known;
  throw new SpillwayError(
    "unknown-strategy",
    `strategy must be one of ${strategies.map(({ name }) => name).join(", ")}; got "${strategy}"`,
  );
}

/** Clamps one text as planned, with no store. */
function clampWith(request: AdmitPlan, text: string): Admitted {
  const whole = admitWhole(text, request);
  if (whole !== null) return whole;
  const admission = startAdmission(request);
  for (const bytes of encodeText(text)) admission.add(bytes);
  const admitted = writeEnded(admission.end(), NOT_SAVED, text.toWellFormed());
  const receipt = withFaults(admitted.receipt, halvesOf(text));
  return holdLimits(request, { ...admitted, receipt }, (plain) => ({ text: plain }));
}

/** How something is admitted where there is no policy. */
export function requestFor(limits: Limits, options: ClampOptions): AdmitPlan {
  const { headShare = NUMBERS.headShare.default, marker, command, focus, strategy = DEFAULT_STRATEGY } = options;
  const counter = options.counter === undefined ? estimateCounter : guardCounter(options.counter);
  return {
    scope: "local",
    tool: options.tool ?? "tool",
    session: null,
    call: null,
    limits: finiteOnly(checkLimits(limits, "limits")),
    strategy: strategyOf(strategy),
    headShare: checkNumber(headShare, NUMBERS.headShare, "headShare"),
    fold: options.fold ?? false,
    explain: options.explain ?? false,
    counter,
    exitCode: options.exitCode ?? null,
    ...(marker === undefined ? {} : { marker }),
    ...(command !== undefined && { command }),
    ...(focus !== undefined && { focus: compileFocus(focus) }),
  };
}

/** Infinity says that there is no such limit. */
function finiteOnly(limits: Limits): Limits {
  const { maxBytes, maxChars, maxLines, maxTokens } = limits;
  const none = Number.POSITIVE_INFINITY;
  if (maxBytes !== none && maxChars !== none && maxLines !== none && maxTokens !== none) return limits;
  return Object.fromEntries(Object.entries(limits).filter(([, limit]) => limit !== none));
}

/**
 * What stands in should admitting fail by a fault of ours: a plain clamp of what can still be read, and the reason. With a
 * `view` secrets are replaced in it.
 */
export function admitPlainly(
  { tool, limits, exitCode }: AdmitPlan,
  output: unknown,
  error: unknown,
  view: ModelView | null = null,
): AdmittedOutput {
  const reason = messageOf(error);
  const faults = [`admitting failed, a plain clamp stood in: ${reason}`];
  const ceiling = NUMBERS.ceilingBytes.default;
  const { value: copy } = boundValue(output, Math.min(limits.maxBytes ?? ceiling, limits.maxChars ?? ceiling));
  const value = view === null ? copy : redacted(copy, view);
  const readable = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  const whole = readable === "" || readable === "{}" ? outputLost(reason) : readable;
  const plain = { tool, strategy: headTail, ...(exitCode !== null && { exitCode }) };
  const admitted = clampWith(requestFor(limits, plain), whole);
  return {
    ...admitted,
    // The shape that came in stays only if all of its JSON is within the limits.
    output:
      typeof output === "object" && typeof value === "object" && admitted.text === readable ? value : admitted.text,
    receipt: { ...admitted.receipt, faults },
  };
}

function redacted(value: unknown, view: ModelView): unknown {
  if (typeof value === "string") return view.source().readText(value);
  return typeof value === "object" && value !== null ? (view.result(value)?.result ?? {}) : value;
}
