import type { Limits } from "../../contract/limits.ts";
import type { PruningPolicy } from "../../contract/policy.ts";
import type { VerdictKind } from "../../contract/verdict.ts";
import type { PruneFrame, PruneItem } from "../prune/prune-item.ts";
import { subtract, type Weight } from "../prune/weight.ts";

/** A result as rungs see it. */
export interface RungItem extends PruneItem {
  /** Not ours to change at all. */
  fixed: boolean;
  /** Its texts alone, without media. */
  texts: Weight & { lines: number };
  /** Its media alone. */
  media: Weight;
  /** No model has seen it yet. */
  isNewest: boolean;
}

/** Media outside results. */
export interface RungMedia {
  /** Its message's place in the request. */
  message: number;
  weight: Weight;
}

/** A refused request as rungs see it. Weights are estimates. */
export interface RungRequest extends Omit<PruneFrame<RungItem>, "items"> {
  items: readonly RungItem[];
  /** Media in messages of users and assistants; empty unless the caller gave them up. */
  outsideMedia: readonly RungMedia[];
  /** The last assistant's message and what came after it. */
  newestTokens: number;
  /** What the messages may take: rungs go on until they are within both. */
  targetTokens: number;
  targetBytes: number;
  pruning: PruningPolicy;
  /** One result's share of the window. */
  resultChars: number;
  /** The hard limits of any one result, its share of the window among them. */
  hardLimits: Limits;
  /** There is somebody who can summarise. */
  canCompact: boolean;
}

/** One thing to be shown shorter, and about how much that frees. */
export type RungCut = { frees: Weight } & (
  | { item: RungItem; to: "clamped"; limits: Limits }
  | { item: RungItem; to: "trimmed" | "cleared" | "without-media" }
  | { message: number; to: "without-media" }
);

/** What a rung wants done: cuts in place, or a summary of at most so many tokens in all. */
export type RungPlan = { cuts: RungCut[] } | { compactTo: number };

/** One way to make a refused request smaller. It plans and changes nothing itself. */
export interface Rung {
  name: string;
  /** How often it may be taken in one call; once for each refusal if it is left out. */
  times?: number;
  /** It is tried again even if it freed nothing. */
  insists?: boolean;
  /** Kinds of refusal for which it goes before all others. */
  firstFor?: readonly VerdictKind[];
  /** About how much it can free at most; nothing of either means that it is not taken. */
  estimate(request: RungRequest): { tokens: number; bytes: number };
  plan(request: RungRequest): RungPlan;
}

/** A rung that cuts in place: what it can free is what it would cut if there were no end to it. */
export function cuttingRung(
  about: Pick<Rung, "name" | "times" | "insists" | "firstFor">,
  cutsOf: (request: RungRequest, pressure: Pressure) => Iterable<RungCut>,
): Rung {
  const plan = (request: RungRequest) => {
    const pressure = new Pressure(request);
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

/** What still has to go while a plan is made. */
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

/** A result cut to limits; it frees about its texts' share over them. */
export function clampTo(item: RungItem, limits: Limits): RungCut {
  const { chars, bytes, lines } = item.texts;
  const share = Math.min(1, part(limits.maxChars, chars), part(limits.maxBytes, bytes), part(limits.maxLines, lines));
  return { item, to: "clamped", limits, frees: portion(item.texts, 1 - share) };
}

/** A result in a form that weighs this much. */
export function shortenTo(item: RungItem, to: "trimmed" | "cleared", after: Weight): RungCut {
  return { item, to, frees: subtract(item.shown, after) };
}

function part(limit: number | undefined, size: number): number {
  return limit === undefined || size <= limit ? 1 : limit / size;
}

function portion({ chars, tokens, bytes }: Weight, share: number): Weight {
  return { chars: Math.floor(chars * share), tokens: Math.floor(tokens * share), bytes: Math.floor(bytes * share) };
}
