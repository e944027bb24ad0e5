import type { TokenCounter } from "../../contract/token-counter.ts";
import { type Played, play, type Score } from "./play.ts";
import type { MakeSpillway, ReplayPolicy } from "./policies/policy.ts";
import type { Prices } from "./prices.ts";
import type { Recorded } from "./recorded.ts";
import { type Rendered, Renderer } from "./render.ts";
import { findNeedles } from "./sources.ts";
import { type Totals, totalsOf } from "./totals.ts";
import { type Turn, turnsOf } from "./turns.ts";

/** How conversations are replayed. */
export interface ReplayOptions {
  policies: readonly ReplayPolicy[];
  windowTokens: number;
  prices: Prices;
  counter: TokenCounter;
  makeSpillway: MakeSpillway;
}

/** A conversation under each policy, in the policies' order. */
export interface ReplayedConversation {
  name: string;
  wire: string;
  messages: number;
  /** Requests of the recording that were not played. */
  leftOut: number;
  counted: Counted;
  played: Played[];
}

/** The requests whose tokens the recording says, as their provider counted them. */
export interface Counted {
  requests: number;
  tokens: number;
  /** Our estimate of the messages of the same requests, with nothing changed, by what earlier counts showed. */
  estimated: number;
  /** What was sent besides the messages: the first of these requests was counted higher than its messages by this much. */
  beside: number;
}

/** What came of it. */
export interface Replayed {
  windowTokens: number;
  prices: Prices;
  policies: Pick<ReplayPolicy, "name" | "rule" | "source">[];
  totals: Totals[];
  leftOut: number;
  /** The sums over conversations; `beside` is counted for each request. */
  counted: Counted;
  conversations: ReplayedConversation[];
}

/** Plays recorded conversations request by request under each policy. */
export async function replay(conversations: Iterable<Recorded>, options: ReplayOptions): Promise<Replayed> {
  const { policies, windowTokens, prices } = options;
  const replayed: ReplayedConversation[] = [];
  for (const recorded of conversations) {
    const score = scoreOf(recorded, options);
    const played: Played[] = [];
    for (const policy of policies) played.push(await play(score, policy, prices));
    const { name, wire, messages, leftOut = 0 } = recorded;
    replayed.push({ name, wire: wire.name, messages: messages.length, leftOut, counted: score.counted, played });
  }
  return {
    windowTokens,
    prices,
    policies: policies.map(({ name, rule, source }) => ({ name, rule, source })),
    totals: policies.map(({ name }, at) =>
      totalsOf(
        name,
        replayed.map(({ played }) => played[at] as Played),
      ),
    ),
    leftOut: replayed.reduce((sum, { leftOut }) => sum + leftOut, 0),
    counted: sumOf(replayed.map(({ counted }) => counted)),
    conversations: replayed,
  };
}

/** A share outside of this range is no way of counting: the recording does not have all that was sent. */
const [LEAST_SHARE, MOST_SHARE] = [0.5, 2];

/**
 * Sets the recorded usage beside our estimate. What one of our tokens is worth is learned from the requests before each one, so
 * that no request's own count is part of its estimate. Returns the share that all of them show, too.
 */
function countedOf(turns: readonly Turn[], rendered: readonly Rendered[]): { counted: Counted; share: number } {
  let [messages, at, known, share] = [0, 0, 0, 1];
  const counted: Counted = { requests: 0, tokens: 0, estimated: 0, beside: 0 };
  for (const { end, countedTokens } of turns) {
    for (; at < end; at++) messages += rendered[at]?.tokens ?? 0;
    if (countedTokens === null) continue;
    if (counted.requests === 0) counted.beside = Math.max(0, countedTokens - messages);
    counted.requests++;
    counted.tokens += countedTokens;
    counted.estimated += Math.round(messages * share);
    known += messages;
    const found = (counted.tokens - counted.beside * counted.requests) / known;
    share = found >= LEAST_SHARE && found <= MOST_SHARE ? found : share;
  }
  return { counted, share };
}

function sumOf(all: readonly Counted[]): Counted {
  const sum = (of: (one: Counted) => number) => all.reduce((total, one) => total + of(one), 0);
  return {
    requests: sum(({ requests }) => requests),
    tokens: sum(({ tokens }) => tokens),
    estimated: sum(({ estimated }) => estimated),
    beside: sum(({ beside, requests }) => beside * requests),
  };
}

/** Renders a conversation; if its provider's counts say what our tokens are worth there, once more by that. */
function scoreOf(
  recorded: Recorded,
  { counter, windowTokens, prices, makeSpillway }: ReplayOptions,
): Score & { counted: Counted } {
  const { wire, messages, carried = 0 } = recorded;
  const render = (share: number) => {
    const renderer = new Renderer(wire, counter, share);
    const rendered = messages.map((message) => renderer.render(message));
    const turns = turnsOf(messages, rendered).filter(({ end }) => end >= carried);
    return { renderer, rendered, turns };
  };
  const first = render(1);
  const { counted, share } = countedOf(first.turns, first.rendered);
  const { renderer, rendered, turns } = share === 1 ? first : render(share);
  const needles = findNeedles(rendered, turns);
  const { cacheTtlMs } = prices;
  return { recorded, renderer, rendered, windowTokens, cacheTtlMs, makeSpillway, turns, needles, counted };
}
