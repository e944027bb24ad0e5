import type { Compacted, CompactInput, Compactor } from "../contract/compactor.ts";
import type { ModelClient } from "../contract/model-client.ts";
import type { Artifact } from "../contract/store.ts";
import type { TokenCounter } from "../contract/token-counter.ts";
import type { WireMessage } from "../contract/wire.ts";
import { messageOf } from "../errors.ts";
import { type RedactText, shorten } from "../stages/cap/render-message.ts";
import { boundValue } from "../stages/clamp/bound-value.ts";
import type { Access, SavedCopy } from "../stages/mark/access.ts";
import { encodeText } from "../stages/measure/scan.ts";
import { NUMBERS } from "../stages/policy/defaults.ts";
import { type SpillPlace, startSpill } from "../stages/spill/spill.ts";
import { tried } from "../values.ts";
import { compactionText, compactPrompt, hasSections, looksCompacted, withMissing } from "./compact-prompt.ts";
import {
  type CompactPlan,
  findIdentifiers,
  KnownSummaries,
  orphans,
  planCompact,
  type ReadConversation,
  readConversation,
  renderChunks,
} from "./plan-compact.ts";
import { type BookCost, countingClient } from "./spending.ts";
import { checkAnswer, newNonce } from "./summary-prompt.ts";

/** What compacting needs. Nothing is looked up. */
export interface CompactorPorts {
  client: ModelClient;
  place: SpillPlace;
  access: (artifact: Artifact) => Access | Promise<Access>;
  scope: string;
  counter: TokenCounter;
  maxInputChars: number;
  /** Loads what replaces secrets in the text that the model reads. Null leaves secrets in. */
  loadRedact: (() => Promise<RedactText>) | null;
  bookCost: BookCost;
}

/** About how many characters a token of a summary has. */
const CHARS_PER_TOKEN = 3;
/** The tokens of the text around a summary. */
const AROUND_TOKENS = 300;

/**
 * Compacts conversations with a model. Does not change the given messages, and saves those that are removed before it
 * removes them. Rejects if the model fails. Resolves to null if a summary would not help.
 */
export function newCompactor(ports: CompactorPorts): Compactor {
  const summaries = new KnownSummaries();
  return {
    async compact(input) {
      const read = readConversation(input.wire, input.messages, ports.counter);
      if (input.wire.say("") === null) return null;
      const plan = planFor(read, input.targetTokens);
      if (plan === null) return null;
      const maxChars = summaryChars(plan, input.targetTokens);
      if (maxChars === null) return null;
      const { client, spent } = countingClient(ports.client);
      let fault: string | null = null;
      try {
        return await compactBy({ ...ports, client }, summaries, { input, read, plan, maxChars });
      } catch (error) {
        fault = messageOf(error);
        throw error;
      } finally {
        const about = { session: input.session ?? null, tool: null, call: null, model: client.model };
        if (spent.calls > 0) await ports.bookCost({ of: "conversation", ...about, ...spent, fault });
      }
    },
  };
}

function planFor({ pairs, planned }: ReadConversation, targetTokens: number): CompactPlan | null {
  const most = Math.floor(NUMBERS.compactSummaryChars.default / CHARS_PER_TOKEN);
  return planCompact(planned, pairs, {
    targetTokens,
    summaryTokens: Math.min(most, Math.floor(targetTokens / 4)) + AROUND_TOKENS,
    keepTurns: NUMBERS.compactKeepTurns.default,
    keepTokens: NUMBERS.compactKeepTokens.default,
  });
}

/** Returns how long the summary may be, or null if the part that it replaces is hardly longer. */
function summaryChars({ droppedTokens, keptTokens }: CompactPlan, targetTokens: number): number | null {
  const row = NUMBERS.compactSummaryChars;
  const left = Math.max(targetTokens - keptTokens - AROUND_TOKENS, row.floor / CHARS_PER_TOKEN);
  const worth = (droppedTokens - AROUND_TOKENS) / 2;
  const maxChars = Math.floor(Math.min(row.default, left * CHARS_PER_TOKEN, worth * CHARS_PER_TOKEN));
  return maxChars < row.floor ? null : maxChars;
}

/** One conversation that is to be compacted as planned. */
interface Compacting {
  input: CompactInput;
  read: ReadConversation;
  plan: CompactPlan;
  /** The most characters of the summary. */
  maxChars: number;
}

