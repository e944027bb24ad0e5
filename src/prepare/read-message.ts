import type { TokenCounter } from "../contract/token-counter.ts";
import type { Wire, WireMessage, WireResult } from "../contract/wire.ts";
import { joinTexts } from "../stages/prune/trim-text.ts";
import { add, type Weight, weighMedia, weighOutside, weighText } from "../stages/prune/weight.ts";
import type { Form } from "./form.ts";

/** A result as it came, weighed once. */
export interface ReadResult {
  result: WireResult;
  /** Texts and media together. */
  weight: Weight;
  /** Texts only: what a form can stand for. */
  texts: Weight & { lines: number };
  sha256: string | null;
}

/** A message as its wire reads it, weighed once. */
export interface ReadMessage {
  source: unknown;
  /** What the message held when it was read, by identity. */
  content: unknown;
  length: number;
  view: WireMessage;
  outside: Weight;
  results: ReadResult[];
  /** The message with its results in these forms, kept so that the next request gets the same object. */
  written: { forms: (Form | null)[]; message: unknown } | null;
}

/** Whether a message is the one that was read, and still holds what it held: hosts sometimes put more into it. */
export function isUnchanged({ source, content, length }: ReadMessage, message: unknown): boolean {
  if (message !== source) return false;
  if (typeof message !== "object" || message === null) return true;
  const now = contentOf(message);
  return now === content && lengthOf(now) === length;
}

interface Known {
  read: ReadMessage;
  wire: Wire;
}

/** Reads messages, each object once. */
export class MessageReader {
  readonly #counter: TokenCounter;
  readonly #known = new WeakMap<object, Known>();

  constructor(counter: TokenCounter) {
    this.#counter = counter;
  }

  read(wire: Wire, message: unknown): ReadMessage {
    if (typeof message !== "object" || message === null) return this.#weigh(wire, message);
    const known = this.#known.get(message);
    if (known !== undefined && known.wire === wire && isUnchanged(known.read, message)) return known.read;
    const read = this.#weigh(wire, message);
    this.#known.set(message, { read, wire });
    return read;
  }

  /** The text of a form. */
  weigh(texts: readonly string[]): Weight {
    const { chars, tokens, bytes } = weighText(joinTexts(texts), this.#counter);
    return { chars, tokens, bytes };
  }

  #weigh(wire: Wire, message: unknown): ReadMessage {
    const view = wire.read(message);
    const content = typeof message === "object" && message !== null ? contentOf(message) : null;
    return {
      source: message,
      content,
      length: lengthOf(content),
      view,
      outside: weighOutside(view, this.#counter),
      results: view.results.map((result) => {
        const texts = weighText(joinTexts(result.texts), this.#counter);
        const { count } = result.media;
        return { result, texts, weight: count === 0 ? texts : add(texts, weighMedia(result.media)), sha256: null };
      }),
      written: null,
    };
  }
}

/** Where formats keep what a message says. */
function contentOf(message: object): unknown {
  const { content, parts, output } = message as { content?: unknown; parts?: unknown; output?: unknown };
  return content ?? parts ?? output;
}

function lengthOf(content: unknown): number {
  return Array.isArray(content) ? content.length : -1;
}
