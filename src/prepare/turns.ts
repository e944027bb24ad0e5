import type { WireMessage } from "../contract/wire.ts";
import { inputText } from "../stages/cap/render-message.ts";

type Sha256 = (text: string) => string;

/** What a conversation is named by. */
export interface ConversationName {
  /** Who may read. */
  scope: string;
  /** The name that the host gives it; null where it gives none. */
  session: string | null;
  /** The first words of a user. */
  firstText: string | null;
}

/**
 * The turns of a conversation: what an assistant said or called, and which results came. Each has a hash of itself and all
 * turns before it, its **point**, so two requests that share a point share all that led to it. Texts are not part of it,
 * since hosts change them between requests: system prompts, reminders at the end, thoughts that are left out later.
 */
export class Turns {
  readonly #sha256: Sha256;
  /** Holds 52 bits of each point: enough to know it among the turns of one conversation, in a fourth of the memory. */
  readonly #points = new Set<number>();
  #last = "";
  #firstCall: string | null = null;
  #keys: { of: ConversationName; firstCall: string | null; keys: { key: string; startKey: string } } | null = null;

  constructor(sha256: Sha256) {
    this.#sha256 = sha256;
  }

  add({ role, text, calls, results }: WireMessage): void {
    const hasSpoken = role === "assistant" && (text !== null || calls.length > 0);
    if (!hasSpoken && results.length === 0) return;
    const made = calls.map(({ id, tool, input }) => id ?? [tool, inputText({ input })]);
    const given = results.map(({ id, tool }) => id ?? [tool]);
    this.#last = this.#sha256(JSON.stringify([this.#last, made, given])).slice(0, 32);
    this.#points.add(bitsOf(this.#last));
    if (calls.length > 0) this.#firstCall ??= this.#last;
  }

  /** The point at which the conversation is now; empty before its first turn. */
  get last(): string {
    return this.#last;
  }

  /** Returns true if the conversation has come through this point. */
  passed(point: string): boolean {
    return point === "" || this.#points.has(bitsOf(point));
  }

  /**
   * What a conversation is kept under: its name and its first call, which most providers give an id of its own; and what it
   * was kept under before it had a call.
   */
  keysOf(of: ConversationName): { key: string; startKey: string } {
    const { scope, session, firstText } = of;
    const known = this.#keys;
    const isSameCall = known !== null && known.firstCall === this.#firstCall;
    if (isSameCall && known.of.scope === scope && known.of.session === session && known.of.firstText === firstText)
      return known.keys;
    const name = [scope, session, firstText?.toWellFormed() ?? null];
    const keyWith = (call: string | null) => this.#sha256(JSON.stringify([...name, call])).slice(0, 32);
    const keys = { key: keyWith(this.#firstCall), startKey: keyWith(null) };
    this.#keys = { of, firstCall: this.#firstCall, keys };
    return keys;
  }
}

function bitsOf(point: string): number {
  return Number.parseInt(point.slice(0, 13), 16);
}
