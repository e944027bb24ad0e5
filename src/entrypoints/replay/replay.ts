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
  played: Played[];
}

/** What came of it. */
export interface Replayed {
  windowTokens: number;
  prices: Prices;
  policies: Pick<ReplayPolicy, "name" | "rule" | "source">[];
  totals: Totals[];
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
    replayed.push({ name: recorded.name, wire: recorded.wire.name, messages: recorded.messages.length, played });
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
    conversations: replayed,
  };
}

function scoreOf(recorded: Recorded, { counter, windowTokens, prices, makeSpillway }: ReplayOptions): Score {
  const { cacheTtlMs } = prices;
  const renderer = new Renderer(recorded.wire, counter);
  const rendered = recorded.messages.map((message) => renderer.render(message));
  const turns = turnsOf(recorded.messages, rendered);
  const needles = findNeedles(rendered, turns);
  return { recorded, renderer, rendered, windowTokens, cacheTtlMs, makeSpillway, turns, needles };
}
