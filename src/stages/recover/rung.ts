import type { Limits } from "../../contract/limits.ts";
import type { PruningPolicy } from "../../contract/policy.ts";
import type { VerdictKind } from "../../contract/verdict.ts";
import type { PruneFrame, PruneItem } from "../prune/prune-item.ts";
import { NO_WEIGHT, portion, subtract, type Weight } from "../prune/weight.ts";

/** A result, or the long strings of a call, as rungs see it. */
export interface RungItem extends PruneItem {
  /** True if the result must not be changed. */
  fixed: boolean;
  /** The weight of its texts, without media. */
  texts: Weight & { lines: number };
  media: Weight;
  /** True if no model has seen it yet. */
  isNewest: boolean;
}

/** Media outside results. */
export interface RungMedia {
  /** The index of its message in the request. */
  message: number;
  weight: Weight;
}

/** A turn: an assistant's message, the results of its calls, and what is said until the next turn. */
export interface RungTurn {
  /** The index of its first message. */
  from: number;
  weight: Weight;
}

/** A refused request as rungs see it. Weights are estimates. */
export interface RungRequest extends Omit<PruneFrame<RungItem>, "items" | "joints" | "excessChars"> {
  /** The results, in order. */
  items: readonly RungItem[];
  /** The calls with long strings in their arguments, in order. */
  calls: readonly RungItem[];
  /** Media in messages of users and assistants. Empty unless the caller allows them to be dropped. */
  outsideMedia: readonly RungMedia[];
  /** The oldest first. The last one is the newest turn. The system prompt and the user's task are before the first. */
  turns: readonly RungTurn[];
  /** The tokens of the last assistant's message and of everything after it. */
  newestTokens: number;
  /** The most that the messages may take. Rungs go on until the messages are within both. */
  targetTokens: number;
  targetBytes: number;
  pruning: PruningPolicy;
  /** One result's share of the window. */
  resultChars: number;
  /** The hard limits of any one result. Its share of the window is among them. */
  hardLimits: Limits;
  /** True if there is a compactor. */
  canCompact: boolean;
}

/** One thing that is to be shown shorter, and about how much that frees. */
export type RungCut = { frees: Weight } & (
  | { item: RungItem; to: "clamped"; limits: Limits }
  | { item: RungItem; to: "trimmed" | "cleared" | "without-media" }
  | { message: number; to: "without-media" }
);

/**
 * What a rung wants done: cuts in place, a summary that brings the messages to at most `compactTo` tokens, or messages
 * left out whole. `from` and `to` are where turns begin, and the message at `to` stays.
 */
export type RungPlan = { cuts: RungCut[] } | { compactTo: number } | { leaveOut: { from: number; to: number } };

/** One way to make a refused request smaller. It only plans and changes nothing itself. */
export interface Rung {
  name: string;
  /** How often it may be taken in one call. If it is left out: once for each refusal. */
  times?: number;
  /**
   * If true, the rung is tried again even if it freed nothing. If it freed something, the request is sent before
   * anything else is tried.
   */
  insists?: boolean;
  /** If the request fits but takes more than this share of its target, the rung is still taken: the next turn would not fit. */
  roomShare?: number;
  /** The kinds of refusal for which it goes before all others. */
  firstFor?: readonly VerdictKind[];
  /** Returns about how much it can free at most. If both are 0, the rung is not taken. */
  estimate(request: RungRequest): { tokens: number; bytes: number };
  plan(request: RungRequest): RungPlan;
}

/** Makes a rung that cuts in place, down to a share of the target. Its estimate is what it would free if the target were 0. */
export function cuttingRung(
  { share = 1, ...about }: Pick<Rung, "name" | "times" | "insists" | "firstFor"> & { share?: number },
  cutsOf: (request: RungRequest, pressure: Pressure) => Iterable<RungCut>,
): Rung {
  const plan = (request: RungRequest) => {
    const targetTokens = request.targetTokens * share;
    const pressure = new Pressure({ ...request, targetTokens, targetBytes: request.targetBytes * share });
    const cuts: RungCut[] = [];
    for (const cut of cutsOf(request, pressure)) {
      if (cut.frees.tokens <= 0 && cut.frees.bytes <= 0) continue;
      cuts.push(cut);
      pressure.free(cut.frees);
    }
    return { cuts };
  };
  return {
    ...about,
    plan,
    estimate(request) {
      const { cuts } = plan({ ...request, targetTokens: 0, targetBytes: 0 });
      return {
        tokens: cuts.reduce((sum, { frees }) => sum + frees.tokens, 0),
        bytes: cuts.reduce((sum, { frees }) => sum + frees.bytes, 0),
      };
    },
  };
}

/** How much still has to be freed while a plan is made. */
export class Pressure {
  tokens: number;
  bytes: number;

  constructor({ total, targetTokens, targetBytes }: RungRequest) {
    this.tokens = total.tokens - targetTokens;
    this.bytes = total.bytes - targetBytes;
  }

  get isOver(): boolean {
    return this.tokens > 0 || this.bytes > 0;
  }

  free({ tokens, bytes }: Weight): void {
    this.tokens -= tokens;
    this.bytes -= bytes;
  }
}

/** Returns how much of a result is over a number of characters. A result that must not be changed has none. */
export function overChars({ fixed, texts }: RungItem, maxChars: number): Weight {
  return fixed ? NO_WEIGHT : portion(texts, 1 - part(maxChars, texts.chars));
}

/** Cuts a result to limits. It frees about the share of its texts that is over them. */
export function clampTo(item: RungItem, limits: Limits): RungCut {
  const { chars, bytes, lines } = item.texts;
  const share = Math.min(1, part(limits.maxChars, chars), part(limits.maxBytes, bytes), part(limits.maxLines, lines));
  return { item, to: "clamped", limits, frees: portion(item.texts, 1 - share) };
}

/** Replaces a result by a form of this weight. */
export function shortenTo(item: RungItem, to: "trimmed" | "cleared", after: Weight): RungCut {
  return { item, to, frees: subtract(item.shown, after) };
}

function part(limit: number | undefined, size: number): number {
  return limit === undefined || size <= limit ? 1 : limit / size;
}
