import type { TokenCounter } from "../contract/token-counter.ts";
import type { Wire, WireMessage } from "../contract/wire.ts";
import type { PlannedMessage } from "../stages/compact/plan-compact.ts";
import { weighMedia, weighOutside } from "../stages/prune/weight.ts";
import { type PairedResult, pairResults } from "../wire/pair-results.ts";

/** What a message costs beside its texts. */
const MESSAGE_TOKENS = 8;

/** A conversation read and weighed. */
export interface ReadConversation {
  views: WireMessage[];
  pairs: PairedResult[];
  planned: PlannedMessage[];
  tokens: number;
}

/** Reads a conversation. */
export function readConversation(wire: Wire, messages: readonly unknown[], counter: TokenCounter): ReadConversation {
  const views = messages.map((message) => wire.read(message));
  const planned = views.map((view) => ({ role: view.role, tokens: weigh(view, counter) }));
  const tokens = planned.reduce((sum, one) => sum + one.tokens, 0);
  return { views, pairs: pairResults(views), planned, tokens };
}

function weigh(view: WireMessage, counter: TokenCounter): number {
  const results = view.results.reduce(
    (sum, { texts, media }) => sum + counter.count(texts.join("\n")) + weighMedia(media).tokens,
    0,
  );
  return weighOutside(view, counter).tokens + results + MESSAGE_TOKENS;
}

/** Results whose call is not there. */
export function orphans({ pairs }: ReadConversation): number {
  return pairs.filter(({ callMessage }) => callMessage === null).length;
}
