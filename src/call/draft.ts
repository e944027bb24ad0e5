import type { TokenCounter } from "../contract/token-counter.ts";
import type { Wire, WireResult, WireRole } from "../contract/wire.ts";
import { isSpoken } from "../prepare/conversation.ts";
import { measureText } from "../stages/measure/estimate-tokens.ts";
import { STEP } from "../stages/prune/prune-item.ts";
import { fileReadBy, supersedes } from "../stages/prune/superseded.ts";
import {
  add,
  countAll,
  NO_WEIGHT,
  type WeighedMessage,
  type Weight,
  weighMessage,
  weighSystemAndTools,
  weightOf,
} from "../stages/prune/weight.ts";
import type { RungItem, RungTurn } from "../stages/recover/rung.ts";
import { type PairedResult, startPairing, turnPlaces } from "../wire/pair-results.ts";

/** A result of a draft, or the long strings of a call in it. */
export interface DraftItem extends RungItem {
  /** Where it is in its message. */
  at: string;
  call: string | null;
  /** The input of the call that it answers; null for a call. */
  input: unknown;
  /** As it is now; null for a call. */
  result: WireResult | null;
  /** The lengths of a call's long strings. */
  lengths: readonly number[] | null;
}

/** Hardly any text has longer tokens on average. */
const MOST_BYTES_A_TOKEN = 6;

/** Reads and weighs messages, each object once. */
export class Scale {
  /** True if it counts with a real vocabulary, false if it estimates. */
  readonly isExact: boolean;
  readonly #count: (text: string) => number;
  readonly #known = new WeakMap<object, { wire: Wire; weighed: WeighedMessage }>();

  constructor(counter: TokenCounter) {
    this.isExact = counter.exact;
    this.#count = countAll(evenCounter(counter));
  }

