import { isObject } from "../values.ts";
/** A request that was answered, and its size by the provider's count. */
export interface AnsweredRequest {
  messages: readonly unknown[];
  inputTokens: number;
}

/** The shorter message that was accepted in place of a caller's message. */
interface Form {
  message: unknown;
  /** The size of the caller's message when it was read. Hosts sometimes add to a message later. */
  bytes: number;
}

/** A summary that replaces the start of a conversation. */
interface Summary {
  first: object;
  /** How many of the caller's messages it replaces. */
  covered: number;
  head: readonly unknown[];
}

/**
 * Remembers what earlier calls found out, for as long as the caller keeps its messages. The next call then shows what
 * was accepted before and is not refused again.
 */
export class CallMemory {
  readonly #origins = new WeakMap<object, unknown>();
  readonly #bases = new WeakMap<object, unknown>();
  readonly #forms = new WeakMap<object, Form>();
  readonly #summaries = new WeakMap<object, Summary>();
  readonly #windows = new WeakMap<object, number>();
  readonly #answered = new WeakMap<object, AnsweredRequest>();

  /** Returns the caller's message that this one was made from, or the message itself if there is none. */
  originOf(message: unknown): unknown {
    return (isObject(message) ? this.#origins.get(message) : undefined) ?? message;
  }

  standsFor(written: unknown, message: unknown): void {
    if (isObject(written)) this.#origins.set(written, this.originOf(message));
  }

  /** Returns the message as it was prepared, before a rung cut it, or the message itself if no rung did. */
  baseOf(message: unknown): unknown {
    return (isObject(message) ? this.#bases.get(message) : undefined) ?? message;
  }

  cutFrom(written: unknown, message: unknown): void {
    this.standsFor(written, message);
    if (isObject(written)) this.#bases.set(written, this.baseOf(message));
  }

  /**
   * Returns what was accepted in a message's place. Returns the message itself if nothing was, or if it has changed
   * since.
   */
  formOf(origin: unknown, bytesNow: () => number): unknown {
    const form = isObject(origin) ? this.#forms.get(origin) : undefined;
    return form !== undefined && form.bytes === bytesNow() ? form.message : origin;
  }

  rememberForm(origin: unknown, message: unknown, bytes: number): void {
    if (isObject(origin) && origin !== message) this.#forms.set(origin, { message, bytes });
  }

  /** Returns the summary of the conversation's start, if one was made before, and how many messages it replaces. */
  withSummary(messages: readonly unknown[]): { head: readonly unknown[]; covered: number } {
    for (let at = messages.length - 1; at >= 0; at--) {
      const last = messages[at];
      const summary = isObject(last) ? this.#summaries.get(last) : undefined;
      if (summary?.covered === at + 1 && summary.first === messages[0]) return summary;
    }
    return { head: [], covered: 0 };
  }

  rememberSummary(messages: readonly unknown[], covered: number, head: readonly unknown[]): void {
    const [first, last] = [messages[0], messages[covered - 1]];
    if (isObject(first) && isObject(last)) this.#summaries.set(last, { first, covered, head });
  }

  /** Returns the window that a provider was found to have, as our estimate counts it. */
  windowOf(messages: readonly unknown[]): number | null {
    const first = firstTurn(messages);
    return (isObject(first) ? this.#windows.get(first) : undefined) ?? null;
  }

  rememberWindow(messages: readonly unknown[], tokens: number): void {
    const first = firstTurn(messages);
    if (isObject(first)) this.#windows.set(first, tokens);
  }

  /** Returns the smallest request of this conversation that was answered with its size. */
  answeredOf(messages: readonly unknown[]): AnsweredRequest | null {
    const first = firstTurn(messages);
    return (isObject(first) ? this.#answered.get(first) : undefined) ?? null;
  }

  rememberAnswered(messages: readonly unknown[], sent: readonly unknown[], inputTokens: number): void {
    const first = firstTurn(messages);
    const known = this.answeredOf(messages);
    if (isObject(first) && (known === null || inputTokens < known.inputTokens))
      this.#answered.set(first, { messages: sent, inputTokens });
  }
}

/**
 * Returns the message by which a conversation is known. It is not the system prompt, because many conversations may
 * share one object for that.
 */
function firstTurn(messages: readonly unknown[]): unknown {
  const isPrompt = (message: unknown) =>
    isObject(message) && "role" in message && (message.role === "system" || message.role === "developer");
  return messages.find((message) => !isPrompt(message));
}
