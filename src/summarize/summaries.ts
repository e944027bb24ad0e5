import type { Summarize } from "../admit/ports.ts";
import type { Recorder } from "../admit/recorder.ts";
import type { Redaction } from "../admit/redaction.ts";
import type { Compactor } from "../contract/compactor.ts";
import type { ModelClient } from "../contract/model-client.ts";
import type { Artifact } from "../contract/store.ts";
import type { TokenCounter } from "../contract/token-counter.ts";
import type { Breaker } from "../deadline.ts";
import { badInput, messageOf, SpillwayError } from "../errors.ts";
import type { Access } from "../stages/mark/access.ts";
import type { SpillPlace } from "../stages/spill/spill.ts";
import type { BookCost } from "./spending.ts";

/** What summaries are made with. */
export interface SummariesPorts {
  place: SpillPlace;
  access: (artifact: Artifact) => Access | Promise<Access>;
  scope: string;
  counter: TokenCounter;
  breaker: Breaker;
  maxInputChars: number;
  redaction: Redaction | null;
  recorder: Recorder;
  now(): number;
}

/** Summaries of outputs and of conversations. */
export interface Summaries {
  summarize: Summarize;
  compactor: Compactor;
}

/** Makes summaries with one client, so that its caps hold for both. The code is loaded with the first summary. */
export function newSummaries(openModel: () => Promise<ModelClient>, ports: SummariesPorts): Summaries {
  let opened: Promise<Summaries> | undefined;
  const open = () => (opened ??= load(openModel(), ports));
  return {
    summarize: async (ended, kept, about) => (await open()).summarize(ended, kept, about),
    compactor: { compact: async (input) => (await open()).compactor.compact(input) },
  };
}

async function load(opening: Promise<ModelClient>, { redaction, ...ports }: SummariesPorts): Promise<Summaries> {
  const [{ newSummarize }, { newCompactor }, client] = await Promise.all([
    import("./summarize-output.ts"),
    import("./compactor.ts"),
    opening,
  ]);
  const { recorder, now } = ports;
  const bookCost: BookCost = ({ session, tool, call, ...more }) =>
    recorder.event({ kind: "summary-paid", atMs: now(), session, tool, call, artifact: null, receipt: null, more });
  return {
    summarize: newSummarize({ ...ports, client, store: ports.place.store, bookCost }),
    compactor: newCompactor({ ...ports, client, loadRedact: redaction?.loadText ?? null, bookCost }),
  };
}

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
export function newCompact(
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
      throw badInput(`compact does not know the messages' format: ${what}`);
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
