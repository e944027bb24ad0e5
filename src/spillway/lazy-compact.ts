import type { Recorder } from "../admit/recorder.ts";
import type { Compactor } from "../contract/compactor.ts";
import { messageOf, SpillwayError } from "../errors.ts";

/** What may be said when a conversation is compacted. */
export interface CompactOptions {
  /** The message format's name; it is found out where it is not said. */
  wire?: string | undefined;
  /** What the messages should take at most; half the policy's window where it is not said. */
  targetTokens?: number | undefined;
  session?: string | undefined;
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

/** Compacts with what was handed in, and tells of it; formats are loaded with the first conversation. */
export function lazyCompact(
  compactor: Compactor | undefined,
  windowTokens: number,
  { recorder, now }: { recorder: Recorder; now(): number },
): Compact {
  const tell = (session: string | undefined, more: Record<string, unknown>) => {
    const about = { session: session ?? null, tool: null, call: null, artifact: null, receipt: null };
    return recorder.event({ kind: "history-compacted", atMs: now(), ...about, more });
  };
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
    const { targetTokens = Math.floor(windowTokens / 2), session, signal } = options;
    const same = async (fault: string) => {
      await tell(session, { fromMessages: messages.length, messages: messages.length, summaryTokens: 0, fault });
      return { messages: [...messages], summaryTokens: 0, fault };
    };
    try {
      const compacted = await compactor.compact({ wire, messages, targetTokens, session, signal });
      if (compacted === null) return same("a summary would not make it shorter");
      const { messages: left, summaryTokens } = compacted;
      await tell(session, { fromMessages: messages.length, messages: left.length, summaryTokens, fault: null });
      return { messages: [...left] as Message[], summaryTokens, fault: null };
    } catch (error) {
      signal?.throwIfAborted();
      return same(messageOf(error));
    }
  };
}
