import type { TokenCounter } from "../contract/token-counter.ts";
import type { Wire, WireMessage, WireRole } from "../contract/wire.ts";
import { inputText, type RedactText, type RenderLimits, renderMessage } from "../stages/cap/render-message.ts";
import { NUMBERS } from "../stages/policy/defaults.ts";
import { countAll, weighMessage, weightOf } from "../stages/prune/weight.ts";
import { setNewest } from "../values.ts";
import { type PairedResult, pairResults, turnPlaces } from "../wire/pair-results.ts";
import { mostPieces, startSplit } from "./plan-summary.ts";

/** What the plan needs to know of one message. */
export interface PlannedMessage {
  role: WireRole;
  tokens: number;
}

/** What must fit, in tokens. */
export interface CompactRoom {
  /** The most tokens of all messages together after compacting. */
  targetTokens: number;
  /** How many of these tokens the summary may take. */
  summaryTokens: number;
  keepTurns: number;
  keepTokens: number;
}

/** Messages before `head` stay. Those from `head` to before `cut` are summarised. The others stay. */
export interface CompactPlan {
  head: number;
  cut: number;
  droppedTokens: number;
  keptTokens: number;
}

/**
 * Chooses what is summarised. A cut is before an assistant's turn, so that the roles still alternate after the summary,
 * and never between a call and its result. Returns null if there is no such place.
 */
export function planCompact(
  messages: readonly PlannedMessage[],
  pairs: readonly Pick<PairedResult, "message" | "callMessage">[],
  room: CompactRoom,
): CompactPlan | null {
  const head = messages.findIndex(({ role }) => role !== "system" && role !== "other");
  if (head === -1) return null;
  const places = turnPlaces(
    messages.map(({ role }) => role),
    pairs,
  );
  if (places.length === 0) return null;
  const tails = tailTokens(messages);
  const before = messages.slice(0, head).reduce((sum, { tokens }) => sum + tokens, 0);
  const most = room.targetTokens - before - room.summaryTokens;
  const tailAt = (at: number) => tails[at] as number;
  const byTokens = places.find((at) => tailAt(at) <= Math.min(most, room.keepTokens));
  const byTurns = places.at(-room.keepTurns) ?? places[0];
  const fitting = [byTokens, byTurns].filter((at) => at !== undefined && tailAt(at) <= most) as number[];
  // If nothing fits, the newest turn stays all the same.
  const cut = fitting.length === 0 ? (places.at(-1) as number) : Math.min(...fitting);
  const droppedTokens = messages
    .slice(head, cut)
    .reduce((sum, { role, tokens }) => sum + (role === "system" ? 0 : tokens), 0);
  return { head, cut, droppedTokens, keptTokens: before + tailAt(cut) };
}

function tailTokens(messages: readonly PlannedMessage[]): number[] {
  const tails: number[] = [];
  let sum = 0;
  for (let at = messages.length - 1; at >= 0; at--) tails[at] = sum += messages[at]?.tokens ?? 0;
  return tails;
}

/**
 * Matches addresses, paths, ids, hashes, tickets and versions. A summary often gets them wrong, and an agent cannot
 * guess them.
 */
const IDENTIFIER = new RegExp(
  [
    String.raw`https?:\/\/[^\s"'<>()\[\]{}\\]{4,160}`,
    String.raw`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`,
    String.raw`(?:[A-Za-z]:|~|\.{1,2})?(?:[\w.@+-]{0,64}[\/\\])(?:[\w.@+-]{1,64}[\/\\]){0,15}[\w@+-]{1,64}(?:\.\w{1,8}){1,3}\b`,
    String.raw`\b[A-Z][A-Z0-9]{1,9}-\d{1,7}\b`,
    String.raw`\b(?=[0-9a-f]{0,39}\d)(?=[0-9a-f]{0,39}[a-f])[0-9a-f]{7,40}\b`,
    String.raw`\b[A-Za-z]{1,12}_[A-Za-z0-9]{10,64}\b`,
  ].join("|"),
  "g",
);

const MAX_TEXT_CHARS = 20_000;
const MAX_FOUND = 5000;
const TRAILING = /[.,;:!?]+$/;

interface Found {
  score: number;
  last: number;
}

