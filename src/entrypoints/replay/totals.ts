import { grouped } from "../../values.ts";
import type { Played } from "./play.ts";

/** A policy's figures over any number of conversations. */
export interface Totals {
  policy: string;
  conversations: number;
  /** The conversations in which results were changed. */
  fired: number;
  requests: number;
  tokens: number;
  cacheRead: number;
  cacheWrite: number;
  uncached: number;
  cost: number;
  /** Requests over the window. */
  overflows: number;
  /** Answers that say something which only cleared or trimmed results said before. */
  misses: number;
  /** The lines and identifiers that these answers say. */
  missedTexts: number;
  recallTokens: number;
  recallCost: number;
  /**
   * Share of a request's bytes with which the next one begins too: on average over the requests of a conversation, then over
   * conversations. Null without any.
   */
  unchangedShare: number | null;
  /** The same over those in which results were changed. */
  unchangedShareFired: number | null;
}

/** Adds up what a policy gave. */
export function totalsOf(policy: string, played: readonly Played[]): Totals {
  const requests = played.flatMap((one) => one.requests);
  const sum = (of: (request: (typeof requests)[number]) => number) =>
    requests.reduce((total, one) => total + of(one), 0);
  const fired = played.filter((one) => one.fired);
  return {
    policy,
    conversations: played.length,
    fired: fired.length,
    requests: requests.length,
    tokens: sum(({ tokens }) => tokens),
    cacheRead: sum(({ cacheRead }) => cacheRead),
    cacheWrite: sum(({ cacheWrite }) => cacheWrite),
    uncached: sum(({ uncached }) => uncached),
    cost: sum(({ cost }) => cost),
    overflows: sum(({ isOver }) => (isOver ? 1 : 0)),
    misses: sum(({ missed }) => (missed.length > 0 ? 1 : 0)),
    missedTexts: sum(({ missed }) => missed.length),
    recallTokens: sum(({ recallTokens }) => recallTokens),
    recallCost: sum(({ recallCost }) => recallCost),
    unchangedShare: meanOf(played),
    unchangedShareFired: meanOf(fired),
  };
}

/** What the columns of a table of totals are called. */
export const FIGURES = [
  "policy",
  "tokens",
  "saved",
  "net",
  "cache read",
  "cache write",
  "cost",
  "over",
  "missed",
  "unchanged",
];

/** A policy's figures for people, in the order of the columns; `none` is what was sent with nothing changed. */
export function figuresOf(one: Totals, none: Totals): string[] {
  const share = (of: number | null, digits: number) => (of === null ? "-" : `${(of * 100).toFixed(digits)} %`);
  const saved = (tokens: number) => share(none.tokens === 0 ? null : 1 - tokens / none.tokens, 1);
  return [
    one.policy,
    grouped(one.tokens),
    saved(one.tokens),
    saved(one.tokens + one.recallTokens),
    grouped(one.cacheRead),
    grouped(one.cacheWrite),
    `$${one.cost.toFixed(3)}`,
    grouped(one.overflows),
    grouped(one.misses),
    share(one.unchangedShare, 2),
  ];
}

function meanOf(played: readonly Played[]): number | null {
  const shares = played.flatMap((one) => unchangedShareOf(one) ?? []);
  return shares.length === 0 ? null : shares.reduce((sum, share) => sum + share, 0) / shares.length;
}

/** Returns null for a conversation of one request. */
function unchangedShareOf({ requests }: Played): number | null {
  const shares = requests.slice(1).map(({ unchangedBytes, previousBytes }) => unchangedBytes / previousBytes);
  return shares.length === 0 ? null : shares.reduce((sum, share) => sum + share, 0) / shares.length;
}
