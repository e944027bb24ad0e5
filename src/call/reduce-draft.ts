import type { Compacted, Compactor } from "../contract/compactor.ts";
import type { PruningPolicy } from "../contract/policy.ts";
import type { VerdictKind } from "../contract/verdict.ts";
import { stopAfter, untilAborted } from "../deadline.ts";
import { messageOf, type OverflowStep } from "../errors.ts";
import { guardLimits } from "../stages/guard/guard.ts";
import { NUMBERS } from "../stages/policy/defaults.ts";
import { shortenedWeight } from "../stages/prune/prune-item.ts";
import { trimmedChars } from "../stages/prune/trim-text.ts";
import type { RecoveryGoal } from "../stages/recover/recovery-goal.ts";
import type { Rung, RungItem, RungRequest } from "../stages/recover/rung.ts";
import { applyCuts, type CutTools } from "./apply-cuts.ts";
import { Draft, type DraftItem, type Scale } from "./draft.ts";
import { leaveOutTurns } from "./leave-out-turns.ts";

/** A rung that was tried, and what it freed. */
export interface TakenRung extends OverflowStep {
  leftTokens: number;
  leftBytes: number;
  fits: boolean;
  /** Results that this rung made shorter, the first of them. */
  changes: { call: string; fromChars: number; toChars: number }[];
}

/** What making drafts smaller needs. */
export interface ReduceTools extends CutTools {
  scale: Scale;
  pruning: PruningPolicy;
  compactor: Compactor | null;
  /** How long one summary may take. The rest of the time is for the rungs after it. */
  compactMs: number;
  mayDropAllMedia: boolean;
  signal: AbortSignal;
  /** How many summaries were made in this call. */
  compactions: { count: number };
  tell(taken: TakenRung): Promise<void>;
}

/** The most that a note about a trimmed or cleared result takes. */
const NOTE_CHARS = 200;
const NOTE_TOKENS = 50;

/** Takes rungs in order until the draft is within the goal. Returns the last draft, which may be the same one. */
export async function reduceDraft(
  draft: Draft,
  rungs: readonly Rung[],
  goal: RecoveryGoal,
  kind: VerdictKind,
  tools: ReduceTools,
): Promise<Draft> {
  let now = draft;
  const isFirst = ({ firstFor = [] }: Rung) => firstFor.includes(kind);
  for (const rung of [...rungs.filter(isFirst), ...rungs.filter((one) => !isFirst(one))]) {
    for (let time = 0; time < (rung.times ?? 1) && !fits(now, goal, rung.roomShare); time++) {
      tools.signal.throwIfAborted();
      const before = now;
      const { next, fault } = await takeRung(now, rung, goal, tools);
      if (next === null && fault === null) break; // it has nothing to offer
      const isLess = next !== null && (next.total.tokens < now.total.tokens || next.total.bytes < now.total.bytes);
      if (isLess) now = next;
      await tools.tell({
        rung: rung.name,
        freedTokens: before.total.tokens - now.total.tokens,
        freedBytes: before.total.bytes - now.total.bytes,
        leftTokens: now.total.tokens,
        leftBytes: now.total.bytes,
        fits: fits(now, goal),
        fault,
        changes: changesIn(before, now),
      });
      if (isLess && rung.insists) return now;
      if (!isLess && !rung.insists) break;
    }
  }
  return now;
}

/** Changes that are told of one rung. */
const MOST_TOLD = 50;

function changesIn(before: Draft, now: Draft): TakenRung["changes"] {
  const shown = new Map(now.items.map(({ call, shown }) => [call, shown.chars]));
  return before.items
    .flatMap(({ call, shown: { chars } }) => {
      const toChars = shown.get(call) ?? 0;
      return call === null || toChars >= chars ? [] : [{ call, fromChars: chars, toChars }];
    })
    .slice(0, MOST_TOLD);
}

/** Returns true if a draft is within the goal, or within a share of it. */
export function fits({ total }: Draft, { targetTokens, targetBytes }: RecoveryGoal, share = 1): boolean {
  return total.tokens <= targetTokens * share && total.bytes <= targetBytes * share;
}

