import type { PruningPolicy } from "../../contract/policy.ts";
import { NUMBERS } from "../policy/defaults.ts";
import { measureAgainst, type PrunePlan } from "./plan-each-request.ts";
import { type PruneCut, type PruneFrame, type PruneItem, STEP, selectItems } from "./prune-item.ts";
import type { Weight } from "./weight.ts";

/** Why pruning may act: each trigger, whether it did, and in words why or why not. */
export type TriggerName = "pressure" | "bytes" | "age" | "idle";
export type Triggers = Record<TriggerName, { active: boolean; why: string }>;

/** What a step costs: it breaks a prompt cache from its first cut on. */
export interface StepCost {
  /** Since the last request; null where there was no earlier one to measure from. A cache that is cold costs nothing. */
  idleMs: number | null;
  /** All that stands from a message on, as shown now. */
  weightFrom(message: number): Weight;
}

/** A plan, its triggers, and whether what it frees is needed so much that it must not wait for a store. */
export interface StepPlan<Item extends PruneItem> extends PrunePlan<Item> {
  triggers: Triggers;
  forced: boolean;
}

/** A step never has to free more than this share of the window. */
const MOST_CLEAR_SHARE = 1 / 3;
/** Near the window's end this share of a step is enough. */
const FORCED_SHARE = 1 / 2;

/** Pruning in rare, large steps: forms only shrink, and a prompt cache is broken only where that pays. */
export function planSteps<Item extends PruneItem>(
  frame: PruneFrame<Item>,
  policy: PruningPolicy,
  cost: StepCost,
): StepPlan<Item> {
  const off = (why: string): StepPlan<Item> => ({ cuts: [], why, triggers: allInactive(why), forced: false });
  const selected = selectItems(frame, policy);
  if (selected.why !== null) return off(selected.why);
  const left = inOrder(selected.items.filter(({ step }) => step < STEP.cleared));
  if (policy.mode === "aggressive") {
    const cuts = left
      .filter((item) => frame.afterClear(item).chars < item.shown.chars)
      .map((item): PruneCut<Item> => ({ item, to: "cleared" }));
    return { ...off("mode is aggressive: every old result is cleared"), cuts };
  }
  return new Step(frame, policy, cost, left).plan();
}

/** Superseded results first, errors last, else the oldest first. */
function inOrder<Item extends PruneItem>(items: readonly Item[]): Item[] {
  const rank = ({ superseded, isError }: Item) => (superseded ? 0 : isError ? 2 : 1);
  return items.toSorted((a, b) => rank(a) - rank(b));
}

class Step<Item extends PruneItem> {
  readonly #frame: PruneFrame<Item>;
  readonly #policy: PruningPolicy;
  readonly #cost: StepCost;
  readonly #left: Item[];
  readonly #weigh: (weight: Weight) => number;
  readonly #capacity: number;
  readonly #cuts = new Map<Item, PruneCut<Item>>();
  /** As they would be shown. */
  readonly #after = new Map<Item, Weight>();
  #used: number;
  #bytes: number;

  constructor(frame: PruneFrame<Item>, policy: PruningPolicy, cost: StepCost, left: Item[]) {
    const { capacity, weigh } = measureAgainst(frame, policy);
    this.#frame = frame;
    this.#policy = policy;
    this.#cost = cost;
    this.#left = left;
    this.#weigh = weigh;
    this.#capacity = capacity;
    this.#used = weigh(frame.total);
    this.#bytes = frame.total.bytes;
  }

