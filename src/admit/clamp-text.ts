import type { Limits } from "../contract/limits.ts";
import type { Strategy, StrategyName } from "../contract/strategy.ts";
import type { TokenCounter } from "../contract/token-counter.ts";
import { SpillwayError } from "../errors.ts";
import { compileFocus } from "../stages/clamp/focus/compile-focus.ts";
import { strategies } from "../stages/clamp/strategies/index.ts";
import type { CustomMarker } from "../stages/mark/forms.ts";
import { encodeText } from "../stages/measure/encode-text.ts";
import { estimateCounter } from "../stages/measure/estimate-tokens.ts";
import { guardCounter } from "../stages/measure/guard-counter.ts";
import { checkLimits, checkNumber } from "../stages/policy/check-limits.ts";
import { DEFAULT_STRATEGY, NUMBERS } from "../stages/policy/defaults.ts";
import { type AdmissionRequest, type Admitted, NOT_KEPT, startAdmission } from "./admission.ts";
import { admitBlocks } from "./admit-blocks.ts";
import { admitWhole } from "./admit-whole.ts";

/** How a text is clamped where there is no policy. */
export interface ClampOptions {
  /** A built-in strategy's name, or a strategy. */
  strategy?: StrategyName | Strategy;
  headShare?: number;
  /** Off unless asked for: a text may be exact content. */
  fold?: boolean;
  counter?: TokenCounter;
  exitCode?: number;
  tool?: string;
  /** The command whose output it is. */
  command?: string;
  /** Words, or a pattern: what matches is kept before what does not. */
  focus?: string | RegExp;
  marker?: CustomMarker;
}

/** Clamps one text, with no store: markers say that the rest was not saved. */
export function clampText(text: string, limits: Limits, options: ClampOptions = {}): Admitted {
  if (typeof text !== "string") throw new SpillwayError("bad-input", `clampText takes a text; got ${typeof text}`);
  const request = requestFor(limits, options);
  const whole = admitWhole(text, request);
  if (whole !== null) return whole;
  const admission = startAdmission(request);
  for (const bytes of encodeText(text)) admission.add(bytes);
  return admission.end().write(NOT_KEPT, null, text.toWellFormed());
}

/** Clamps the texts of a structured result under one budget, with no store. */
export function clampBlocks<T extends object>(
  result: T,
  limits: Limits,
  options: ClampOptions = {},
): Admitted & { output: T } {
  const { texts: _texts, ...admitted } = admitBlocks(requestFor(limits, options), result).write([]);
  return admitted;
}

function requestFor(limits: Limits, options: ClampOptions): AdmissionRequest {
  const { headShare = NUMBERS.headShare.default, fold = false, marker, command, focus } = options;
  const counter = options.counter === undefined ? estimateCounter : guardCounter(options.counter);
  return {
    scope: "local",
    tool: options.tool ?? "tool",
    session: null,
    call: null,
    limits: finiteOnly(checkLimits(limits, "limits")),
    strategy: strategyOf(options.strategy ?? DEFAULT_STRATEGY),
    headShare: checkNumber(headShare, NUMBERS.headShare, "headShare"),
    fold,
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

function strategyOf(strategy: string | Strategy): Strategy {
  if (typeof strategy !== "string") return strategy;
  const known = strategies.find(({ name }) => name === strategy);
  if (known !== undefined) return known;
  throw new SpillwayError(
    "unknown-strategy",
    `strategy must be one of ${strategies.map(({ name }) => name).join(", ")}; got "${strategy}"`,
  );
}
