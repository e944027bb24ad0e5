import type { Compacted, CompactInput, Compactor } from "../contract/compactor.ts";
import type { ModelClient } from "../contract/model-client.ts";
import type { Artifact } from "../contract/store.ts";
import type { TokenCounter } from "../contract/token-counter.ts";
import type { WireMessage } from "../contract/wire.ts";
import { compactionText, looksCompacted, withMissing } from "../stages/compact/compaction-text.ts";
import { findIdentifiers } from "../stages/compact/find-identifiers.ts";
import { type CompactPlan, planCompact } from "../stages/compact/plan-compact.ts";
import { type RedactText, shorten } from "../stages/compact/render-message.ts";
import type { Access } from "../stages/mark/access.ts";
import { NUMBERS } from "../stages/policy/defaults.ts";
import type { SpillPlace } from "../stages/spill/spill.ts";
import { OwnSummaries } from "./own-summaries.ts";
import { orphans, type ReadConversation, readConversation } from "./read-conversation.ts";
import { renderChunks } from "./render-chunks.ts";
import { spillMessages } from "./spill-messages.ts";
import { summarizeChunks } from "./summarize-chunks.ts";

/** What compacting works with; nothing is looked up. */
export interface CompactorParts {
  client: ModelClient;
  place: SpillPlace;
  access: (artifact: Artifact) => Access | Promise<Access>;
  scope: string;
  counter: TokenCounter;
  maxInputChars: number;
  /** Secrets are replaced in what the model reads; null leaves them. */
  loadRedact: (() => Promise<RedactText>) | null;
}

/** About what a token of a summary has. */
const CHARS_PER_TOKEN = 3;
/** What stands around a summary. */
const AROUND_TOKENS = 300;

/**
 * Compacts conversations by a model. The messages that came are not changed; those that go are saved first. Rejects where
 * the model fails, gives null where a summary would not help.
 */
export function newCompactor(parts: CompactorParts): Compactor {
  const own = new OwnSummaries();
  return {
    async compact(input) {
      const read = readConversation(input.wire, input.messages, parts.counter);
      if (input.wire.say("") === null) return null;
      const plan = planFor(read, input.targetTokens);
      if (plan === null) return null;
      const maxChars = summaryChars(plan, input.targetTokens);
      return maxChars === null ? null : compactBy(parts, own, input, read, plan, maxChars);
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

/** How long the summary may be; null if the part it would stand for is hardly longer. */
function summaryChars({ droppedTokens, keptTokens }: CompactPlan, targetTokens: number): number | null {
  const row = NUMBERS.compactSummaryChars;
  const left = Math.max(targetTokens - keptTokens - AROUND_TOKENS, row.floor / CHARS_PER_TOKEN);
  const worth = (droppedTokens - AROUND_TOKENS) / 2;
  const maxChars = Math.floor(Math.min(row.default, left * CHARS_PER_TOKEN, worth * CHARS_PER_TOKEN));
  return maxChars < row.floor ? null : maxChars;
}

async function compactBy(
  parts: CompactorParts,
  own: OwnSummaries,
  { wire, messages, signal }: CompactInput,
  read: ReadConversation,
  { head, cut }: CompactPlan,
  maxChars: number,
): Promise<Compacted | null> {
  const { client, counter, maxInputChars } = parts;
  const isOld = (view: WireMessage, at: number) => at >= head && at < cut && view.role !== "system";
  const redact = await parts.loadRedact?.();
  const { previous, chunks } = renderChunks(read, isOld, own, maxInputChars, redact);
  const summary = await summarizeChunks(chunks, previous, maxChars, client, signal);
  const dropped = messages.filter((_message, at) => isOld(read.views[at] as WireMessage, at));
  const old = read.views.filter(isOld);
  const keeping = await spillMessages(dropped, parts);
  const named = findIdentifiers(old, NUMBERS.compactIdentifiers.default);
  // Many secrets look like ids.
  const isMissing = (name: string) => !summary.includes(name) && (redact?.(name) ?? name) === name;
  const body = withMissing(summary, named.filter(isMissing));
  const request = latestRequest(read.views, cut, own);
  const text = compactionText(body, { model: client.model, messages: dropped.length, request, keeping });
  const compacted = [
    ...messages.slice(0, cut).filter((_message, at) => !isOld(read.views[at] as WireMessage, at)),
    wire.say(text),
    ...messages.slice(cut),
  ];
  const after = readConversation(wire, compacted, counter);
  // Verified, not believed: shorter than before, and no result without its call.
  if (after.tokens >= read.tokens || orphans(after) > orphans(read)) return null;
  own.remember(text, { body, request });
  return { messages: compacted, summaryTokens: counter.count(text) };
}

/** What the user asked last, where it is not among what stays. */
function latestRequest(views: readonly WireMessage[], cut: number, own: OwnSummaries): string | null {
  const isAsked = ({ role, text }: WireMessage) => role === "user" && text !== null;
  if (views.slice(cut).some(isAsked)) return null;
  const asked = views.slice(0, cut).findLast(isAsked);
  if (asked === undefined || asked.text === null) return null;
  const known = own.find(asked.text);
  if (known !== null) return known.request;
  // One of an earlier process: what it stands for is in its text.
  if (looksCompacted(asked.text)) return null;
  return shorten([asked.text, ...(asked.moreTexts ?? [])].join("\n"), NUMBERS.compactQuoteChars.default);
}