async function compactBy(
  ports: CompactorPorts,
  summaries: KnownSummaries,
  { input, read, plan, maxChars }: Compacting,
): Promise<Compacted | null> {
  const { wire, messages, signal } = input;
  const { head, cut } = plan;
  const { client, counter, maxInputChars } = ports;
  const isOld = (view: WireMessage, at: number) => at >= head && at < cut && view.role !== "system";
  const redact = await ports.loadRedact?.();
  const { previous, chunks } = renderChunks(read, isOld, summaries, maxInputChars, redact);
  const summary = await summarizeChunks(chunks, previous, maxChars, client, signal);
  const dropped = messages.filter((_message, at) => isOld(read.views[at] as WireMessage, at));
  const old = read.views.filter(isOld);
  const savedCopy = await spillMessages(dropped, ports);
  const named = findIdentifiers(old, NUMBERS.compactIdentifiers.default);
  // Many secrets look like ids, so a name that redaction would change is left out.
  const isMissing = (name: string) => !summary.includes(name) && (redact?.(name) ?? name) === name;
  const body = withMissing(summary, named.filter(isMissing));
  const room = input.targetTokens - plan.keptTokens - AROUND_TOKENS - maxChars / CHARS_PER_TOKEN;
  const quoteChars = Math.max(NUMBERS.compactQuoteChars.default, Math.floor(room * CHARS_PER_TOKEN));
  const asked = latestRequest(read.views, cut, summaries);
  const request = asked && shorten(asked, quoteChars);
  const text = compactionText(body, { model: client.model, messages: dropped.length, request, savedCopy });
  const compacted = [
    ...messages.slice(0, cut).filter((_message, at) => !isOld(read.views[at] as WireMessage, at)),
    wire.say(text),
    ...messages.slice(cut),
  ];
  const after = readConversation(wire, compacted, counter);
  // Checks the result: it must be shorter than before, and have no new result without its call.
  if (after.tokens >= read.tokens || orphans(after) > orphans(read)) return null;
  summaries.remember(text, { body, request });
  return { messages: compacted, summaryTokens: counter.count(text) };
}

/** Returns the user's latest request if it is not among the messages that stay. */
function latestRequest(views: readonly WireMessage[], cut: number, summaries: KnownSummaries): string | null {
  const isAsked = ({ role, text }: WireMessage) => role === "user" && text !== null;
  if (views.slice(cut).some(isAsked)) return null;
  const asked = views.slice(0, cut).findLast(isAsked);
  if (asked === undefined || asked.text === null) return null;
  const known = summaries.find(asked.text);
  if (known !== null) return known.request;
  // A summary of an earlier process holds the request in its text already.
  if (looksCompacted(asked.text)) return null;
  return [asked.text, ...(asked.moreTexts ?? [])].join("\n");
}

/** The tool name under which messages are saved. */
const TOOL = "conversation";

/** Saves messages as one artifact, with one line of JSON for each, unchanged. */
async function spillMessages(
  messages: readonly unknown[],
  { place, access, scope }: CompactorPorts,
): Promise<Omit<SavedCopy, "redactions">> {
  const spill = startSpill(place, { scope, session: null, tool: TOOL, call: null });
  for (const message of messages) for (const bytes of encodeText(`${jsonOf(message)}\n`)) await spill.add(bytes);
  const { artifact } = await spill.end();
  if (artifact === null) return { saved: "no", savedBytes: 0, id: null, access: { by: "operator" } };
  const { id, saved, bytes } = artifact;
  return { id, saved, savedBytes: bytes, access: await access(artifact) };
}

function jsonOf(message: unknown): string {
  const json = tried(() => JSON.stringify(message) ?? "null");
  return json ?? JSON.stringify(boundValue(message, Number.POSITIVE_INFINITY).value) ?? "null";
}

/** Models count badly, so they are asked for less than what is accepted. */
const ASKED_SHARE = 0.8;
const ANSWER_CHARS_PER_TOKEN = 2;

/** Summarises chunks one after another, each with the summary of those before. Throws if there is no summary. */
async function summarizeChunks(
  chunks: readonly string[],
  previous: string | null,
  maxChars: number,
  client: ModelClient,
  signal: AbortSignal | undefined,
): Promise<string> {
  const most = Math.min(maxChars, client.maxAnswerTokens * ANSWER_CHARS_PER_TOKEN);
  let summary = previous;
  for (const text of chunks) {
    const nonce = newNonce();
    const prompt = compactPrompt({ text, previous: summary }, Math.floor(most * ASKED_SHARE), nonce);
    const answer = await client.ask({ ...prompt, signal });
    const checked = checkAnswer(answer, { belowChars: most + 1, nonce });
    const why = checked.why ?? (hasSections(checked.text) ? null : "the answer is no summary of a conversation");
    if (why !== null) throw new Error(`not compacted: ${why}`);
    summary = checked.text;
  }
  if (summary === null) throw new Error("not compacted: there was nothing to summarise");
  return summary;
}