async function takeRung(
  draft: Draft,
  rung: Rung,
  goal: RecoveryGoal,
  tools: ReduceTools,
): Promise<{ next: Draft | null; fault: string | null }> {
  const { signal, scale } = tools;
  try {
    const request = requestOf(draft, goal, tools);
    const most = rung.estimate(request);
    if (!(most.tokens > 0) && !(most.bytes > 0)) return { next: null, fault: null };
    const plan = rung.plan(request);
    if ("cuts" in plan) {
      if (plan.cuts.length === 0) return { next: null, fault: null };
      const messages = await untilAborted(applyCuts(draft, plan.cuts, tools), signal);
      return { next: new Draft(draft.wire, messages, scale), fault: null };
    }
    if ("leaveOut" in plan) {
      const messages = await untilAborted(leaveOutTurns(draft, plan.leaveOut, goal, tools), signal);
      return { next: messages && new Draft(draft.wire, messages, scale), fault: null };
    }
    if (tools.compactor === null || tools.compactions.count >= NUMBERS.recoverCompactions.default)
      return { next: null, fault: null };
    tools.compactions.count++;
    const { wire } = draft;
    const compacted = await compactDraft(draft, plan.compactTo, tools.compactor, tools);
    if (compacted === null) return { next: null, fault: "the compactor did not help" };
    if (!compacted.messages.every((message) => typeof message === "object" && message !== null))
      return { next: null, fault: "the compactor gave what are no messages" };
    const next = new Draft(wire, compacted.messages, scale);
    // A provider would refuse a summary that separates a call from its result.
    if (next.orphans > draft.orphans) return { next: null, fault: "the compactor parted calls from their results" };
    if (next.messages.length === 0) return { next: null, fault: "the compactor left no messages" };
    return { next, fault: null };
  } catch (error) {
    if (signal.aborted) throw error;
    return { next: null, fault: messageOf(error) };
  }
}

async function compactDraft(
  { wire, messages }: Draft,
  targetTokens: number,
  compactor: Compactor,
  tools: ReduceTools,
): Promise<Compacted | null> {
  const late = `the compactor took longer than ${tools.compactMs} ms`;
  const { signal, done } = stopAfter(tools.compactMs, tools.signal, late);
  const session = tools.session ?? undefined;
  try {
    return await untilAborted(compactor.compact({ wire, messages, targetTokens, session, signal }), signal);
  } finally {
    done();
  }
}

function requestOf(draft: Draft, goal: RecoveryGoal, tools: ReduceTools): RungRequest {
  const { pruning } = tools;
  const { ceilingBytes, ceilingLines } = NUMBERS;
  const hard = { maxBytes: ceilingBytes.default, maxLines: ceilingLines.default };
  const window = goal.limitTokens ?? goal.windowTokens;
  const note = { chars: NOTE_CHARS, tokens: NOTE_TOKENS, bytes: NOTE_CHARS };
  const afterShortening = (item: RungItem, to: "trimmed" | "cleared") =>
    shortenedWeight((item as DraftItem).lengths ?? [], item.texts, to, pruning.softTrim, note);
  return {
    items: draft.items,
    calls: draft.calls,
    assistants: draft.assistants,
    firstUser: draft.firstUser,
    messages: draft.messages.length,
    total: draft.total,
    windowTokens: goal.windowTokens,
    turns: draft.turns,
    newestTokens: draft.newestTokens,
    targetTokens: goal.targetTokens,
    targetBytes: goal.targetBytes,
    outsideMedia: tools.mayDropAllMedia ? draft.outsideMedia : [],
    pruning,
    resultChars: guardLimits({}, window).maxChars ?? Infinity,
    hardLimits: guardLimits(hard, window),
    canCompact: tools.compactor !== null,
    afterTrim(item) {
      const { shown } = item;
      if (item.isCall) return afterShortening(item, "trimmed");
      const chars = trimmedChars(shown.chars, pruning.softTrim);
      if (chars === null) return null;
      const share = (pruning.softTrim.headChars + pruning.softTrim.tailChars) / shown.chars;
      return {
        chars,
        tokens: Math.ceil(shown.tokens * share) + note.tokens,
        bytes: Math.ceil(shown.bytes * share) + note.bytes,
      };
    },
    afterClear: (item) => {
      if (item.isCall) return afterShortening(item, "cleared") ?? item.shown;
      return item.texts.chars === 0 ? item.shown : note;
    },
  };
}