/**
 * Returns the identifiers that matter most in messages. Those that the user or the agent wrote count more than those
 * that a tool printed. If two count the same, the later one comes first.
 */
export function findIdentifiers(views: readonly WireMessage[], max: number): string[] {
  const found = new Map<string, Found>();
  views.forEach((view, at) => {
    const written = view.text === null ? [] : [view.text, ...(view.moreTexts ?? [])];
    const weight = view.role === "user" ? 4 : 2;
    for (const text of written) add(found, text, weight, at);
    for (const call of view.calls) add(found, inputText(call), 3, at);
    for (const { texts } of view.results) for (const text of texts) add(found, text, 1, at);
  });
  return [...found]
    .toSorted(([, one], [, other]) => other.score - one.score || other.last - one.last)
    .slice(0, max)
    .map(([identifier]) => identifier);
}

function add(found: Map<string, Found>, text: string, weight: number, at: number): void {
  const seen = new Set<string>();
  // Reads only both ends of a long text, because later messages rarely refer to the middle of an output.
  const half = MAX_TEXT_CHARS / 2;
  const parts = text.length <= MAX_TEXT_CHARS ? [text] : [text.slice(0, half), text.slice(-half)];
  for (const part of parts) {
    for (const [match] of part.matchAll(IDENTIFIER)) {
      const identifier = match.replace(TRAILING, "");
      if (seen.has(identifier) || (!found.has(identifier) && found.size >= MAX_FOUND)) continue;
      seen.add(identifier);
      const before = found.get(identifier)?.score ?? 0;
      found.set(identifier, { score: before + weight, last: at });
    }
  }
}

const INPUT_SHARE = 0.25;
/** The shares of every message that are read. The next smaller one is tried while too many calls would be needed. */
const SHARES = [1, 0.4, 0.1, 0.03];

/**
 * Returns the old messages in plain text, in chunks that each fit one call. Results are shortened first, so that the
 * request that makes a conversation smaller is not too large itself. If a summary of ours is among the messages, it is
 * returned as `previous`.
 */
export function renderChunks(
  { views, pairs }: ReadConversation,
  isOld: (view: WireMessage, at: number) => boolean,
  summaries: KnownSummaries,
  maxInputChars: number,
  redact: RedactText | undefined,
): { previous: string | null; chunks: string[] } {
  const summaryAt = views.findLastIndex(
    (view, at) => isOld(view, at) && view.role === "user" && view.text !== null && summaries.find(view.text) !== null,
  );
  const previous = summaries.find(views[summaryAt]?.text ?? "")?.body ?? null;
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

/** A conversation that was read, with its tokens counted. */
export interface ReadConversation {
  views: WireMessage[];
  pairs: PairedResult[];
  planned: PlannedMessage[];
  tokens: number;
}

/** Reads a conversation and counts its tokens. */
export function readConversation(wire: Wire, messages: readonly unknown[], counter: TokenCounter): ReadConversation {
  const weighed = messages.map((message) => weighMessage(wire, message, countAll(counter)));
  const views = weighed.map(({ view }) => view);
  const planned = weighed.map((one) => ({ role: one.view.role, tokens: weightOf(one).tokens }));
  const tokens = planned.reduce((sum, one) => sum + one.tokens, 0);
  return { views, pairs: pairResults(views), planned, tokens };
}

/** Returns the number of results whose call is missing. */
export function orphans({ pairs }: ReadConversation): number {
  return pairs.filter(({ callMessage }) => callMessage === null).length;
}

/** A summary that this process wrote. */
interface KnownSummary {
  /** What the model wrote, with the identifiers that were added. */
  body: string;
  /** The user's request that was quoted with it. */
  request: string | null;
}

/** How many summaries are remembered. A conversation has one at a time. */
const MAX_SUMMARIES = 64;

/**
 * Remembers the summaries that this process wrote, by the whole text of their message. A summary that was changed, or
 * that is quoted inside another text, is not found and is read like any other text.
 */
export class KnownSummaries {
  readonly #summaries = new Map<string, KnownSummary>();

  /** `text` is the text of the whole message. */
  remember(text: string, summary: KnownSummary): void {
    setNewest(this.#summaries, text, summary, MAX_SUMMARIES);
  }

  find(text: string): KnownSummary | null {
    return this.#summaries.get(text) ?? null;
  }
}
