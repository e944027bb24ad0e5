import type { Compactor } from "../contract/compactor.ts";
import { messageOf, SpillwayError } from "../errors.ts";

/** What may be said when a conversation is compacted. */
export interface CompactOptions {
  /** The message format's name; it is found out where it is not said. */
  wire?: string | undefined;
  /** What the messages should take at most; half the policy's window where it is not said. */
  targetTokens?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** A conversation after it was compacted, or as it was. */
export interface CompactedConversation<Message> {
  messages: Message[];
  /** What the summary takes; 0 where there is none. */
  summaryTokens: number;
  /** Why there is none: the model failed, or it would not help. */
  fault: string | null;
}

/** Shortens a conversation by a summary. */
export type Compact = <Message>(
  messages: readonly Message[],
  options?: CompactOptions,
) => Promise<CompactedConversation<Message>>;

/** Compacts with what was handed in; formats are loaded with the first conversation. */
export function lazyCompact(compactor: Compactor | undefined, windowTokens: number): Compact {
  return async <Message>(messages: readonly Message[], options: CompactOptions = {}) => {
    if (compactor === undefined) {
      throw new SpillwayError("missing-part", "compact needs a model: createSpillway({ summarizer: ... })");
    }
    const { detectWire, wireNamed } = await import("../wire/index.ts");
    const wire = options.wire === undefined ? detectWire(messages) : wireNamed(options.wire);
    if (wire === null) {
      const what = options.wire === undefined ? "say which with { wire }" : `there is none called "${options.wire}"`;
      throw new SpillwayError("bad-input", `compact does not know the messages' format: ${what}`);
    }
    const { targetTokens = Math.floor(windowTokens / 2), signal } = options;
    const same = (fault: string) => ({ messages: [...messages], summaryTokens: 0, fault });
    try {
      const compacted = await compactor.compact({ wire, messages, targetTokens, signal });
      if (compacted === null) return same("a summary would not make it shorter");
      return { ...compacted, messages: [...compacted.messages] as Message[], fault: null };
    } catch (error) {
      signal?.throwIfAborted();
      return same(messageOf(error));
    }
  };
}