  plan(): StepPlan<Item> {
    const { softTrimRatio: soft, hardClearRatio: hard, forceRatio, cacheTtlMs } = this.#policy;
    const before = this.#used;
    const ratio = before / this.#capacity;
    const { idleMs } = this.#cost;
    const isCold = idleMs !== null && cacheTtlMs > 0 && idleMs >= cacheTtlMs;
    const forced = ratio >= forceRatio;
    const bytes = this.#forBytes();
    const age = this.#forAge();
    if (ratio >= soft) this.#trimTo(soft * this.#policy.lowWatermark * this.#capacity);
    if (this.#used / this.#capacity >= hard || (isCold && ratio >= soft)) {
      this.#clearTo((isCold ? soft : hard) * this.#policy.lowWatermark * this.#capacity, forced);
    }
    const freed = before - this.#used;
    const least = this.#least();
    // Under the clearing ratio a step is only worth it if it buys a long rest.
    const isDeep = ratio >= hard || this.#used <= soft * this.#policy.lowWatermark * this.#capacity;
    const isPaid = this.#isPaid(freed);
    const pays =
      (freed >= least && isDeep && isPaid) ||
      (forced && freed >= least * FORCED_SHARE) ||
      isCold ||
      bytes.active ||
      age.active;
    const triggers: Triggers = {
      pressure: this.#pressure(ratio, freed, least, { isDeep, isPaid }),
      bytes,
      age,
      idle: this.#idle(isCold, ratio),
    };
    if (!pays || this.#cuts.size === 0) return { cuts: [], why: triggers.pressure.why, triggers, forced };
    const active = (Object.keys(triggers) as TriggerName[]).filter((name) => triggers[name].active);
    return {
      cuts: [...this.#cuts.values()],
      why: active.map((name) => triggers[name].why).join("; "),
      triggers,
      forced,
    };
  }

  /** What a step has to free, in the policy's unit. */
  #least(): number {
    const { clearAtLeastTokens, clearAtLeastShare, estimate } = this.#policy;
    const asked = Math.max(
      estimate === "chars/4" ? clearAtLeastTokens * 4 : clearAtLeastTokens,
      clearAtLeastShare * this.#capacity,
    );
    return Math.min(asked, MOST_CLEAR_SHARE * this.#capacity);
  }

  #trimTo(low: number): void {
    for (const item of this.#left) {
      if (this.#used <= low) return;
      this.#trim(item);
    }
  }

  #clearTo(low: number, forced: boolean): void {
    const { hardClear, minPrunableToolChars } = this.#policy;
    if (!hardClear.enabled) return;
    const prunable = this.#left.reduce((sum, item) => sum + (this.#after.get(item) ?? item.shown).chars, 0);
    if (prunable < minPrunableToolChars && !forced) return;
    for (const item of this.#left) {
      if (this.#used <= low) return;
      this.#clear(item);
    }
  }

  /** Bytes are bound apart from tokens: what a provider refuses for size, no window explains. */
  #forBytes(): Triggers["bytes"] {
    const { maxRequestBytes, lowWatermark } = this.#policy;
    if (this.#bytes <= maxRequestBytes) {
      return { active: false, why: `the request is under ${maxRequestBytes} bytes` };
    }
    // Images take the most bytes.
    for (const act of [(item: Item) => item.heldMedia && this.#trim(item), (item: Item) => this.#clear(item)]) {
      for (const item of this.#left) {
        if (this.#bytes <= maxRequestBytes * lowWatermark) break;
        act(item);
      }
    }
    return { active: this.#cuts.size > 0, why: `the request is over ${maxRequestBytes} bytes` };
  }

  #forAge(): Triggers["age"] {
    const { ageTurns, hardClear } = this.#policy;
    const { assistants } = this.#frame;
    if (ageTurns === 0) return { active: false, why: "ageTurns is 0" };
    const border = assistants[assistants.length - ageTurns];
    if (border === undefined || !hardClear.enabled) return { active: false, why: `no result is ${ageTurns} turns old` };
    const old = this.#left.filter(({ message }) => message < border);
    const freed = old.reduce(
      (sum, item) => sum + this.#weigh(item.shown) - this.#weigh(this.#frame.afterClear(item)),
      0,
    );
    if (freed < this.#least()) {
      return { active: false, why: `clearing results of ${ageTurns} turns ago would free too little` };
    }
    for (const item of old) this.#clear(item);
    return { active: this.#cuts.size > 0, why: `results are over ${ageTurns} turns old` };
  }

  /**
   * Nobody knows how long a conversation goes on. What a step frees was sent again with each answer so far; once that came
   * to more than writing the rest anew, waiting longer costs more than a step that comes too late to pay.
   */
  #isPaid(freed: number): boolean {
    const { assistants } = this.#frame;
    let reread = 0;
    let first = Number.POSITIVE_INFINITY;
    for (const [item, after] of this.#after) {
      const answered = assistants.length - firstAfter(assistants, item.message);
      reread += (this.#weigh(item.shown) - this.#weigh(after)) * answered;
      first = Math.min(first, item.message);
    }
    if (reread === 0) return false;
    const rewritten = this.#weigh(this.#cost.weightFrom(first)) - freed;
    return reread >= rewritten * NUMBERS.pruneRewriteReads.default;
  }

  #pressure(
    ratio: number,
    freed: number,
    least: number,
    { isDeep, isPaid }: { isDeep: boolean; isPaid: boolean },
  ): Triggers["pressure"] {
    const { softTrimRatio: soft, forceRatio } = this.#policy;
    const share = ratio.toFixed(2);
    if (ratio < soft) return { active: false, why: `the request takes ${share} of the window, under ${soft}` };
    if (ratio >= forceRatio) return { active: this.#cuts.size > 0, why: `the request takes ${share} of the window` };
    if (freed < least) {
      return { active: false, why: `a step would free ${Math.round(freed)}, less than ${Math.round(least)}` };
    }
    if (!isPaid) return { active: false, why: "a step would break more of the prompt cache than it has saved so far" };
    if (!isDeep) return { active: false, why: "a step would not reach the low watermark, so it waits" };
    return { active: true, why: `the request takes ${share} of the window` };
  }

  #idle(isCold: boolean, ratio: number): Triggers["idle"] {
    const { softTrimRatio, cacheTtlMs } = this.#policy;
    const { idleMs } = this.#cost;
    if (cacheTtlMs === 0) return { active: false, why: "cacheTtlMs is 0" };
    if (idleMs === null) return { active: false, why: "no earlier request of this conversation is known" };
    if (!isCold) return { active: false, why: `the last request was ${idleMs} ms ago, within ${cacheTtlMs}` };
    if (ratio < softTrimRatio) return { active: false, why: "the prompt cache is cold, but there is no pressure" };
    return { active: this.#cuts.size > 0, why: "the prompt cache is cold" };
  }

  #trim(item: Item): void {
    const trimmed = item.step < STEP.trimmed && !this.#cuts.has(item) ? this.#frame.afterTrim(item) : null;
    if (trimmed !== null && trimmed.chars < item.shown.chars) this.#cut(item, "trimmed", trimmed);
  }

  #clear(item: Item): void {
    const cleared = this.#frame.afterClear(item);
    if (cleared.chars < (this.#after.get(item) ?? item.shown).chars) this.#cut(item, "cleared", cleared);
  }

  #cut(item: Item, to: PruneCut["to"], after: Weight): void {
    const before = this.#after.get(item) ?? item.shown;
    this.#used += this.#weigh(after) - this.#weigh(before);
    this.#bytes += after.bytes - before.bytes;
    this.#after.set(item, after);
    this.#cuts.set(item, { item, to });
  }
}

/** The place of the first of these numbers, in order, that is larger. */
function firstAfter(numbers: readonly number[], value: number): number {
  let [from, to] = [0, numbers.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((numbers[middle] as number) > value) to = middle;
    else from = middle + 1;
  }
  return from;
}

function allInactive(why: string): Triggers {
  const trigger = { active: false, why };
  return { pressure: trigger, bytes: trigger, age: trigger, idle: trigger };
}
