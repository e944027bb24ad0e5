import type { PruningPolicy } from "../contract/policy.ts";
import type { Wire } from "../contract/wire.ts";
import type { StepPlan } from "../stages/prune/plan-steps.ts";
import type { ResolvedWindow } from "../stages/prune/resolve-window.ts";
import { NO_WEIGHT } from "../stages/prune/weight.ts";
import { counted } from "../values.ts";
import { type Conversation, type Item, showsMedia } from "./conversation.ts";
import type { Preparation } from "./preparation.ts";
import type { PruneReport } from "./report.ts";

/** What a preparation did. */
export function reportOf(
  { conversation, changes, moreChanges, shown, warnings, faults, pruning, total, systemAndTools }: Preparation,
  {
    wire,
    window,
    before,
    replayed,
  }: Pick<PruneReport, "window" | "before"> & { wire: Wire; replayed: Conversation["formed"] },
  { why, triggers }: StepPlan<Item>,
): PruneReport {
  const counts = { insured: 0, batched: 0, trimmed: 0, cleared: 0 };
  const made = { trimmed: 0, cleared: 0 };
  for (const [{ isCall, isMedia }, to] of shown) {
    if (isMedia) continue;
    if (!isCall) counts[to]++;
    else if (to === "trimmed" || to === "cleared") made[to]++;
  }
  const { malformed, items, calls } = conversation;
  return {
    wire: wire.name,
    mode: pruning.mode,
    window,
    before,
    after: total,
    afterParts: {
      systemAndToolsTokens: systemAndTools.tokens,
      resultTokens: items.reduce((sum, item) => sum + item.shown.tokens, 0),
    },
    ratio: pruning.estimate === "chars/4" ? total.chars / (window.tokens * 4) : total.tokens / window.tokens,
    why,
    triggers,
    results: { total: items.length, replayed: replayed.results, ...counts },
    calls: { total: calls.length, replayed: replayed.calls, ...made },
    media: mediaIn(conversation),
    changes,
    moreChanges,
    malformed,
    warnings,
    faults,
  };
}

function mediaIn({ shownItems }: Conversation): PruneReport["media"] {
  const sum = { total: 0, leftOut: 0 };
  for (const item of shownItems) {
    const count = item.heldMedia?.count ?? 0;
    sum.total += count;
    sum.leftOut += showsMedia(item) ? 0 : count;
  }
  return sum;
}

/** A report on messages that were left as they came. */
export function emptyReport({ mode }: PruningPolicy, window: ResolvedWindow, why: string): PruneReport {
  const trigger = { active: false, why };
  return {
    wire: null,
    mode,
    window,
    before: NO_WEIGHT,
    after: NO_WEIGHT,
    afterParts: { systemAndToolsTokens: 0, resultTokens: 0 },
    ratio: 0,
    why,
    triggers: { pressure: trigger, bytes: trigger, age: trigger, idle: trigger },
    results: { total: 0, replayed: 0, insured: 0, batched: 0, trimmed: 0, cleared: 0 },
    calls: { total: 0, replayed: 0, trimmed: 0, cleared: 0 },
    media: { total: 0, leftOut: 0 },
    changes: [],
    moreChanges: 0,
    malformed: 0,
    warnings: [],
    faults: [],
  };
}

/** Changes that an event lists. */
const MOST_TOLD = 50;

/** The part of a report that an event carries. */
export function aboutOf({
  wire,
  window,
  before,
  after,
  why,
  results,
  calls,
  media,
  changes,
  moreChanges,
  warnings,
  faults,
}: PruneReport): Record<string, unknown> {
  const few = (texts: string[]) => texts.slice(0, 5);
  const about = {
    wire,
    window,
    before,
    after,
    why: whyChanged(why, results, calls),
    results,
    calls,
    media,
    warnings: few(warnings),
    faults: few(faults),
  };
  const told = changes.slice(0, MOST_TOLD);
  return {
    ...about,
    moreChanges: moreChanges + changes.length - told.length,
    // The last entry, since an event that is too large goes without what does not fit.
    changes: told.map(({ of, call, to, fromChars, toChars }) => ({ of, call, to, fromChars, toChars })),
  };
}

/** Why a request was changed. Where no result was pruned, `why` says why not, and new results were clamped. */
function whyChanged(why: string, results: PruneReport["results"], calls: PruneReport["calls"]): string {
  const clamped = results.insured + results.batched;
  if (clamped === 0 || results.trimmed + results.cleared + calls.trimmed + calls.cleared > 0) return why;
  const over = results.insured === 0 ? "over the budget of new results" : "over the limits";
  return `${counted(clamped, "result")} ${clamped === 1 ? "was" : "were"} ${over}, and clamped`;
}
