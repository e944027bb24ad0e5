import type { TokenCounter } from "../../contract/token-counter.ts";
import type { Wire, WireMessage } from "../../contract/wire.ts";

/** A message as a model reads it. */
export interface Rendered {
  view: WireMessage;
  /** All of it; two requests share a prompt cache as far as these are the same. */
  text: string;
  bytes: number;
  tokens: number;
  /** What stands outside results and long strings of calls, one text each. */
  outside: string[];
  /** Each result's text. */
  results: string[];
  /** Long strings of each call that has some. */
  calls: string[];
}

/** The tokens of one image, audio or file, as `prepare` counts them. */
const MEDIA_TOKENS = 1600;
/** Fields that no model reads: names of things, what things cost, and data that is not text. */
const UNREAD = new Set(
  (
    "id type role call_id tool_call_id toolCallId tool_use_id toolUseId parentId timestamp usage cost model provider api " +
    "stopReason stop_reason details signature thinkingSignature thoughtSignature textSignature encrypted_content data " +
    "cache_control status mimeType media_type response_metadata providerMetadata providerOptions metadata artifact"
  ).split(" "),
);

/** Renders messages, each object once. */
export class Renderer {
  readonly #wire: Wire;
  readonly #counter: TokenCounter;
  readonly #share: number;
  readonly #known = new WeakMap<object, Rendered>();
  /** Messages that are not objects, by their value. */
  readonly #odd = new Map<unknown, Rendered>();

  /** `share` is what the provider of a conversation counts for one token of the counter's. */
  constructor(wire: Wire, counter: TokenCounter, share = 1) {
    this.#wire = wire;
    this.#counter = counter;
    this.#share = share;
  }

  render(message: unknown): Rendered {
    if (typeof message !== "object" || message === null) {
      const odd = this.#odd.get(message) ?? this.#render(message);
      this.#odd.set(message, odd);
      return odd;
    }
    const known = this.#known.get(message) ?? this.#render(message);
    this.#known.set(message, known);
    return known;
  }

  count(text: string): number {
    return Math.round(this.#counter.count(text) * this.#share);
  }

  #render(message: unknown): Rendered {
    const view = this.#wire.read(message);
    const results = view.results.map(({ texts }) => texts.join("\n"));
    const long = view.calls.flatMap((call) => call.long ?? []);
    const calls = long.map(({ texts }) => texts.join("\n"));
    const emptied = [
      ...view.results.filter(({ fixed }) => !fixed).map(({ at }) => ({ at, texts: [""] })),
      ...long.map(({ at, texts }) => ({ at, texts: texts.map(() => "") })),
    ];
    const outside: string[] = [];
    const rest = emptied.length === 0 ? message : this.#wire.write(message, emptied);
    collect(this.#wire.sent === undefined ? rest : this.#wire.sent(rest), outside);
    const text = [view.role, ...outside, ...calls, ...results, ""].join("\n");
    const media = view.results.reduce((sum, result) => sum + result.media.count, view.media.count);
    return {
      view,
      text,
      bytes: Buffer.byteLength(text),
      tokens: this.count(text) + media * MEDIA_TOKENS,
      outside,
      results,
      calls,
    };
  }
}

function collect(value: unknown, into: string[]): void {
  if (typeof value === "string") {
    if (value !== "") into.push(value);
  } else if (typeof value === "number" || typeof value === "boolean") into.push(String(value));
  else if (Array.isArray(value)) for (const each of value) collect(each, into);
  else if (typeof value === "object" && value !== null) {
    for (const [key, each] of Object.entries(value)) if (!UNREAD.has(key)) collect(each, into);
  }
}
