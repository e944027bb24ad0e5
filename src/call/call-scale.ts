import type { TokenCounter } from "../contract/token-counter.ts";
import type { Verdict } from "../contract/verdict.ts";
import { guardCounter } from "../stages/measure/estimate-tokens.ts";
import { NUMBERS } from "../stages/policy/defaults.ts";
import { learnedBeside } from "../stages/recover/recovery-goal.ts";
import type { AnsweredRequest } from "./call-memory.ts";
import type { CallParts } from "./call-options.ts";
import { Draft, Scale } from "./draft.ts";
import { weighMessage } from "./weigh-message.ts";

/** The counter that all rooms count with, and one with a real vocabulary; null where there is none. */
export interface Counters {
  counter: TokenCounter;
  exactCounter(): Promise<TokenCounter | null>;
}

/** Loads the second when it is first asked for. */
export function countersOf({ counter, exactCounter }: Pick<CallParts, "counter" | "exactCounter">): Counters {
  let loading: Promise<TokenCounter | null> | undefined;
  const load = async () => {
    try {
      return exactCounter === undefined ? null : guardCounter(await exactCounter());
    } catch {
      return null; // the package is optional: the estimate serves
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

/** Numbers that leave the messages less than this part of what we count for them are not to be believed. */
const LEAST_COUNTED = 0.3;

/** How one call weighs its messages, and what is sent beside them. */
export class CallScale {
  readonly #counters: Counters;
  readonly #beside: unknown;
  #scale: Scale;
  /** The request before, which was refused. */
  #refused: { messages: readonly unknown[]; verdict: Verdict } | null = null;

  constructor(counters: Counters, beside: unknown) {
    this.#counters = counters;
    this.#beside = beside;
    this.#scale = new Scale(counters.counter);
  }

  get now(): Scale {
    return this.#scale;
  }

  /** The draft weighed by a real vocabulary where there is one: near the limit an estimate does not tell what fits. */
  async recount(draft: Draft, { limitTokens }: Verdict): Promise<Draft> {
    const isTooMuch = draft.total.bytes > NUMBERS.recoverExactBytes.default;
    if (this.#scale.isExact || limitTokens === undefined || isTooMuch) return draft;
    const counter = await this.#counters.exactCounter();
    if (counter === null) return draft;
    this.#scale = new Scale(counter);
    return new Draft(draft.wire, draft.messages, this.#scale);
  }

  /** Tokens of what is sent beside the messages, as far as the caller said it. */
  get saidTokens(): number {
    return this.#scale.weighBeside(this.#beside);
  }

  /** The same, or what the refusal or an earlier answer tells of it; null where nothing does. */
  besideTokens({ wire, messages, total }: Draft, verdict: Verdict, answered: AnsweredRequest | null): number | null {
    if (this.#beside !== undefined) return this.saidTokens;
    const { toolTokens, observedTokens, outputTokens = 0 } = verdict;
    // Where the system prompt is one of the messages, nothing but the tools stands beside.
    const hasPrompt = wire.name === "openai-chat" && messages.some((message) => wire.read(message).role === "system");
    const messageTokens = (observedTokens ?? 0) - outputTokens - (toolTokens ?? 0);
    if (toolTokens !== undefined && hasPrompt && messageTokens > total.tokens * LEAST_COUNTED)
      return Math.round((toolTokens * total.tokens) / messageTokens);
    const tokensIn = (list: readonly unknown[]) => this.#scale.weighAll(wire, list).tokens;
    const before = this.#refused;
    this.#refused = { messages, verdict };
    const { tokens } = total;
    // The provider counted two requests of this call: what does not grow with the messages stands beside.
    if (before !== null && observedTokens !== undefined)
      return learnedBeside(before.verdict, tokensIn(before.messages), {
        tokens,
        inputTokens: observedTokens - outputTokens,
      });
    if (answered === null) return null;
    return learnedBeside(verdict, tokens, { tokens: tokensIn(answered.messages), inputTokens: answered.inputTokens });
  }

  /** What `prepare` counts of a draft against what we do. */
  preparedShare({ wire, messages, total }: Draft): number {
    const { counter } = this.#counters;
    const tokens = messages.reduce<number>((sum, one) => sum + weighMessage(wire, one, counter).weight.tokens, 0);
    return tokens / Math.max(1, total.tokens);
  }
}
