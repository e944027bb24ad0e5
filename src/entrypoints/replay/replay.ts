import type { TokenCounter } from "../../contract/token-counter.ts";
import { type Played, play, type Score } from "./play.ts";
import type { MakeSpillway, ReplayPolicy } from "./policies/policy.ts";
import type { Prices } from "./prices.ts";
import type { Recorded } from "./recorded.ts";
import { Renderer } from "./render.ts";
import { findNeedles } from "./sources.ts";
import { type Totals, totalsOf } from "./totals.ts";
import { turnsOf } from "./turns.ts";

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
  /** Our estimate of the messages of the same requests, with nothing changed. */
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
    replayed.push({ name, wire: wire.name, messages: messages.length, leftOut, counted: countedOf(score), played });
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

function countedOf({ turns, rendered }: Score): Counted {
  let [messages, at] = [0, 0];
  const counted: Counted = { requests: 0, tokens: 0, estimated: 0, beside: 0 };
  for (const { end, countedTokens } of turns) {
    for (; at < end; at++) messages += rendered[at]?.tokens ?? 0;
    if (countedTokens === null) continue;
    if (counted.requests === 0) counted.beside = Math.max(0, countedTokens - messages);
    counted.requests++;
    counted.tokens += countedTokens;
    counted.estimated += messages;
  }
  return counted;
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

function scoreOf(recorded: Recorded, { counter, windowTokens, prices, makeSpillway }: ReplayOptions): Score {
  const { cacheTtlMs } = prices;
  const renderer = new Renderer(recorded.wire, counter);
  const rendered = recorded.messages.map((message) => renderer.render(message));
  const turns = turnsOf(recorded.messages, rendered).filter(({ end }) => end >= (recorded.carried ?? 0));
  const needles = findNeedles(rendered, turns);
  return { recorded, renderer, rendered, windowTokens, cacheTtlMs, makeSpillway, turns, needles };
}
