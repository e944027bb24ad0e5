import type { Choice, Strategy, StrategyRequest } from "../../../contract/strategy.ts";
import type { Kind } from "../kinds/kind.ts";
import { hasRun, recognizeKind } from "../kinds/recognize-kind.ts";
import { diff } from "./diff.ts";
import { headTail } from "./head-tail.ts";
import { json } from "./json.ts";
import { listing } from "./listing.ts";
import { matches } from "./matches.ts";
import { orSignal } from "./or-signal.ts";
import { outline } from "./outline.ts";
import { signal } from "./signal.ts";
import { table } from "./table.ts";

/** Which strategy takes which kind. */
const STRATEGIES: Record<Kind, Strategy> = {
  json,
  html: headTail,
  diff,
  matches,
  listing,
  table,
  log: signal,
  source: outline,
  prose: outline,
  unknown: headTail,
};

/** Recognises what an output is and leaves it to the strategy for that kind; both ends are kept of what it is not sure of. */
export const auto: Strategy = {
  name: "auto",
  choose: chooseByKind,
  // Only for a caller that does not ask first.
  start: (request) => headTail.start(request),
};

function chooseByKind(sample: Uint8Array, request: StrategyRequest): Choice {
  const kind = recognizeKind(sample, request);
  // Both ends alone would leave out what somebody is after.
  const own = STRATEGIES[kind] === headTail && request.focus !== undefined ? outline : STRATEGIES[kind];
  return { strategy: own !== signal && (kind === "unknown" || hasRun(request)) ? orSignal(own) : own, kind };
}