  /** Returns the tokens of what is sent besides the messages. */
  weighSystemAndTools(systemAndTools: unknown): number {
    return weighSystemAndTools(systemAndTools, this.#count).tokens;
  }

  weighAll(wire: Wire, messages: readonly unknown[]): Weight {
    return messages.reduce<Weight>((sum, message) => add(sum, weightOf(this.weigh(wire, message))), NO_WEIGHT);
  }

  weigh(wire: Wire, message: unknown): WeighedMessage {
    if (typeof message !== "object" || message === null) return weighMessage(wire, message, this.#count);
    const known = this.#known.get(message);
    if (known?.wire === wire) return known.weighed;
    const weighed = weighMessage(wire, message, this.#count);
    this.#known.set(message, { wire, weighed });
    return weighed;
  }
}

/** The messages of a request as they would be sent, read and weighed. */
export class Draft {
  readonly wire: Wire;
  readonly messages: readonly unknown[];
  readonly items: DraftItem[] = [];
  readonly calls: DraftItem[] = [];
  readonly outsideMedia: { message: number; weight: Weight }[] = [];
  readonly assistants: number[] = [];
  firstUser: number | null = null;
  readonly turns: RungTurn[];
  readonly total: Weight;
  /** The tokens of the last assistant's message and of everything after it. */
  readonly newestTokens: number;
  /** The least tokens that it can have, or null if that is not known. */
  readonly leastTokens: number | null;
  /** The number of results without a call and of calls without a result. */
  readonly orphans: number;

  constructor(wire: Wire, messages: readonly unknown[], scale: Scale) {
    this.wire = wire;
    this.messages = messages;
    const pairing = startPairing();
    const pairs: PairedResult[] = [];
    const weights: { role: WireRole; weight: Weight }[] = [];
    let total = NO_WEIGHT;
    let open = 0;
    let lost = 0;
    const reads = new Map<string, { item: DraftItem; read: NonNullable<ReturnType<typeof fileReadBy>> }>();
    messages.forEach((message, index) => {
      const weighed = scale.weigh(wire, message);
      const { view, results, outsideMedia } = weighed;
      const weight = weightOf(weighed);
      weights.push({ role: view.role, weight });
      total = add(total, weight);
      if (view.role === "user") this.firstUser ??= index;
      if (view.role === "assistant") this.assistants.push(index);
      if (outsideMedia.tokens > 0) this.outsideMedia.push({ message: index, weight: outsideMedia });
      if (!view.aborted) open += view.calls.length;
      for (const { call, long, texts, lengths } of weighed.calls) {
        const { at } = long;
        const about = { message: index, tool: call.tool, isError: false, untouchable: false, superseded: false };
        const shown = { shown: texts, step: STEP.whole, fixed: false, texts, media: NO_WEIGHT, isNewest: false };
        this.calls.push({ ...about, ...shown, isCall: true, at, call: call.id, input: null, result: null, lengths });
      }
      for (const [at, pair] of pairing.add(view).entries()) {
        const { result, tool, call } = pair;
        pairs.push(pair);
        if (call === null) lost++;
        else open--;
        const { texts, media } = results[at] as WeighedMessage["results"][number];
        const item: DraftItem = {
          message: index,
          tool,
          isError: result.isError,
          untouchable: result.fixed || media.tokens > 0,
          superseded: false,
          shown: add(texts, media),
          step: STEP.whole,
          fixed: result.fixed,
          texts,
          media,
          isNewest: false,
          at: result.at,
          call: result.id,
          input: call?.input ?? null,
          result,
          lengths: null,
        };
        this.items.push(item);
        const read = result.isError ? null : fileReadBy(tool, call);
        if (read === null) continue;
        const earlier = reads.get(read.path);
        if (earlier !== undefined && supersedes(read, earlier.read)) earlier.item.superseded = true;
        reads.set(read.path, { item, read });
      }
    });
    const last = this.assistants.at(-1) ?? -1;
    for (const item of this.items) item.isNewest = item.message > last;
    this.total = total;
    const places = turnPlaces(
      weights.map(({ role }) => role),
      pairs,
    );
    this.turns = places.map((from, at) => ({
      from,
      weight: weights
        .slice(from, places[at + 1])
        .reduce((sum, { role, weight }) => (isSpoken({ role }) ? add(sum, weight) : sum), NO_WEIGHT),
    }));
    const hasMedia = this.outsideMedia.length > 0 || this.items.some(({ media }) => media.tokens > 0);
    this.leastTokens = hasMedia ? null : Math.min(total.tokens, Math.floor(total.bytes / MOST_BYTES_A_TOKEN));
    this.newestTokens = scale.weighAll(wire, messages.slice(Math.max(0, last))).tokens;
    this.orphans = lost + Math.max(0, open);
  }
}

/** How many tokens our estimate counts for each byte beyond one per character, in text outside ASCII. */
const WIDE_TOKENS_A_BYTE = 0.7;
/** The share of that estimate which today's vocabularies need. They have whole words for such text. */
const WIDE_SHARE = 0.45;

/**
 * Corrects an estimate so that it is too high by the same factor on every kind of text. A provider's count of one
 * request then shows what another one takes, whatever text was cut. An exact counter is returned unchanged.
 */
export function evenCounter(counter: TokenCounter): TokenCounter {
  if (counter.exact) return counter;
  const count = (text: string) => {
    const tokens = counter.count(text);
    const wide = wideTokens(tokens, measureText(text, NO_COUNTER).bytes - text.length);
    return Math.ceil(tokens - wide + wide * WIDE_SHARE);
  };
  return { name: counter.name, exact: false, maxBytesPerToken: counter.maxBytesPerToken, count };
}

function wideTokens(tokens: number, extraBytes: number): number {
  return Math.min(tokens, Math.max(0, extraBytes) * WIDE_TOKENS_A_BYTE);
}

const NO_COUNTER: TokenCounter = { name: "none", exact: false, maxBytesPerToken: 1, count: () => 0 };
