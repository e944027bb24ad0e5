import type { TokenCounter } from "../contract/token-counter.ts";
import type { Verdict } from "../contract/verdict.ts";
import { guardCounter } from "../stages/measure/estimate-tokens.ts";
import { NUMBERS } from "../stages/policy/defaults.ts";
import { countSamples, weighMessage, weightOf } from "../stages/prune/weight.ts";
import { learnedSystemAndTools } from "../stages/recover/recovery-goal.ts";
import type { CallPorts } from "./call-options.ts";
import { Draft, Scale } from "./draft.ts";

/** The counter that all rooms use, and one with a real vocabulary, or null if there is none. */
export interface Counters {
  counter: TokenCounter;
  exactCounter(): Promise<TokenCounter | null>;
}

/** Returns both counters. Loads the second one when it is first needed. */
export function countersOf({ counter, exactCounter }: Pick<CallPorts, "counter" | "exactCounter">): Counters {
  let loading: Promise<TokenCounter | null> | undefined;
  const load = async () => {
    try {
      return exactCounter === undefined ? null : guardCounter(await exactCounter());
    } catch {
      return null; // the package is optional, so the estimate is used
    }
  };
  return {
    counter,
    exactCounter() {
      loading ??= load();
      return loading;
    },
  };
}

/** A request that was answered: its messages as `prepare` counts them, and all of it by the provider's count. */
export interface AnsweredRequest {
  tokens: number;
  inputTokens: number;
}

/** If the provider's numbers leave the messages less than this share of our count, they are not believed. */
const LEAST_COUNTED = 0.3;

/** Weighs the messages of one call, and what is sent besides them. */
export class CallScale {
  readonly #counters: Counters;
  readonly #systemAndTools: unknown;
  /** Most requests are answered, and never weighed here. */
  #scale: Scale | null = null;
  /** The request before, which was refused. */
  #refused: { messages: readonly unknown[]; verdict: Verdict } | null = null;

  constructor(counters: Counters, systemAndTools: unknown) {
    this.#counters = counters;
    this.#systemAndTools = systemAndTools;
  }

  get now(): Scale {
    this.#scale ??= new Scale(this.#counters.counter);
    return this.#scale;
  }

  /**
   * Weighs the draft by a real vocabulary if there is one, because near the limit an estimate does not say what fits.
   */
  async recount(draft: Draft, { limitTokens }: Verdict): Promise<Draft> {
    const isTooMuch = draft.total.bytes > NUMBERS.recoverExactBytes.default;
    if (this.now.isExact || limitTokens === undefined || isTooMuch) return draft;
    const counter = await this.#counters.exactCounter();
    if (counter === null) return draft;
    this.#scale = new Scale(counter);
    return new Draft(draft.wire, draft.messages, this.now);
  }

  /** The tokens of what is sent besides the messages, as far as the caller said it. */
  get saidTokens(): number {
    return this.now.weighSystemAndTools(this.#systemAndTools);
  }

  /** Returns the same number, or what the refusal or an earlier answer says about it, or null if nothing does. */
  systemAndToolsTokens(draft: Draft, verdict: Verdict, answered: readonly AnsweredRequest[]): number | null {
    const { wire, messages, total } = draft;
    if (this.#systemAndTools !== undefined) return this.saidTokens;
    const { toolTokens, observedTokens, outputTokens = 0 } = verdict;
    // If the system prompt is one of the messages, only the tools are sent besides them.
    const hasPrompt = wire.name === "openai-chat" && messages.some((message) => wire.read(message).role === "system");
    const messageTokens = (observedTokens ?? 0) - outputTokens - (toolTokens ?? 0);
    if (toolTokens !== undefined && hasPrompt && messageTokens > total.tokens * LEAST_COUNTED)
      return Math.round((toolTokens * total.tokens) / messageTokens);
    const tokensIn = (list: readonly unknown[]) => this.now.weighAll(wire, list).tokens;
    const before = this.#refused;
    this.#refused = { messages, verdict };
    const { tokens } = total;
    // The provider counted two requests of this call. What does not grow with the messages is sent besides them.
    if (before !== null && observedTokens !== undefined)
      return learnedSystemAndTools(before.verdict, tokensIn(before.messages), {
        tokens,
        inputTokens: observedTokens - outputTokens,
      });
    const share = answered.length === 0 ? 1 : this.preparedTokens(draft) / Math.max(1, tokens);
    for (const one of answered) {
      const learned = learnedSystemAndTools(verdict, tokens, {
        tokens: one.tokens / share,
        inputTokens: one.inputTokens,
      });
      if (learned !== null) return learned;
    }
    return null;
  }

  /** Returns the tokens of a draft as `prepare` counts them. */
  preparedTokens({ wire, messages }: Draft): number {
    const count = countSamples(this.#counters.counter);
    return messages.reduce<number>((sum, one) => sum + weightOf(weighMessage(wire, one, count)).tokens, 0);
  }
}
