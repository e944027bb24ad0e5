import type { Limits } from "../contract/limits.ts";
import type { Strategy } from "../contract/strategy.ts";
import type { TokenCounter } from "../contract/token-counter.ts";
import { compileFocus } from "../stages/clamp/focus/compile-focus.ts";
import type { CustomMarker } from "../stages/mark/forms.ts";
import { estimateCounter, guardCounter } from "../stages/measure/estimate-tokens.ts";
import { encodeText } from "../stages/measure/scan.ts";
import { checkLimits, checkNumber } from "../stages/policy/check-limits.ts";
import { NUMBERS } from "../stages/policy/defaults.ts";
import { type AdmissionRequest, type Admitted, NOT_KEPT, startAdmission } from "./admission.ts";
import { admitWhole } from "./admit-whole.ts";
import { holdLimits } from "./hold-limits.ts";

/** How a text is clamped where there is no policy. */
export interface PlainOptions {
  headShare?: number;
  counter?: TokenCounter;
  exitCode?: number;
  tool?: string;
  /** The command whose output it is. */
  command?: string;
  /** Words, or a pattern: what matches is kept before what does not. */
  focus?: string | RegExp;
  marker?: CustomMarker;
}

/** Clamps one text by a strategy that is at hand, with no store. */
export function clampWith(
  strategy: Strategy,
  text: string,
  limits: Limits,
  options: PlainOptions = {},
  fold = false,
): Admitted {
  const request = requestFor(strategy, limits, options, fold);
  const whole = admitWhole(text, request);
  if (whole !== null) return whole;
  const admission = startAdmission(request);
  for (const bytes of encodeText(text)) admission.add(bytes);
  const admitted = admission.end().write(NOT_KEPT, null, text.toWellFormed());
  return holdLimits(request, admitted, (plain) => ({ text: plain }));
}

/** How something is admitted where there is no policy. */
export function requestFor(strategy: Strategy, limits: Limits, options: PlainOptions, fold: boolean): AdmissionRequest {
  const { headShare = NUMBERS.headShare.default, marker, command, focus } = options;
  const counter = options.counter === undefined ? estimateCounter : guardCounter(options.counter);
  return {
    scope: "local",
    tool: options.tool ?? "tool",
    session: null,
    call: null,
    limits: finiteOnly(checkLimits(limits, "limits")),
    strategy,
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
