import type { WireMessage } from "../contract/wire.ts";
import { type RedactText, type RenderLimits, renderMessage } from "../stages/compact/render-message.ts";
import { NUMBERS } from "../stages/policy/defaults.ts";
import { mostPieces, startSplit } from "../stages/summarize/split-text.ts";
import type { OwnSummaries } from "./own-summaries.ts";
import type { ReadConversation } from "./read-conversation.ts";

const INPUT_SHARE = 0.25;
/** Each time less of every message is read, until the calls are enough. */
const SHARES = [1, 0.4, 0.1, 0.03];

/**
 * The old messages in plain text, in chunks of which each fits a call: results are cut to size before, so that the request
 * that makes a conversation smaller cannot be too large itself. A summary of ours among them stands before all of it.
 */
export function renderChunks(
  { views, pairs }: ReadConversation,
  isOld: (view: WireMessage, at: number) => boolean,
  own: OwnSummaries,
  maxInputChars: number,
  redact: RedactText | undefined,
): { previous: string | null; chunks: string[] } {
  const summaryAt = views.findLastIndex(
    (view, at) => isOld(view, at) && view.role === "user" && view.text !== null && own.find(view.text) !== null,
  );
  const previous = own.find(views[summaryAt]?.text ?? "")?.body ?? null;
  const tools = new Map<number, string[]>();
  for (const { message, tool } of pairs) tools.set(message, [...(tools.get(message) ?? []), tool]);
  const render = (limits: RenderLimits) =>
    views
      .map((view, at) =>
        isOld(view, at) && at !== summaryAt ? renderMessage(view, tools.get(at) ?? [], at, limits, redact) : "",
      )
      .filter((text) => text !== "")
      .join("\n\n");
  for (const share of SHARES) {
    const text = render(limitsAt(share));
    if (mostPieces(text.length, maxInputChars) > NUMBERS.compactCalls.default) continue;
    const split = startSplit(maxInputChars);
    return { previous, chunks: [...split.add(text), ...split.end()] };
  }
  throw new Error(`not compacted: it would take over ${NUMBERS.compactCalls.default} calls`);
}

function limitsAt(share: number): RenderLimits {
  const { compactTextChars, compactResultChars } = NUMBERS;
  const resultChars = Math.ceil(compactResultChars.default * share);
  return {
    textChars: Math.ceil(compactTextChars.default * share),
    resultChars,
    inputChars: Math.ceil(resultChars * INPUT_SHARE),
  };
}
